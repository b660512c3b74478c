"""A question that the reader answers before seeing the truth, as plain data: the words, a picture, how a guess is made
on that picture, the truth, and why wrong answers are tempting.

microscope/lessons/guess.js shows it; the story's questions and those of a class have the same form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

PICTURE_HEIGHT = 380  # height of a picture in pixels


@dataclass(frozen=True)
class Made:
    """A recipe: stands in a part where a value depends on the trace on view. The browser computes the value, of a
    sample or of a person's own photograph: the name of a function of microscope/lessons/subject.js or core/measures.js,
    and its arguments, which may be recipes too."""

    name: str
    given: Mapping[str, object]


def made(name: str, **given: object) -> Made:
    return Made(name, given)


def made_words(text: str, **values: Made) -> Made:
    """The text with values in its blanks, such as {rows:,}; {share:%} is written by our rule for shares."""
    return Made("words", {"text": text, **values})


@dataclass(frozen=True)
class Number:
    """A number that is dragged on the picture's axis, or set with a slider."""

    low: float
    high: float | Made
    unit: str = ""
    step: float = 1
    log: bool = False


@dataclass(frozen=True)
class Choice:
    options: tuple[tuple[str, str], ...]  # (key, words)


@dataclass(frozen=True)
class Painting:
    """A guess that is painted, patch by patch, on a Photo; the right answer is the Photo's `heat`."""


@dataclass(frozen=True)
class Bars:
    labels: tuple[str, ...]
    values: tuple[float, ...]
    high: float  # the end of the axis
    at: int | None = None  # the index of the covered bar to guess; None: no single bar is guessed
    later: tuple[float, ...] | None = None  # the bars' heights that the answer shows
    across: bool = False  # whether the bars are horizontal, which leaves room for long names
    title: str = ""
    x: str = ""
    unit: str = ""
    height: int = PICTURE_HEIGHT


@dataclass(frozen=True)
class Series:
    name: str
    y: tuple[float, ...]
    colour: str
    shown: int | None = None  # the number of points before the answer; None: all
    dash: bool = False
    dots: bool = False
    below: bool = False  # the name stands below the line's end instead of above it


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
    at: tuple[int, int] | None = None  # (series, point): the point to guess
    title: str = ""
    unit: str = ""
    log_x: bool = False
    log_y: bool = False
    x_ticks: tuple[float, ...] | None = None
    marks: tuple[Mark, ...] = ()
    height: int = PICTURE_HEIGHT


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
    mark: int | None = None  # the number of the patch that the question is about
    heat: tuple[float, ...] | None = None  # a number for each patch, shown with the answer
    paints: bool = False  # whether the picture is grey already before the answer
    lines: bool = False  # whether the grid is drawn before the answer
    counts: bool = False  # whether the number of patches is guessed: one is outlined, and the answer shows the grid
    words: str = ""  # the caption below the picture
    beside: Beside | None = None
    height: int = PICTURE_HEIGHT


@dataclass(frozen=True)
class Pictures:
    """Data URLs of pictures side by side: those seen before the answer (covered) and after it (open)."""

    covered: tuple[str, ...]
    open: tuple[str, ...]
    captions: tuple[str, ...]
    aspect: float
    height: int = PICTURE_HEIGHT


@dataclass(frozen=True)
class Question:
    id: str
    asks: str | Made  # the guessed number replaces the blank ▢
    guess: Number | Choice | Painting
    truth: float | str | Made | None  # None: the truth is the Photo's `heat`
    says: str | Made  # the text shown with the answer; **, * and ` as in Markdown
    picture: Bars | Lines | Photo | Pictures | Made | None = None
    prose: str = ""  # above the question, beside the picture
    tempting: tuple[
        tuple[str | tuple[float | Made, float | Made], str | Made], ...
    ] = ()  # (a wrong answer or range, why it is wrong)


def choice_question(id: str, asks: str, options: Mapping[str, tuple[str, str]], says: str, **fields: Any) -> Question:
    """`options`: {key: (words, why it is tempting)}; "" for the right one."""
    (truth,) = (key for key, (_, why) in options.items() if not why)
    guess = Choice(tuple((key, words) for key, (words, _) in options.items()))
    tempting = tuple((key, why) for key, (_, why) in options.items() if why)
    return Question(id, asks, guess, truth, says, tempting=tempting, **fields)


def plain_value(value: object) -> object:
    """The value for JSON. A dataclass becomes a dict with the name of its class under "kind"."""
    if isinstance(value, Made):
        return {"made": value.name} | {name: plain_value(item) for name, item in value.given.items()}
    if is_dataclass(value) and not isinstance(value, type):
        values = {field.name: plain_value(getattr(value, field.name)) for field in fields(value)}
        return {"kind": type(value).__name__} | values
    if isinstance(value, Mapping):
        return {str(name): plain_value(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain_value(item) for item in value]
    return value
