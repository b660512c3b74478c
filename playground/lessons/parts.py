"""Defines the parts that a step of a lesson yields, as plain data. microscope/lessons/host.js shows them. `plain_parts`
turns parts into records for JSON."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self

from PIL import Image

from playground.lessons.questions import Made, Question, plain_value
from playground.pictures.jpegs import data_url

if TYPE_CHECKING:
    import plotly.graph_objects as go


# Each colour means one thing on every page and figure. Colour-blind people can tell them apart.

QUERY, KEY, VALUE, CONVOLUTION = "#0072B2", "#D55E00", "#009E73", "#E7298A"
WEIGHTS, CHANGED = "#B63679", "#E8963A"  # colours of weights, and of weights from the fused kernel or without the scale
MLP, TOKEN = "#7A51BE", "#5B5D66"  # colours of the vector that the MLP adds, and of the token itself
QUIET = "#83838F"  # a grey for the light and the dark theme


@dataclass(frozen=True)
class Words:
    """Prose, as Markdown; d_k, √d_k and e^x are set as formulas."""

    text: str | Made
    small: bool = False  # whether it is shown as a caption


@dataclass(frozen=True)
class Wait:
    """Stands once in a step, before the parts that take long. Until these come, `words` are shown."""

    words: str


@dataclass(frozen=True)
class Workbench:
    """A link to a page of the workbench, which runs Python. Without a workbench the sentence `needs` is shown."""

    page: str
    text: str
    needs: str


@dataclass(frozen=True)
class Ask:
    """A question that is asked before its answer is shown. In another `context`, such as another picture, the question
    counts as new: a reader who has guessed before may guess again or, with `afresh`, has to."""

    question: Question
    context: str = ""
    afresh: bool = False


class Named(tuple):
    """Parts that belong together, with a name."""

    name: str

    def __new__(cls, name: str, *parts: Part) -> Self:
        group = super().__new__(cls, parts)
        group.name = name
        return group


class After(Named):
    """Parts that are hidden until the reader has guessed the question `name`, rightly or wrongly."""


class Fold(Named):
    """Parts that are hidden behind a title, their `name`, until a reader opens it."""


class Row(tuple):
    """Parts side by side."""

    shares: Sequence[int]  # each part's share of the width

    def __new__(cls, *parts: Part, shares: Sequence[int] = ()) -> Row:
        row = super().__new__(cls, parts)
        row.shares = shares or [1] * len(parts)
        return row


class Column(Row):
    """Parts below each other, as an item of a Row."""


@dataclass(frozen=True)
class Choice:
    """A control for a setting with few options. A value that is not offered becomes the setting's default."""

    setting: str
    label: str
    options: Mapping[Any, str]  # value -> words


@dataclass(frozen=True)
class Slider(Choice):
    """A slider for a setting with many options in an order."""


@dataclass(frozen=True)
class Pick(Choice):
    """A drop-down list for a setting with many options."""


@dataclass(frozen=True)
class Picture:
    data: bytes | Made
    caption: str = ""
    width: int | None = None  # pixels; None: the picture's own width, at most the column's
    kind: str = "jpeg"
    words: str = ""  # alternative text; the caption, if empty


@dataclass(frozen=True)
class Drawing:
    """A script of serving/lesson_scripts.py, by its name. It gets `data` and the values of `settings`, and reports
    each setting that the reader changes. The host adds `microscope`, the beginning of links into the microscope. A
    host without Python also adds `played`, the states of the settings whose numbers it has."""

    name: str
    data: Mapping | bytes | Made
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chart:
    figure: go.Figure | Made  # a recipe gets `figure_record` of a figure without numbers
    name: str  # name of the file that the chart's camera button saves
    height: int = 320  # pixels


@dataclass(frozen=True)
class Table:
    head: Sequence[str]
    rows: Sequence[Sequence[str]] | Made


