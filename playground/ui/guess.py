"""Guess, lock, reveal: a question before its answer, which a page shows only once it was guessed or asked to be shown.

What was guessed is kept in the person's own browser, which brings it back after a reload. Who has guessed a question
about one picture sees the results of the next one at once, and may guess again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

import streamlit as st

from playground.ui.components import component, words

state = st.session_state
MOST = 60  # guesses that a session keeps; of older ones only their browser knows
IDS = (  # of all questions: the overview counts them
    "by_hand_query", "by_hand_values", "patches_tokens", "patches_shuffle", "shapes_scores", "block_weights",
    "block_push", "scale_spread", "heads_row", "heads_sum", "weight_differs", "cost_ratio", "two_ways_shift",
    "training_when", "training_told", "code_fused",
)  # fmt: skip


@dataclass(frozen=True)
class Truth:
    """The answer, in the form of the guess, and a sentence about it."""

    value: object
    says: str


def number(
    id: str, question: str, low: float, high: float, unit: str, truth: Callable[[], Truth], *,
    step: float = 1, context: Hashable = "",
) -> bool:  # fmt: skip
    """Whether the answer may be seen. `truth` is asked for once, after the guess was locked. Another `context`, such as
    another picture, makes it a new question."""
    ask = {"kind": "number", "low": low, "high": high, "step": step, "unit": unit}
    return _ask(id, question, ask, truth, context, lambda said: _number(said, low, high))


def choice(
    id: str, question: str, choices: Mapping[str, str], truth: Callable[[], Truth], *,
    context: Hashable = "", afresh: bool = False,
) -> bool:  # fmt: skip
    """`afresh`: the answer is all that there is to see, so every new context is asked about again."""
    ask = {"kind": "choice", "choices": [list(pair) for pair in choices.items()]}
    return _ask(id, question, ask, truth, context, lambda said: _choice(said, choices), afresh)


def row(
    id: str, question: str, image: str, grid: tuple[int, int], mark: int, truth: Callable[[], Truth], *,
    context: Hashable = "",
) -> bool:  # fmt: skip
    """The guess are patches, painted on a picture; `image` is its data URL, `mark` the patch that is asked about. Every
    new context is asked about again. The truth is long, and asked for at each run instead of being kept."""
    ask = {"kind": "row", "image": image, "grid": list(grid), "mark": mark}
    return _ask(id, question, ask, truth, context, lambda said: _patches(said, grid[0] * grid[1]), True, False)


def _ask(
    id: str, question: str, ask: dict, truth: Callable[[], Truth], context: Hashable, read: Callable,
    afresh: bool = False, short: bool = True,
) -> bool:  # fmt: skip
    if "tour" in state.address:  # its cards speak of the results
        return True
    kept, known, place = state.setdefault("guesses", {}), state.setdefault("guessed", set()), (id, context)
    found, again = kept.get(place, {"locked": None}), state.get("again") == place
    passed = found["locked"] is None and id in known and not (again or afresh)
    again = again or (afresh and id in known)
    more = {"id": id, "question": question, "context": str(context), "passed": passed, "again": again}
    name = f"guess_{id}"

    def on_lock() -> None:
        said = words(state[name].lock)
        guess = "" if said.get("guess") == "" else read(said.get("guess"))
        if said.get("again"):
            state.again = place
        elif guess is not None:
            kept[place] = {"locked": guess} | (_told(truth()) if short else {})
            known.add(id)
            for oldest in list(kept)[:-MOST]:
                del kept[oldest]
        elif said.get("known") or said.get("kept"):
            known.add(id)

    if found["locked"] is not None and not short:
        found = found | _told(truth())
    component("guess", "lessons/guess.js", "lessons/guess.css")(
        key=name, data=more | ask | found, on_lock_change=on_lock
    )
    return passed or found["locked"] is not None


def _told(answer: Truth) -> dict:
    return {"truth": answer.value, "says": answer.says}


def _number(said: object, low: float, high: float) -> float | None:
    return float(said) if isinstance(said, int | float) and low <= said <= high else None


def _choice(said: object, choices: Mapping[str, str]) -> str | None:
    return said if isinstance(said, str) and said in choices else None


def _patches(said: object, most: int) -> list[int] | None:
    if not isinstance(said, list) or not 0 < len(said) <= most:
        return None
    return said if all(isinstance(n, int) and 0 <= n < most for n in said) else None
