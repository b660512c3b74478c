"""Guess, lock, reveal: a question before its answer. The truth goes to the browser with the question, which compares,
keeps what was guessed and shows what was held back until then; no guess is sent anywhere."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager

import streamlit as st

from playground.lessons.questions import Number, Question, of_choice, plain
from playground.ui.components import component

state = st.session_state
IDS = (  # of all questions: the overview counts them
    "by_hand_query", "by_hand_values", "by_hand_dark", "by_hand_mask", "patches_tokens", "patches_filter",
    "patches_extra", "patches_below", "patches_shuffle", "shapes_scores", "block_weights", "block_push", "block_bend",
    "block_norms", "block_loss", "block_read", "scale_spread", "scale_gradient", "scale_trained", "scale_answer",
    "heads_row",
    "heads_entropy", "heads_far", "heads_off", "heads_sum", "weight_differs", "weight_scores", "weight_locked",
    "weight_explain",
    "cost_ratio", "cost_share", "cost_memory", "cost_measured", "two_ways_far", "two_ways_shift", "two_ways_built",
    "two_ways_cheaper", "training_when", "training_told", "training_twin", "code_column", "code_fused",
    "code_library",
)  # fmt: skip


def ask(question: Question, context: Hashable = "", afresh: bool = False) -> None:
    """Another `context`, such as another picture, makes it a new question: who has guessed it once sees the answer and
    may guess again, or is asked `afresh` where the answer is all that there is to see."""
    assert question.id in IDS, question.id
    if "gathered" in state:
        state.gathered.append(plain(question))
        return
    if _toured():
        return
    more = {"context": str(context), "afresh": afresh}
    component("guess", "lessons/guess.js", "lessons/guess.css")(key=f"guess_{question.id}", data=plain(question) | more)


@contextmanager
def gathered() -> Iterator[list]:
    """What is asked meanwhile is not drawn, but gathered, for a file."""
    state.gathered = found = []
    try:
        yield found
    finally:
        del state["gathered"]


def after(id: str) -> AbstractContextManager:
    """What is drawn in here is seen when the question was guessed; see `held_back`."""
    return st.container() if _toured() else st.container(key=f"after_{id}")


def _toured() -> bool:
    """The cards of the tour speak of the results."""
    return "tour" in state.address


def held_back() -> str:
    """The style that hides what comes after a question, until the browser has a guess (microscope/lessons/guess.js).
    It keeps its width, so that charts have theirs when they are shown."""
    hidden = ", ".join(f'html:not([data-guessed~="{id}"]) .st-key-after_{id}' for id in IDS)
    return (
        f"{hidden} {{ flex: none !important; height: 0 !important; min-height: 0 !important; overflow: hidden; "
        "&, & * { visibility: hidden !important; } }\n"
        "@media (min-width: 861px) and (min-height: 600px) {"  # a question without a picture of its own
        " [data-asks='in sight'] { position: sticky; bottom: 0; z-index: 6; } }\n"
    )


def choice(
    id: str, asks: str, options: dict[str, str], truth: str, says: str, tempting: dict[str, str],
    context: Hashable = "", **more,
) -> None:  # fmt: skip
    ask(of_choice(id, asks, options, truth, says, tempting, **more), context)


def number(
    id: str, asks: str, guess: Number, truth: float, says: str, context: Hashable = "",
    tempting: tuple[tuple[tuple[float, float], str], ...] = (), **more,
) -> None:  # fmt: skip
    ask(Question(id, asks, guess, truth, says, tempting=tempting, **more), context)