@dataclass(frozen=True)
class Code:
    text: str
    language: str = "python"

    @staticmethod
    def of(function: Callable) -> Code:
        """The source of the function's body."""
        return Code(inspect.cleandoc("\n" + "".join(inspect.getsourcelines(function)[0][1:])))


@dataclass(frozen=True)
class When:
    """A state of the page: each of these settings has one of these values."""

    values: Mapping[str, Sequence]


@dataclass(frozen=True)
class Reported:
    """A state of a drawing: the numbers that it reports pass a check of microscope/lessons/exercise.js."""

    drawing: str
    check: str


Condition = bool | When | Reported | tuple  # a tuple holds if any of its conditions holds


@dataclass(frozen=True)
class Exercise:
    """Is done where the page fulfils `done`. `tempting`: (a condition mistaken for the solution, why it is wrong).
    With `answers`, the page offers them once `done` holds, and only the right one finishes the exercise."""

    asks: str
    answer: str
    id: str
    done: Condition
    hint: str = ""
    tempting: Sequence[tuple[Condition, str]] = ()
    answers: Sequence[tuple[str, str]] = ()  # (words, why it is wrong); "" for the right one


def think(asks: str, answer: str) -> Fold:
    """A question to think about; a click opens the answer."""
    return Fold(asks, Words(answer))


Group = After | Row | Fold
Part = Words | Wait | Workbench | Ask | Group | Choice | Drawing | Picture | Chart | Table | Code | Exercise


def plain_parts(parts: Iterable[Part], store_bytes: Callable[[bytes], object]) -> list[dict]:
    """The parts as records for JSON, in one flat list: a part of an After names its question under "after".
    `store_bytes` stores a drawing's bytes where the browser finds them, and returns the place."""
    return [record for part in parts for record in _records_of(part, store_bytes)]


def _records_of(part: Part, store_bytes: Callable[[bytes], object]) -> Iterator[dict]:
    if isinstance(part, Wait):
        return
    if isinstance(part, After):
        yield from ({**record, "after": part.name} for record in plain_parts(part, store_bytes))
    elif isinstance(part, Row):
        yield {"kind": type(part).__name__.lower(), "shares": [*part.shares], "parts": plain_parts(part, store_bytes)}
    elif isinstance(part, Fold):
        yield {"kind": "fold", "title": part.name, "parts": plain_parts(part, store_bytes)}
    else:
        yield {"kind": type(part).__name__.lower()} | _fields(part, store_bytes)


def _fields(part: Part, store_bytes: Callable[[bytes], object]) -> dict:
    record: Any = plain_value(part)
    del record["kind"]
    match part:
        case Choice(options=options):
            record["options"] = [[str(value), words] for value, words in options.items()]
        case Drawing(data=bytes() as data):
            del record["data"]
            record["file"] = store_bytes(data)
        case Picture(data, caption, kind=kind, words=words):
            record["words"] = words or caption
            if isinstance(data, bytes):
                record["data"] = _picture(data, kind)
        case Chart(figure) if not isinstance(figure, Made):
            record["figure"] = figure_record(figure)
        case Exercise(done=done, tempting=tempting):
            record["done"] = condition_record(done)
            record["tempting"] = [[condition_record(when), why] for when, why in tempting]
    return record


def _picture(data: bytes, kind: str) -> dict:
    with Image.open(BytesIO(data)) as image:
        return {"url": data_url(data, kind), "size": [*image.size]}


def figure_record(figure: go.Figure) -> dict:
    """The figure for JSON, without the theme, which the host sets."""
    plain_figure = json.loads(figure.to_json())
    plain_figure["layout"].pop("template", None)
    return plain_figure


def condition_record(state: Condition) -> object:
    """The condition as microscope/lessons/exercise.js reads it."""
    if isinstance(state, When):
        return {name: [str(value) for value in values] for name, values in state.values.items()}
    if isinstance(state, tuple):
        return [condition_record(part_state) for part_state in state]
    return asdict(state) if isinstance(state, Reported) else state
