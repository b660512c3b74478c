"""A lesson: what stands in its address, and its steps, each a function that yields parts. It knows no Streamlit and no
HTML; a host plays it, about a subject."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import SimpleNamespace as Settings  # {the name of a setting: its value}, as attributes
from typing import TYPE_CHECKING, Protocol, TypeVar

from playground.lessons.parts import Part
from playground.lessons.settings import Setting, Steps

if TYPE_CHECKING:
    from PIL import Image

    from playground.tracing import Trace

Made = TypeVar("Made")


class Subject(Protocol):
    """What a lesson looks at: a picture in a model."""

    @property
    def about(self) -> str:
        """Another one for another picture or model."""

    @property
    def model(self) -> str:
        """As people call it."""

    @property
    def image(self) -> Image.Image: ...

    def photo(self) -> str:
        """The picture as a data URL, of a size to guess on."""

    def trace(self, scale: float | None = None) -> Trace:
        """Its pass through the model, if given with another scale in every layer; it waits for its turn."""

    def kept(self, what: Hashable, make: Callable[[], Made]) -> Made:
        """What was made of it before, by this name, or is made now."""

    def turns(self) -> AbstractContextManager[Callable[[], None]]:
        """A turn to compute, for long work, which gives way to others as often as it calls what it gets."""


@dataclass(frozen=True)
class Step:
    title: str
    parts: Callable[[Subject, Settings], Iterator[Part]]
    question: str  # the id of what it asks
    exercises: tuple[str, ...] = ()  # the ids of those that can be done on the page
    settings: tuple[str, ...] = ()  # that it shows
    # For the folder without a server, which has no Python: groups of settings whose values are played ahead, each with
    # each of its group; None: all that the setting has. What the app has beyond them is a sentence.
    ahead: tuple[Mapping[str, Iterable | None], ...] = ()
    beyond: str = ""


@dataclass(frozen=True)
class Lesson:
    name: str  # in addresses
    idea: str
    choices: Mapping[str, Setting]
    steps: Mapping[str, Step]

    @property
    def settings(self) -> dict[str, Setting]:
        """All that stands in its address."""
        shown = {name: step.settings for name, step in self.steps.items() if step.settings}
        return {**self.choices, "step": Steps.by(self.steps, **shown)}

    @property
    def titles(self) -> dict[str, str]:
        return {name: step.title for name, step in self.steps.items()}

    def defaults(self, **other: object) -> Settings:
        return Settings(**{name: setting.default for name, setting in self.choices.items()} | other)
