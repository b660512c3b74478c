"""Guess, lock, reveal: a question before its answer. The truth goes to the browser with the question, which compares,
keeps what was guessed and shows what was held back until then; no guess is sent anywhere."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager

import streamlit as st

from playground.lessons.questions import Question, plain
from playground.lessons.registry import QUESTIONS
from playground.ui.components import component


def ask(question: Question, context: Hashable = "", afresh: bool = False) -> None:
    """Another `context`, such as another picture, makes it a new question: who has guessed it once sees the answer and
    may guess again, or is asked `afresh` where the answer is all that there is to see."""
    assert question.id in QUESTIONS, question.id
    more = {"context": str(context), "afresh": afresh}
    component("guess", "lessons/guess.js", "lessons/guess.css")(key=f"guess_{question.id}", data=plain(question) | more)


def after(id: str) -> AbstractContextManager:
    """What is drawn in here is seen when the question was guessed; see `held_back`."""
    return st.container(key=f"after_{id}")


def held_back() -> str:
    """The style that hides what comes after a question, until the browser has a guess (microscope/lessons/guess.js).
    It keeps its width, so that charts have theirs when they are shown."""
    hidden = ", ".join(f'html:not([data-guessed~="{id}"]) .st-key-after_{id}' for id in QUESTIONS)
    return (
        f"{hidden} {{ flex: none !important; height: 0 !important; min-height: 0 !important; overflow: hidden; "
        "&, & * { visibility: hidden !important; } }\n"
    )
