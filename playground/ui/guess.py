"""Guess, lock, reveal: a question before its answer. What was guessed is kept in the person's own browser."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

import streamlit as st

from playground.ui.components import component

state = st.session_state
IDS = (  # of all questions: the overview counts them
    "by_hand_query", "patches_tokens", "shapes_scores", "block_weights", "block_push", "scale_spread", "heads_row",
    "heads_sum", "weight_differs", "cost_ratio", "two_ways_shift", "training_when", "code_fused",
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


def choice(id: str, question: str, choices: Mapping[str, str], truth: Callable[[], Truth], *, context: Hashable = ""):
    ask = {"kind": "choice", "choices": [list(pair) for pair in choices.items()]}
    return _ask(id, question, ask, truth, context, lambda said: said if said in choices else None)


def row(
    id: str, question: str, image: str, grid: tuple[int, int], mark: int, truth: Callable[[], Truth], *,
    context: Hashable = "",
) -> bool:  # fmt: skip
    """The guess are patches, painted on a picture; `image` is its data URL, `mark` the patch that is asked about."""
    ask = {"kind": "row", "image": image, "grid": list(grid), "mark": mark}
    return _ask(id, question, ask, truth, context, lambda said: _patches(said, grid[0] * grid[1]))


def _ask(id: str, question: str, ask: dict, truth: Callable[[], Truth], context: Hashable, read: Callable) -> bool:
    kept, place = state.setdefault("guesses", {}), (id, context)
    found = kept.get(place, {"locked": None})
    data = {"id": id, "question": question, "context": str(context)} | ask | found
    name = f"guess_{id}"

    def on_lock() -> None:
        said = (state[name].lock or {}).get("guess")
        guess = "" if said == "" else read(said)
        if guess is not None:
            answer = truth()
            kept[place] = {"locked": guess, "truth": answer.value, "says": answer.says}

    component("guess", "lessons/guess.js", "lessons/guess.css")(key=name, data=data, on_lock_change=on_lock)
    return found["locked"] is not None


def _number(said: object, low: float, high: float) -> float | None:
    return float(said) if isinstance(said, int | float) and low <= said <= high else None


def _patches(said: object, most: int) -> list[int] | None:
    if not isinstance(said, list) or not 0 < len(said) <= most:
        return None
    return said if all(isinstance(n, int) and 0 <= n < most for n in said) else None
