"""The drawings of the page about attention by hand, with what a person has set in them."""

from __future__ import annotations

import math

import plotly.graph_objects as go
import streamlit as st

from playground.lessons import by_hand, teaching
from playground.lessons.questions import Bars, Number
from playground.serving.pictures import as_jpeg
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.drawings import Written, drawing, with_header
from playground.ui.navigation import Setting, Steps, write_address

state = st.session_state

TEMPERATURES = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
PATCHES = (4, 8, 14, 16, 32)
STEPS = {
    "arrows": "1 · Queries and keys",
    "values": "2 · Values",
    "colours": "3 · On a picture",
    "masks": "4 · Masks",
}


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
    "step": Steps.by(STEPS, colours=("patch", "temperature", "hidden", "at"), masks=("mask",)),
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


def one_way() -> bool:
    """Whether A listens to B, and B hardly to A."""
    weights = by_hand.weights(by_hand.read(state.arrows, tokens=18))
    return bool(weights[0, 1] > 0.5 and weights[1, 0] < 0.1)


def values() -> None:
    """What each token receives: its row of weights times the values."""
    weights = by_hand.weights(by_hand.read(state.arrows, tokens=18))
    received = weights @ weights.new_tensor(teaching.VALUES)
    most = max(teaching.VALUES)
    head = "".join(f"| {letter} " for letter in teaching.TOKENS)
    given = "".join(f"| {value} " for value in teaching.VALUES)
    taken = "".join(f"| **{float(number):.1f}** " for number in received)
    st.markdown(f"| token {head}|\n|---{'|---' * 9}|\n| value, given {given}|\n| received {taken}|")
    lesson.exercise(
        f"Make A receive more than {most - 10}. Can it receive more than {most}?",
        f"A has to give nearly all of its weight to I, the token with the value {most}. It can’t receive more than "
        f"{most}: weights are positive and sum to 1, so what is received lies between the smallest and the largest "
        "value.",
        hint="Which token has the largest value? Turn A’s query to where its key points, and make it long.",
        done=float(received[0]) > most - 10,
        id="by_hand_receive",
    )


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
    """Before anything is dragged: what does a longer query do?"""
    import torch

    arrows = by_hand.read(by_hand.start(), tokens=18)
    longer = torch.cat([arrows[:9] * 2, arrows[9:]])
    before, after = (100 * by_hand.weights(a)[0] for a in (arrows, longer))
    at, now = int(before.argmax()), float(before.max())
    guess.number(
        "by_hand_query",
        "A’s query keeps its direction and becomes **twice as long**. Where does its largest weight go: ▢?",
        Number(0, 100, " %"), float(after[at]),
        "Twice the query makes all its scores twice as large, so their *differences* too, and the softmax makes ratios "
        "of differences: each weight’s ratio to another is squared. All together still make 100 %: what it gains, "
        "the other eight lose.",
        picture=Bars(
            tuple(teaching.TOKENS), tuple(before.tolist()), 100, at=at, later=tuple(after.tolist()),
            title="Whom A listens to", unit=" %",
        ),
        tempting=(
            ((now - 2, now + 2), "That is where it was. Only the direction would count if vectors had length one."),
            ((99, 100), "All of it would need scores that are infinitely far apart."),
            ((0, now - 2), "A longer query asks more loudly, not more softly: it makes a row sharper."),
        ),
    )  # fmt: skip


def guess_values() -> None:
    values = teaching.VALUES
    guess.number(
        "by_hand_values",
        f"The nine values are {', '.join(map(str, values))}. If all weights of a token are equal, it receives ▢.",
        Number(min(values), max(values)), sum(values) / len(values),
        "Equal weights are ninths: it receives the plain mean of all values.",
        tempting=(
            ((75, 80), "The largest value is received only by a token that gives it all its weight."),
            ((0, 10), "Weights sum to 1, whatever they are: nobody receives nothing of everything."),
        ),
    )  # fmt: skip


