"""A question before its answer, as plain data: what is asked, the picture that it is asked about, how a guess is made
on that picture, the truth, and why wrong answers are tempting.

microscope/lessons/guess.js shows it. The truth comes with the question, so whoever shows it needs no server: a page of
Streamlit's, or a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass

HEIGHT = 380  # pixels of a picture

# How a guess is made -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """Dragged on the picture's axis, or with a slider."""

    low: float
    high: float
    unit: str = ""
    step: float = 1
    log: bool = False


@dataclass(frozen=True)
class Choice:
    options: tuple[tuple[str, str], ...]  # (key, words)

    @staticmethod
    def of(options: Mapping[str, str]) -> Choice:
        return Choice(tuple(options.items()))


@dataclass(frozen=True)
class Painting:
    """Patches of a Photo, whose `heat` is the truth."""


# What it is made on ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bars:
    labels: tuple[str, ...]
    values: tuple[float, ...]
    high: float  # where the axis ends
    at: int | None = None  # the bar that is covered; None: a level is asked for, or nothing
    later: tuple[float, ...] | None = None  # what the bars become with the answer
    level: bool = False  # whether the answer is drawn as a level
    across: bool = False  # bars to the right, for long names
    title: str = ""
    x: str = ""
    unit: str = ""
    said: tuple[str, ...] | None = None  # at the ends of bars, instead of their numbers
    height: int = HEIGHT


@dataclass(frozen=True)
class Series:
    name: str
    y: tuple[float, ...]
    colour: str
    shown: int | None = None  # how many points may be seen before the answer; None: all
    dash: bool = False
    dots: bool = False
    below: bool = False  # its name stands below its end


@dataclass(frozen=True)
class Mark:
    """A place on the axis, shown with the answer."""

    x: float
    words: str


@dataclass(frozen=True)
class Lines:
    x: tuple[float, ...]
    series: tuple[Series, ...]
    low: float
    high: float
    x_title: str
    at: tuple[int, int] | None = None  # (series, point) that is asked for
    title: str = ""
    unit: str = ""
    log_x: bool = False
    log_y: bool = False
    x_ticks: tuple[float, ...] | None = None
    marks: tuple[Mark, ...] = ()
    height: int = HEIGHT


@dataclass(frozen=True)
class Squares:
    """A square, and one that is so many times as large."""

    small: str
    large: str
    title: str = ""
    height: int = HEIGHT


@dataclass(frozen=True)
class Beside:
    """A second picture, where the window has room for two."""

    image: str  # its data URL
    words: str
    aspect: float  # width / height


@dataclass(frozen=True)
class Photo:
    image: str  # its data URL
    grid: tuple[int, int]
    aspect: float  # width / height
    mark: int | None = None  # the patch that is asked about
    heat: tuple[float, ...] | None = None  # a number for each patch, shown with the answer
    paints: bool = False  # whether it is grey already before
    lines: bool = False  # whether the grid is drawn before the answer
    counts: bool = False  # the guess is how many patches there are: one is shown, and the grid comes with the answer
    words: str = ""  # below it
    beside: Beside | None = None
    height: int = HEIGHT


@dataclass(frozen=True)
class Pictures:
    """Side by side, data URLs."""

    covered: tuple[str, ...]
    open: tuple[str, ...]
    captions: tuple[str, ...]
    aspect: float
    height: int = HEIGHT


@dataclass(frozen=True)
class Question:
    id: str
    asks: str  # a blank in it, ▢, shows the number that is guessed
    guess: Number | Choice | Painting
    truth: float | str | None  # None: the picture has it
    says: str  # about the answer; **, * and ` as in Markdown
    picture: Bars | Lines | Squares | Photo | Pictures | None = None
    prose: str = ""  # above the question, beside the picture
    tempting: tuple[tuple[str | tuple[float, float], str], ...] = ()  # a wrong answer or a range -> why it is tempting

    def __post_init__(self):
        if isinstance(self.guess, Choice):
            keys = {key for key, _ in self.guess.options}
            assert self.truth in keys, (self.id, self.truth)
            assert {which for which, _ in self.tempting} == keys - {self.truth}, f"{self.id}: say why each is tempting"


def of_choice(
    id: str, asks: str, options: Mapping[str, str], truth: str, says: str, tempting: Mapping[str, str], **more
) -> Question:
    return Question(id, asks, Choice.of(options), truth, says, tempting=tuple(tempting.items()), **more)


def plain(value: object) -> object:
    """As JSON takes it; an answer and a picture, of which there are several classes, say which they are."""
    if is_dataclass(value) and not isinstance(value, type):
        named = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        return {"kind": type(value).__name__} | named
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value
