"""A lesson: what stands in its address, and its steps, each a function that yields parts. It knows no Streamlit and no
HTML; a host plays it, about a subject."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import SimpleNamespace as Settings  # {the name of a setting: its value}, as attributes
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from playground.lessons.parts import Part, Slider
from playground.pack import upper_layer

if TYPE_CHECKING:
    from PIL import Image

    from playground.tracing import Trace
    from playground.vit import VisionTransformer


# What stands in the address of a lesson's page: choices, each one of its options. Addresses are hostile: what is not
# one of the options is the default.


@dataclass(frozen=True)
class Setting:
    default: object
    options: tuple

    @staticmethod
    def of(default: object, options: Iterable) -> Setting:
        return Setting(default, tuple(options))

    def read(self, text: str | None) -> object:
        return {str(option): option for option in self.options}.get(text, self.default)

    def take(self, value: object) -> object:
        """What a drawing tells, which writes 1 for 1.0; a browser may say anything."""
        return next((option for option in self.options if option == value), self.read(str(value)))

    def found(self, name: str, given: Mapping[str, str]) -> object:
        """What an address says of it."""
        return self.read(given.get(name))


@dataclass(frozen=True)
class Written(Setting):
    """A choice with too many options to list: whatever matches a pattern."""

    options: tuple = ()
    pattern: str = ""

    def read(self, text: str | None) -> object:
        return text if text and re.fullmatch(self.pattern, text, re.ASCII) else self.default


@dataclass(frozen=True)
class Renamed(Setting):
    """A choice with an older name, which old addresses use."""

    former: str = ""

    def found(self, name: str, given: Mapping[str, str]) -> object:
        return self.read(given.get(name, given.get(self.former)))


@dataclass(frozen=True)
class Steps(Setting):
    """Which step of a page is on the screen. An address that names none opens the step to which most of its other words
    belong, as addresses did before the page had steps. It stands last among the settings of its page."""

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @staticmethod
    def by(titles: Iterable[str], **words: tuple[str, ...]) -> Steps:
        """`words` are the names of the settings that a step shows."""
        first, *_ = titles = tuple(titles)
        return Steps(first, titles, words)

    def found(self, name: str, given: Mapping[str, str]) -> object:
        if name in given:
            return self.read(given[name])
        counts = {step: sum(word in given for word in words) for step, words in self.words.items()}
        best = max(counts, key=counts.__getitem__, default=None)
        return best if best and counts[best] else self.default


# Below a step of the folder without a server: where it keeps to its sample; where it follows a visitor's photograph
OWN = "The app shows it on your own picture, and in other models."
MODELS = "A photograph of yours is shown here too, in our small model. The app has other models."
Made = TypeVar("Made")


class Subject(Protocol):
    """What a lesson looks at: a picture in a model. A running server has it (serving/here.py)."""

    @property
    def about(self) -> str:
        """Another one for another picture or model."""

    @property
    def model(self) -> str:
        """As people call it."""

    @property
    def name(self) -> str:
        """Of the picture."""

    @property
    def sample_name(self) -> str | None:
        """Of the picture, if it is one of ours."""

    @property
    def model_name(self) -> str:
        """The name by which the model is asked for."""

    @property
    def shown(self) -> tuple[int, int]:
        """The layer and the head that the microscope shows."""

    @property
    def chosen_head(self) -> tuple[int, int] | None:
        """The same, where somebody chose it there."""

    @property
    def vit(self) -> VisionTransformer: ...

    @property
    def size(self) -> tuple[int, int]:
        """(H, W) in pixels of what the model gets."""

    @property
    def image(self) -> Image.Image: ...

    @property
    def jpeg(self) -> bytes: ...

    def photo(self) -> str:
        """The picture as a data URL, of a size to guess on."""

    def trace(self, scale: float | None = None) -> Trace:
        """Its pass through the model, if given with another scale in every layer; it waits for its turn."""

    def sample(self, name: str) -> Subject:
        """The same model's look at a sample."""

    def words(self) -> dict[str, str]:
        """The picture and the model, as in an address."""

    def other(self, model: str = "", sample: str = "") -> Subject | None:
        """In another model, or of a sample, in the model's usual grid; None where it is not on this machine."""

    def that_names(self) -> Subject:
        """The same picture in a model that names classes: everyday things, where such a model is on this machine."""

    def has(self, what: Hashable) -> bool:
        """Whether it is kept."""

    def kept(self, what: Hashable, make: Callable[[], Made]) -> Made:
        """What was made of it before, by this name, or is made now."""

    def turns(self) -> AbstractContextManager[Callable[[], None]]:
        """A turn to compute, for long work, which gives way to others as often as it calls what it gets."""

    @property
    def passes_in_time(self) -> int:
        """How many passes of this picture are quick enough together."""

    def too_long(self, passes: float) -> str:
        """Why so many passes of this picture can't be had, in a sentence; nothing where they can."""

    def come_to(self, run: str) -> Any:
        """What this person's run of this name has come to so far; None before the first."""

    def at_work(self, run: str) -> bool:
        """Whether it goes on."""


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
    # Whether the step shows a visitor's photograph there: True, but for what is in a Stays; False, it keeps to its
    # sample, and the page says so; None, the step is about no picture
    own: bool | None = False


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


# A layer of the model: at first the upper one, whatever its number is -------------------------------------------------

MOST_LAYERS = 64
UPPER = -1
LAYER = Setting.of(UPPER, range(UPPER, MOST_LAYERS))


def key_of(layer: int, subject: Subject) -> int:
    """What the setting says where this layer is chosen."""
    return UPPER if layer == upper_layer(subject.vit.config.depth) else layer


def choice_of_layer(subject: Subject, setting: str = "layer", label: str = "Layer") -> Slider:
    layers = range(subject.vit.config.depth)
    return Slider(setting, label, {key_of(layer, subject): str(layer) for layer in layers})


def layer_of(key: int, subject: Subject) -> int:
    depth = subject.vit.config.depth
    return key if 0 <= key < depth else upper_layer(depth)