def guess_dark() -> None:
    guess.choice(
        "by_hand_dark", "Point at a bright patch. Why does a *dark* patch of the same colour light up as well?",
        {
            "direction": "a vector of length one has forgotten how bright the colour was",
            "near": "dark and bright patches are neighbours here",
            "softmax": "the softmax makes all weights alike",
        },
        "direction",
        "A vector of length one keeps the direction of a colour: a dark green and a light green have the same one, and "
        "so have grey and white. Pure black, 0, 0, 0, has no direction at all; here it counts as grey. The right "
        "picture shows what is left. A trained model learns which differences count.",
        {
            "near": "Often they are, but places play no part here: the queries and keys are colours alone.",
            "softmax": "A softmax of equal scores does. But these scores differ, and the low temperature spreads them.",
        },
    )  # fmt: skip


def guess_mask() -> None:
    guess.choice(
        "by_hand_mask", "B must not be heard, and each row shall still sum to 1. What is done?",
        {
            "minus": "−∞ is added to B’s scores before the softmax",
            "zero": "B’s scores are set to 0 before the softmax",
            "after": "B’s weights are set to 0 after the softmax",
            "value": "B’s value is set to 0",
        },
        "minus",
        "e^−∞ is exactly 0, so B gets no weight, and the softmax shares out 1 among the others. Do not make the −∞ by "
        "multiplying, (1 − mask)·(−∞): where the mask is 1, 0·(−∞) is not a number. Code fills it in (`masked_fill`).",
        {
            "zero": "A score of 0 is an ordinary score: e⁰ = 1, and B gets a weight.",
            "after": "Then B is not heard, but the row sums to less than 1: what B had is lost, not shared out.",
            "value": "Then nothing arrives from B, yet B still takes its share of the weight from the others.",
        },
    )  # fmt: skip


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
    lesson.exercise(
        "Turn the temperature until the row is nearly even. Why does it become so?",
        "Two vectors of length one have a dot product of at most 1, and no less than 0 here, because no colour has a "
        "negative number. Divided by a temperature of 1, all scores lie between 0 and 1. Then no weight is more than "
        f"e¹ = {math.e:.1f} times another one. A small temperature spreads the scores: it does what a *longer* query "
        "does.",
        hint="To which end? The line below the pictures says to how many patches it listens.",
        done=state.temperature == 1,
        id="by_hand_hot",
    )


def _picture(here: Here, patch: int) -> bytes:
    from playground.pictures.images import displayed

    seen = by_hand.colour_trace(here.picture.image, patch)
    height, width = seen.size
    return by_hand.to_bytes(seen, as_jpeg(displayed(here.picture.image, (2 * height, 2 * width))))


def masks() -> None:
    drawing("masks", "lessons/by_hand.css", {"arrows": state.arrows, "mask": state.mask}, ("mask",))


# Exercises ------------------------------------------------------------------------------------------------------------


def roles() -> None:
    lesson.exercise(
        "Make A listen to everybody equally. How many ways are there?",
        "Infinitely many. Set A’s **query** to 0, 0: all its scores are 0, and softmax makes ninths of them. Or "
        "make all keys the same, whatever A’s query is: *equal* scores are enough, they need not be 0; then all "
        "other rows are even too. Or let the keys differ only at a right angle to A’s query: a step in that "
        "direction changes no score of A.",
        hint="Which scores make all nine powers of e equal? They need not be 0.",
        done=even(),
        id="by_hand_even",
    )
    lesson.exercise(
        "Press *Queries = keys*: now one vector has both roles. What do you see in the scores?",
        "They are symmetric: A’s score with B is B’s score with A, and among vectors of one length each token "
        "scores highest with itself. With one role a token can only look for its like. With **two** matrices, W_Q "
        "and W_K, it can look for something else than it is; with a third, W_V, it gives something else than it is "
        "found by.",
        hint="Turn the tab above the matrix from weights to scores. Compare row A, column B with row B, column A.",
        done=one_role(),
        id="by_hand_one_role",
    )
    lesson.exercise(
        "Make A give B more than half of its weight, while B gives A less than a tenth. Is that possible?",
        "Yes. The score of A with B comes from A’s query and B’s key, that of B with A from B’s query and A’s key: "
        f"four different arrows. At the start, A gives B {given('A', 'B')}, and B gives A {given('B', 'A')}: the "
        "matrix is not symmetric.",
        hint="Choose A, and turn its query to where B’s key points. Make it longer, too.",
        done=one_way(),
        id="by_hand_one_way",
    )
