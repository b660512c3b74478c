"""The drawings of the page about attention by hand, with what a person has set in them."""

from __future__ import annotations

import streamlit as st

from playground.lessons import by_hand, teaching
from playground.pack import pack, unpack
from playground.serving.pictures import as_jpeg
from playground.serving.session import Session
from playground.ui import guess
from playground.ui.lessons.drawings import Written, drawing, kept
from playground.ui.navigation import Setting, write_address

state = st.session_state

TEMPERATURES = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
PATCHES = (4, 8, 14, 16, 32)


class Arrows(Written):
    def read(self, text: str | None) -> object:
        return text if text and by_hand.read(text, tokens=18) is not None else self.default


SETTINGS = {
    "arrows": Arrows(by_hand.start()),
    "patch": Setting.of(8, PATCHES),
    "temperature": Setting.of(0.002, TEMPERATURES),
    "hidden": Written("", pattern=r"[A-Za-z0-9_-]{1,600}"),
    "at": Written("", pattern=r"\d{1,2},\d{1,2}"),
    "mask": Written("", pattern=r"causal|(?!ABCDEFGHI)A?B?C?D?E?F?G?H?I?"),
}


def given(asks: str, asked: str) -> str:
    """The weight that one of the nine tokens gives to another with the arrows of the start, in per cent."""
    weights = by_hand.weights(by_hand.read(by_hand.start(), tokens=18))
    return f"{weights['ABCDEFGHI'.index(asks), 'ABCDEFGHI'.index(asked)]:.0%}".replace("%", " %")


def even(token: int = 0) -> bool:
    """Whether this token's row is even, with the arrows as they are."""
    arrows = by_hand.read(state.arrows, tokens=18)
    row = by_hand.weights(arrows)[token]
    return bool((row - 1 / len(row)).abs().max() < 0.005)


def one_role() -> bool:
    """Whether every token's query is its key."""
    q, k = by_hand.read(state.arrows, tokens=18).chunk(2)
    return bool((q == k).all())


def values() -> None:
    """What each token receives: its row of weights times the values."""
    weights = by_hand.weights(by_hand.read(state.arrows, tokens=18))
    received = weights @ weights.new_tensor(teaching.VALUES)
    head = "".join(f"| {letter} " for letter in teaching.TOKENS)
    given = "".join(f"| {value} " for value in teaching.VALUES)
    taken = "".join(f"| **{float(number):.1f}** " for number in received)
    st.markdown(f"| token {head}|\n|---{'|---' * 9}|\n| value, given {given}|\n| received {taken}|")


def causal() -> bool:
    return state.mask == "causal"


def guess_shared() -> None:
    """Before anything is dragged: what does a longer query do?"""

    def truth() -> guess.Truth:
        import torch

        arrows = by_hand.read(by_hand.start(), tokens=18)
        longer = torch.cat([arrows[:9] * 2, arrows[9:]])
        before, after = (float(by_hand.weights(a)[0].max()) for a in (arrows, longer))
        return guess.Truth(
            "sharper", f" With twice the length, A’s largest weight goes from {before:.0%} to {after:.0%}."
        )

    guess.choice(
        "by_hand_query", "A’s query keeps its direction and becomes twice as long. What happens to A’s row of weights?",
        {"same": "nothing: only the direction counts", "sharper": "it becomes sharper", "even": "it becomes more even"},
        truth,
    )  # fmt: skip


def nine_tokens() -> None:
    drawing("arrows", "lessons/by_hand.css", {"arrows": state.arrows, "start": SETTINGS["arrows"].default}, ("arrows",))


@st.fragment
def colours(here: Session) -> None:
    st.segmented_control("Patch size in pixels", PATCHES, key="patch", required=True)
    write_address()
    seen = kept(here, ("colours", state.patch), lambda: _picture(here, state.patch))
    header, arrays = unpack(seen)
    header |= {name: state[name] for name in ("temperature", "hidden", "at")}
    header |= {"id": f"{here.picture.id}-{state.patch}", "temperatures": TEMPERATURES}
    drawing("friends", "lessons/by_hand.css", pack(header, arrays), ("temperature", "hidden", "at"))


def _picture(here: Session, patch: int) -> bytes:
    from playground.images import displayed

    seen = by_hand.colour_trace(here.picture.image, patch)
    height, width = seen.size
    return by_hand.to_bytes(seen, as_jpeg(displayed(here.picture.image, (2 * height, 2 * width))))


def masks() -> None:
    drawing("masks", "lessons/by_hand.css", {"arrows": state.arrows, "mask": state.mask}, ("mask",))
