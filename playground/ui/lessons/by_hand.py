"""The drawings of the page about attention by hand, with what a person has set in them."""

from __future__ import annotations

import streamlit as st

from playground.lessons import by_hand, teaching
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


def causal() -> bool:
    return state.mask == "causal"


def guess_shared() -> bool:
    """Before anything is dragged: what does a longer query do?"""

    def truth() -> guess.Truth:
        import torch

        arrows = by_hand.read(by_hand.start(), tokens=18)
        longer = torch.cat([arrows[:9] * 2, arrows[9:]])
        before, after = (float(by_hand.weights(a)[0].max()) for a in (arrows, longer))
        return guess.Truth(
            "sharper", f" With twice the length, A’s largest weight goes from {before:.0%} to {after:.0%}."
        )

    return guess.choice(
        "by_hand_query", "A’s query keeps its direction and becomes twice as long. What happens to A’s row of weights?",
        {"same": "nothing: only the direction counts", "sharper": "it becomes sharper", "even": "it becomes more even"},
        truth,
    )  # fmt: skip


def guess_values() -> bool:
    values = teaching.VALUES
    return guess.number(
        "by_hand_values",
        f"The nine values are {', '.join(map(str, values))}. All weights of a token are equal. What does it receive?",
        min(values), max(values), "",
        lambda: guess.Truth(
            sum(values) / len(values), " Equal weights are ninths: it receives the plain mean of all values."
        ),
    )  # fmt: skip


def nine_tokens(still: bool = False) -> None:
    """`still`: to be looked at, until a guess was made of what a dragged arrow does."""
    data = {"arrows": state.arrows, "start": SETTINGS["arrows"].default, "still": still}
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
        "Two vectors of length one have a dot product of at most 1. Divided by a temperature of 1, all scores lie "
        "between −1 and 1. Then no weight is more than e² = 7.4 times another one. A small temperature spreads the "
        "scores: it does what a *longer* query does.",
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
