"""What the step of a lesson yields, part by part, as plain data. A host shows each as it comes: the app with Streamlit
(ui/host.py), the folder without a server in the browser (microscope/lessons/host.js). `plain_parts` is their other
form, as JSON takes it, which both hosts get."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from playground.lessons.questions import Question, plain

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True)
class Words:
    """Prose, as Markdown; d_k, √d_k and e^x are set as formulas."""

    text: str
    small: bool = False  # a caption


@dataclass(frozen=True)
class Wait:
    """What the host says until the next part comes."""

    words: str


@dataclass(frozen=True)
class Ask:
    """A question before its answer. Another `context`, such as another picture, makes it a new question."""

    question: Question
    context: str = ""


class After(tuple):
    """Parts that are seen when the question was guessed, whatever was guessed."""

    question: str

    def __new__(cls, question: str, *parts: Part) -> After:
        after = super().__new__(cls, parts)
        after.question = question
        return after


class Row(tuple):
    """Parts side by side."""

    def __new__(cls, *parts: Part) -> Row:
        return super().__new__(cls, parts)


@dataclass(frozen=True)
class Choice:
    """One of a few options of a setting."""

    setting: str
    label: str
    options: Mapping[object, str]  # value -> words


@dataclass(frozen=True)
class Slider(Choice):
    """One of many options of a setting, in their order."""


@dataclass(frozen=True)
class Drawing:
    """microscope/lessons/NAME.js. It begins with `data` and the settings that it names, and tells when one changes."""

    name: str
    data: Mapping | bytes
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Moves:
    """A point of a chart that follows a drawing's settings, by a rule of microscope/lessons/moves.js."""

    trace: int  # of the figure
    rule: str
    numbers: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Chart:
    figure: go.Figure
    name: str  # of the file that its camera button saves
    height: int = 320  # pixels
    moves: Moves | None = None


@dataclass(frozen=True)
class Table:
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Code:
    text: str
    language: str = "python"


@dataclass(frozen=True)
class When:
    """A state of the page: each of these settings has one of these values."""

    values: Mapping[str, Sequence]


@dataclass(frozen=True)
class Reported:
    """A state of a drawing: a check of microscope/lessons/checks.js over the numbers that it reports."""

    drawing: str
    check: str


Condition = bool | When | Reported


@dataclass(frozen=True)
class Exercise:
    """With a hint the answer comes one click later. What can be done by hand on the page has an id, and says when it is
    `done`, and what looks like it and is not: (a condition, why not)."""

    asks: str
    answer: str
    hint: str = ""
    id: str = ""
    done: Condition | None = None
    tempting: Sequence[tuple[Condition, str]] = ()


Part = Words | Wait | Ask | After | Row | Choice | Drawing | Chart | Table | Code | Exercise


def questions_of(parts: Iterable[Part]) -> Iterator[Ask]:
    return (part for part in parts if isinstance(part, Ask))


def plain_parts(parts: Iterable[Part], keep: Callable[[bytes], object]) -> list[dict]:
    """As JSON takes them, one after the other: what stands in an After says of which question. `keep` puts a drawing's
    bytes where the browser finds them, and gives where that is."""
    return [made for part in parts for made in _plain(part, keep)]


def _plain(part: Part, keep: Callable[[bytes], object]) -> Iterator[dict]:
    if isinstance(part, Wait):
        return
    if isinstance(part, After):
        yield from ({**made, "after": part.question} for made in plain_parts(part, keep))
    elif isinstance(part, Row):
        yield {"kind": "row", "parts": plain_parts(part, keep)}
    else:
        yield {"kind": type(part).__name__.lower()} | _fields(part, keep)


def _fields(part: Part, keep: Callable[[bytes], object]) -> dict:
    match part:
        case Choice(setting, label, options):
            return {"setting": setting, "label": label, "options": [[str(k), words] for k, words in options.items()]}
        case Drawing(name, data, settings):
            kept = {"file": keep(data)} if isinstance(data, bytes) else {"data": plain(data)}
            return {"name": name, "settings": list(settings)} | kept
        case Chart(figure, name, height, moves):
            return {"figure": _figure(figure, moves), "name": name, "height": height, "moves": plain(moves)}
        case Exercise(asks, answer, hint, id, done, tempting):
            told = {"asks": asks, "answer": answer, "hint": hint, "id": id}
            return told | {"done": condition(done), "tempting": [[condition(one), why] for one, why in tempting]}
    told = plain(part)
    assert isinstance(told, dict)
    del told["kind"]
    return told


def _figure(figure: go.Figure, moves: Moves | None) -> dict:
    """Without the theme, which is the host's, and without the place of what moves, which the browser computes."""
    drawn = json.loads(figure.to_json())  # type: ignore[arg-type]
    drawn["layout"].pop("template", None)
    if moves:
        for name in ("x", "y", "hovertemplate"):
            drawn["data"][moves.trace].pop(name)
    return drawn


def condition(of: Condition | None) -> object:
    """As microscope/lessons/checks.js reads it."""
    if isinstance(of, When):
        return {name: [str(value) for value in values] for name, values in of.values.items()}
    if isinstance(of, Reported):
        return {"drawing": of.drawing, "check": of.check}
    return of
