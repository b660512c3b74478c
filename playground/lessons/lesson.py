"""Defines a lesson, which has settings in its address, and steps. A step is a function that yields parts about a
subject. Nothing here depends on HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import SimpleNamespace as Settings  # each setting's value is an attribute
from typing import TYPE_CHECKING, Protocol, TypeVar

from playground.lessons.parts import Part

if TYPE_CHECKING:
    from PIL import Image

    from playground.tracing import Trace
    from playground.vit import VisionTransformer


# The settings in the address of a lesson's page. An address may contain anything: a value that is no option becomes
# the default.


@dataclass(frozen=True)
class Setting:
    """If Python computes what the setting changes, `played` has the values that the folder without a server offers,
    because it has no Python. If the browser computes it, `played` is empty."""

    default: object
    options: Collection
    played: Collection = ()

    @staticmethod
    def in_python(default: object, options: Collection) -> Setting:
        """A setting with so few options that the folder offers them all."""
        return Setting(default, options, options)

    def read(self, text: str | None) -> object:
        return {str(option): option for option in self.options}.get(text or "", self.default)


@dataclass(frozen=True)
class TextSetting(Setting):
    """A setting whose value is any text that matches a pattern."""

    options: Collection = ()
    pattern: str = ""

    def read(self, text: str | None) -> object:
        return text if text and re.fullmatch(self.pattern, text, re.ASCII) else self.default


Result = TypeVar("Result")


class Subject(Protocol):
    """The subject of a lesson: a picture in a model. serving/here.py implements this protocol."""

    identity: str  # identifies the picture and the model
    model: str  # the model's name as people read it
    model_name: str  # in addresses
    name: str  # the picture's name
    sample_name: str | None  # the picture's name if it is one of our samples
    shown_head: tuple[int, int]  # the layer and head on view in the microscope
    chosen_head: tuple[int, int] | None  # the same, if the reader chose one
    vit: VisionTransformer
    size: tuple[int, int]  # (H, W) of the model's input, in pixels
    image: Image.Image
    jpeg: bytes
    passes_in_time: int  # how many passes of this picture can be computed while a reader waits

    def photo(self) -> str:
        """The picture as a data URL, in the size that questions show."""

    def trace(self, scale: float | None = None) -> Trace:
        """The picture's pass through the model. `scale` replaces the scale of every layer. Waits for a turn in the
        queue."""

    def words(self) -> dict[str, str]:
        """The picture and the model as parameters of an address."""

    def with_other(self, model: str = "", sample: str = "") -> Subject | None:
        """The subject with another model or another sample, in the model's usual grid; None if it is not on this
        machine."""

    def with_naming_model(self) -> Subject:
        """The same picture in a model with a classifier; if possible, in a model that names everyday things."""

    def cached(self, what: Hashable, make: Callable[[], Result]) -> Result:
        """The result stored under `what`; `make` computes it the first time."""

    def turns(self) -> AbstractContextManager[Callable[[], None]]:
        """A turn in the queue. Long work calls the yielded function often: each call lets others go first."""

    def why_too_long(self, passes: float) -> str:
        """A sentence that says why this number of passes would take too long; "" if it would not."""


def in_turn(subject: Subject, what: Hashable, compute: Callable[[Trace, Callable[[], None]], Result]) -> Result:
    """`compute(trace, give_way)` in a turn of the queue, the first time; then the stored result."""

    def work() -> Result:
        trace = subject.trace()  # waits for a turn of its own
        with subject.turns() as give_way:  # not taken around `cached`, which may wait for another thread
            return compute(trace, give_way)

    return subject.cached(what, work)


@dataclass(frozen=True)
class Step:
    title: str
    parts: Callable[[Subject, Settings], Iterator[Part]]
    question: str  # id of the step's question
    exercises: tuple[str, ...] = ()  # ids of the exercises that are done on the page
    settings: tuple[str, ...] = ()  # names of the settings that the step shows
    picture: bool = True  # whether it is about the picture on view


@dataclass(frozen=True)
class Lesson:
    name: str  # in addresses
    idea: str
    choices: Mapping[str, Setting]
    steps: Mapping[str, Step]
    outcomes: Mapping[str, str]  # id of the question that checks it -> what a student can do after the lesson

    def defaults(self, **other: object) -> Settings:
        return Settings(**{name: setting.default for name, setting in self.choices.items()} | other)
