"""The prose and the exercises of a lesson as data, step by step: a page of Streamlit's and a file show the same.

Each lesson's stand in words/, beside its questions. What an exercise checks is the page's own state: there it is done,
in a file it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Exercise:
    asks: str
    answer: str
    hint: str = ""
    id: str = ""  # of one that the page checks by its state
    tempting: Mapping[str, str] = field(default_factory=dict)  # a state that seems to be right -> why it is not

    def filled(self, **numbers: object) -> Exercise:
        """With what was measured on the picture, for which it has {names}."""
        return replace(self, asks=self.asks.format(**numbers), answer=self.answer.format(**numbers))


@dataclass(frozen=True)
class Step:
    title: str
    question: str  # its id
    prose: str = ""
    settings: tuple[str, ...] = ()  # which of the address's words it shows
    exercises: tuple[Exercise, ...] = ()
    after: str = ""  # prose that is said with the answer, or below it
    said: Mapping[str, str] = field(default_factory=dict)  # what else, beside its drawings


@dataclass(frozen=True)
class Text:
    page: str
    idea: str
    steps: Mapping[str, Step]

    @property
    def titles(self) -> dict[str, str]:
        return {name: step.title for name, step in self.steps.items()}

    @property
    def settings(self) -> dict[str, tuple[str, ...]]:
        return {name: step.settings for name, step in self.steps.items() if step.settings}
