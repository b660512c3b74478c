"""The drawings of the page about attention by hand, with what a person has set in them."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from playground.lessons import by_hand, teaching
from playground.lessons.words import by_hand as said
from playground.serving.pictures import as_jpeg
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.drawings import Written, drawing, with_header
from playground.ui.navigation import Setting, Steps, write_address

state = st.session_state

TEMPERATURES = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
PATCHES = (4, 8, 14, 16, 32)
TEXT = said.text()
STEPS = TEXT.titles


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
    "step": Steps.by(STEPS, **TEXT.settings),
}


def even(token: int = 0) -> bool:
    """Whether this token's row is even, with the arrows as they are."""
    arrows = by_hand.read(state.arrows, tokens=18)
    row = by_hand.weights(arrows)[token]
    return bool((row - 1 / len(row)).abs().max() < 0.005)


def one_role() -> bool:
    """Whether every token's query is its key."""
    q, k = by_hand.read(state.arrows, tokens=18).chunk(2)
    return bool((q == k).all())


def one_way() -> bool:
    """Whether A listens to B, and B hardly to A."""
    weights = by_hand.weights(by_hand.read(state.arrows, tokens=18))
    return bool(weights[0, 1] > 0.5 and weights[1, 0] < 0.1)


def values() -> None:
    """What each token receives: its row of weights times the values."""
    weights = by_hand.weights(by_hand.read(state.arrows, tokens=18))
    received = weights @ weights.new_tensor(teaching.VALUES)
    head = "".join(f"| {letter} " for letter in teaching.TOKENS)
    given = "".join(f"| {value} " for value in teaching.VALUES)
    taken = "".join(f"| **{float(number):.1f}** " for number in received)
    st.markdown(f"| token {head}|\n|---{'|---' * 9}|\n| value, given {given}|\n| received {taken}|")
    lesson.exercises(TEXT.steps["values"], {"by_hand_receive": float(received[0]) > max(teaching.VALUES) - 10})


def as_neurons() -> None:
    """The same mixture as a layer of a network: nine tokens in, nine out, a line for each weight."""
    weights = by_hand.weights(by_hand.read(state.arrows, tokens=18))
    received = weights @ weights.new_tensor(teaching.VALUES)
    figure = go.Figure()
    for asks, row in enumerate(weights.tolist()):
        for asked, weight in enumerate(row):
            figure.add_scatter(
                x=[0, 1], y=[-asked, -asks], mode="lines", hoverinfo="skip",
                line={"color": f"rgba(182,54,121,{min(1.0, 0.04 + 1.6 * weight):.3f})", "width": 0.5 + 8 * weight},
            )  # fmt: skip
    for x, side, numbers in ((0, "middle left", teaching.VALUES), (1, "middle right", received.tolist())):
        figure.add_scatter(
            x=[x] * 9, y=[-n for n in range(9)], mode="markers+text", textposition=side, hoverinfo="skip",
            text=[f"{letter}  {number:.3g}" for letter, number in zip(teaching.TOKENS, numbers, strict=True)],
            marker={"size": 20, "color": lesson.VALUE},
        )  # fmt: skip
    figure.update_layout(showlegend=False, title={"text": "Tokens as neurons: what each gives, what each receives"})
    figure.update_xaxes(visible=False, range=[-0.25, 1.25])
    figure.update_yaxes(visible=False)
    lesson.chart(figure, "neurons", height=330, name="tokens-as-neurons")
    st.markdown(
        "It looks like a layer of **neurons**, with two differences. A neuron holds one number, a token a whole vector:"
        " here one number stands for it. And a network *learns* its 81 lines and keeps them; attention *computes* them "
        "from the tokens, anew for each picture: drag an arrow, and the lines change, with no parameter changed. The "
        "bend that a neuron has comes later, token by token: the MLP."
    )


def causal() -> bool:
    return state.mask == "causal"


def guess_longer() -> None:
    guess.ask(said.longer())


def guess_values() -> None:
    guess.ask(said.mean())


def guess_dark() -> None:
    guess.ask(said.dark())


def guess_mask() -> None:
    guess.ask(said.mask())


def nine_tokens() -> None:
    data = {"arrows": state.arrows, "start": SETTINGS["arrows"].default, "still": False}
    drawing("arrows", "lessons/by_hand.css", data, ("arrows",))


@st.fragment
def colours(here: Here) -> None:
    st.segmented_control("Patch size in pixels", PATCHES, key="patch", required=True)
    write_address()
    seen = here.kept(("colours", state.patch), lambda: _picture(here, state.patch))
    settings = ("temperature", "hidden", "at")
    more = {
        "id": f"{here.picture.id}-{state.patch}",
        "temperatures": TEMPERATURES,
        **{name: state[name] for name in settings},
    }
    drawing("friends", "lessons/by_hand.css", with_header(seen, **more), settings)
    lesson.exercises(TEXT.steps["colours"], {"by_hand_hot": state.temperature == 1})


def _picture(here: Here, patch: int) -> bytes:
    from playground.pictures.images import displayed

    seen = by_hand.colour_trace(here.picture.image, patch)
    height, width = seen.size
    return by_hand.to_bytes(seen, as_jpeg(displayed(here.picture.image, (2 * height, 2 * width))))


def masks() -> None:
    drawing("masks", "lessons/by_hand.css", {"arrows": state.arrows, "mask": state.mask}, ("mask",))


# Exercises ------------------------------------------------------------------------------------------------------------


def roles() -> None:
    lesson.exercises(
        TEXT.steps["arrows"], {"by_hand_even": even(), "by_hand_one_role": one_role(), "by_hand_one_way": one_way()}
    )
