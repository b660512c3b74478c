"""The drawings of the page about attention by hand, with what a person has set in them."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from playground.lessons import by_hand, teaching
from playground.lessons.colours import VALUE
from playground.lessons.settings import Setting, Steps, Written
from playground.lessons.words import by_hand as said
from playground.serving.here import Here
from playground.serving.pictures import as_jpeg
from playground.ui import lesson
from playground.ui.lessons.drawings import drawing, with_header

state = st.session_state

TEMPERATURES = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
EVEN = 0.5  # from this temperature on no weight of a row of colours is more than a few times another one
PATCHES = (4, 8, 14, 16, 32)
_MOST = max(teaching.VALUES)
NEARLY = {"nearly": _MOST - 10, "most": _MOST}  # what a token has to receive to be near the largest value
TEXT = said.TEXT
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


def one_way() -> bool | str:
    """Whether A listens to B, and B hardly to A."""
    weights = by_hand.weights(by_hand.read(state.arrows, tokens=18))
    if weights[0, 1] <= 0.5:
        return False
    return "back" if weights[1, 0] >= 0.1 else True


def values() -> None:
    """What each token receives: its row of weights times the values."""
    weights = by_hand.weights(by_hand.read(state.arrows, tokens=18))
    received = weights @ weights.new_tensor(teaching.VALUES)
    head = "".join(f"| {letter} " for letter in teaching.TOKENS)
    given = "".join(f"| {value} " for value in teaching.VALUES)
    taken = "".join(f"| **{float(number):.1f}** " for number in received)
    st.markdown(f"| token {head}|\n|---{'|---' * 9}|\n| value, given {given}|\n| received {taken}|")
    enough = (received > NEARLY["nearly"]).tolist()
    done = {"by_hand_receive": "other" if any(enough) and not enough[0] else enough[0]}
    lesson.exercises(TEXT.steps["values"], done, **NEARLY)


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
            marker={"size": 20, "color": VALUE},
        )  # fmt: skip
    figure.update_layout(showlegend=False, title={"text": "Tokens as neurons: what each gives, what each receives"})
    figure.update_xaxes(visible=False, range=[-0.25, 1.25])
    figure.update_yaxes(visible=False)
    lesson.chart(figure, "neurons", height=330, name="tokens-as-neurons")
    lesson.say(TEXT.steps["values"].after)


def hide() -> None:
    done = state.mask == "causal" or (bool(state.mask) and "same")
    lesson.exercises(TEXT.steps["masks"], {"by_hand_causal": done})


def nine_tokens() -> None:
    data = {"arrows": state.arrows, "start": SETTINGS["arrows"].default, "still": False}
    drawing("arrows", "lessons/by_hand.css", data, ("arrows",))


@st.fragment
def colours(here: Here) -> None:
    seen = here.kept(("colours", state.patch), lambda: on_colours(here, state.patch))
    settings = ("temperature", "hidden", "at")
    more = {
        "id": f"{here.picture.id}-{state.patch}",
        "temperatures": TEMPERATURES,
        **{name: state[name] for name in settings},
    }
    drawing("friends", "lessons/by_hand.css", with_header(seen, **more), settings)
    st.segmented_control(
        "Patch size", PATCHES, key="patch", required=True, format_func="{0} × {0} pixels".format,
        label_visibility="collapsed",
    )  # fmt: skip
    hot = state.temperature >= EVEN or (state.temperature == TEMPERATURES[-1] and "cold")
    lesson.exercises(TEXT.steps["colours"], {"by_hand_hot": hot})


def on_colours(here: Here, patch: int) -> bytes:
    from playground.pictures.images import displayed

    seen = by_hand.colour_trace(here.picture.image, patch)
    height, width = seen.size
    return by_hand.to_bytes(seen, as_jpeg(displayed(here.picture.image, (2 * height, 2 * width))))


def masks() -> None:
    drawing("masks", "lessons/by_hand.css", {"arrows": state.arrows, "mask": state.mask}, ("mask",))


# Exercises ------------------------------------------------------------------------------------------------------------


def roles() -> None:
    done = {"by_hand_even": even(), "by_hand_one_role": one_role(), "by_hand_one_way": one_way()}
    lesson.exercises(TEXT.steps["arrows"], done, **at_first())


def at_first() -> dict[str, float]:
    weights = by_hand.weights(by_hand.read(SETTINGS["arrows"].default, tokens=18))
    return {"A_to_B": float(weights[0, 1]), "B_to_A": float(weights[1, 0])}
