"""What the step of a lesson yields, part by part, as plain data. A host shows each as it comes: the app with Streamlit
(ui/host.py), the folder without a server in the browser (microscope/lessons/host.js). `plain_parts` is their other
form, as JSON takes it, which both hosts get."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playground.lessons.measures import Measured
from playground.lessons.questions import Question, plain
from playground.numbers import percent
from playground.pictures.jpegs import data_url

if TYPE_CHECKING:
    import plotly.graph_objects as go


# One colour, one meaning, on every page and figure; they survive colour blindness.

QUERY, KEY, VALUE, CONVOLUTION = "#0072B2", "#D55E00", "#009E73", "#E7298A"
WEIGHTS, CHANGED = "#B63679", "#E8963A"  # of magma, as weights are; and what is made of them otherwise
MLP, TOKEN = "#7A51BE", "#5B5D66"  # what the MLP adds, the token itself
QUIET = "#83838F"  # on either theme


@dataclass(frozen=True)
class Words:
    """Prose, as Markdown; d_k, √d_k and e^x are set as formulas."""

    text: str
    small: bool = False  # a caption
    values: Mapping[str, Measured] = field(default_factory=dict)  # of the blanks in the text, such as {share:%}
    own: Mapping[str, Own] = field(default_factory=dict)  # its text, where another picture needs other sentences

    @property
    def says(self) -> str:
        """The text with its values in its blanks. Braces without a value stay: a model's name may have some."""
        return BLANKS.sub(lambda blank: _formatted(self, blank), self.text)


BLANKS = re.compile(r"\{(\w+)(?::([^}]*))?\}")


def _formatted(words: Words, blank: re.Match) -> str:
    return written(words.values[blank[1]].value, blank[2] or "") if blank[1] in words.values else blank[0]


def written(number: float | list[float] | str, style: str) -> str:
    """By Python's format, such as ".2f"; "%" writes a share by our rule."""
    return percent(number) if style == "%" else format(number, style)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Made:
    """Names a function of microscope/lessons/subject.js that makes data or a picture from a visitor's photograph."""

    name: str
    given: Mapping[str, object] = field(default_factory=dict)  # words in it become plain, too


Own = Words | Measured | Made  # for a visitor's photograph, in the folder without a server


@dataclass(frozen=True)
class Wait:
    """What the host says until the next part comes, and what it shows meanwhile. In a run: what that has come to."""

    words: str
    meanwhile: Part | None = None
    come_to: object = None


@dataclass(frozen=True)
class Run:
    """Work that somebody asks for by a button, and may stop: it yields often. `work` gets what its run before has come
    to; meanwhile the step is played again and again, and the subject knows what the run has come to. Where there is no
    Python the host says what it `needs`."""

    id: str
    label: str
    work: Callable[[Any], Generator[Wait, None, None]]
    needs: str


@dataclass(frozen=True)
class Ask:
    """A question before its answer. Another `context`, such as another picture, makes it a new question: who has
    guessed it once sees the answer, or is asked `afresh` where the answer is all that there is to see."""

    question: Question
    context: str = ""
    afresh: bool = False
    own: Mapping[str, Own] = field(default_factory=dict)  # fields of the question


class After(tuple):
    """Parts that are seen when the question was guessed, whatever was guessed."""

    question: str

    def __new__(cls, question: str, *parts: Part) -> After:
        after = super().__new__(cls, parts)
        after.question = question
        return after


class Stays(tuple):
    """Parts that only Python can compute. Where the folder without a server shows a visitor's photograph, these parts
    keep showing the sample, below a line that says so."""

    def __new__(cls, *parts: Part) -> Stays:
        return super().__new__(cls, parts)


class Row(tuple):
    """Parts side by side."""

    shares: Sequence[int]  # of its width

    def __new__(cls, *parts: Part, shares: Sequence[int] = ()) -> Row:
        row = super().__new__(cls, parts)
        row.shares = shares or [1] * len(parts)
        return row


class Column(Row):
    """Parts below each other, in a row."""


class Fold(tuple):
    """Parts behind a title, which are shown when somebody opens it."""

    title: str

    def __new__(cls, title: str, *parts: Part) -> Fold:
        fold = super().__new__(cls, parts)
        fold.title = title
        return fold


@dataclass(frozen=True)
class Choice:
    """One of a few options of a setting. Where it has another value, it takes its default, which is an option."""

    setting: str
    label: str
    options: Mapping[object, str]  # value -> words


@dataclass(frozen=True)
class Slider(Choice):
    """One of many options of a setting, in their order."""


@dataclass(frozen=True)
class Pick(Choice):
    """One of many options of a setting, in a list that opens."""


@dataclass(frozen=True)
class Picture:
    data: bytes
    caption: str = ""
    width: int | None = None  # pixels; None: its own, where there is room
    kind: str = "jpeg"
    words: str = ""  # for who does not see it, where there is no caption
    own: Mapping[str, Own] = field(default_factory=dict)  # its data, and its caption


@dataclass(frozen=True)
class Drawing:
    """A script of ui/components.py, by its name. It begins with `data` and the settings that it names, and tells when
    one changes. The host adds how links into the `microscope` begin and, where few states have numbers, which were
    `played`."""

    name: str
    data: Mapping | bytes
    settings: tuple[str, ...] = ()
    own: Made | None = None  # its data


@dataclass(frozen=True)
class Moves:
    """A point of a chart that follows a drawing's settings, by a rule of microscope/lessons/host.js."""

    trace: int  # of the figure
    rule: str
    numbers: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Chart:
    figure: go.Figure
    name: str  # of the file that its camera button saves
    height: int = 320  # pixels
    moves: Moves | None = None
    own: Mapping[int, Measured] | Made = field(default_factory=dict)  # a trace of the figure -> its y; or all traces


@dataclass(frozen=True)
class Table:
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    own: Mapping[str, Own] = field(default_factory=dict)  # its rows


@dataclass(frozen=True)
class Code:
    text: str
    language: str = "python"

    @staticmethod
    def of(function: Callable) -> Code:
        """What stands in the function, without its first line."""
        return Code(inspect.cleandoc("\n" + "".join(inspect.getsourcelines(function)[0][1:])))


@dataclass(frozen=True)
class When:
    """A state of the page: each of these settings has one of these values."""

    values: Mapping[str, Sequence]


@dataclass(frozen=True)
class Reported:
    """A state of a drawing: a check of microscope/lessons/exercise.js over the numbers that it reports."""

    drawing: str
    check: str


Condition = bool | When | Reported | tuple  # a tuple: one of several


@dataclass(frozen=True)
class Exercise:
    """With a hint the answer comes one click later. What can be done by hand on the page has an id, and says when it is
    `done`, and what looks like it and is not: (a condition, why not). Where it also asks something, `answers` are
    offered once that is done, and only the right one finishes the exercise."""

    asks: str
    answer: str
    hint: str = ""
    id: str = ""
    done: Condition | None = None
    tempting: Sequence[tuple[Condition, str]] = ()
    answers: Sequence[tuple[str, str]] = ()  # (words, why not); nothing says why not of the right one
    own: Mapping[str, Own] = field(default_factory=dict)  # its answer


def think(asks: str, answer: str) -> Fold:
    """A question to think about, which nothing on the page can be done for: the answer is behind it."""
    return Fold(asks, Words(answer))


Group = After | Stays | Row | Fold
Part = Words | Wait | Run | Ask | Group | Choice | Drawing | Picture | Chart | Table | Code | Exercise


def questions_of(parts: Iterable[Part]) -> Iterator[Ask]:
    return (part for part in parts if isinstance(part, Ask))


def plain_parts(parts: Iterable[Part], keep: Callable[[bytes], object]) -> list[dict]:
    """As JSON takes them, one after the other: what stands in an After says of which question. `keep` puts a drawing's
    bytes where the browser finds them, and gives where that is."""
    return [record for part in parts for record in _plain(part, keep)]


def _plain(part: Part, keep: Callable[[bytes], object]) -> Iterator[dict]:
    if isinstance(part, Wait):
        return
    if isinstance(part, After):
        yield from ({**record, "after": part.question} for record in plain_parts(part, keep))
    elif isinstance(part, Stays):
        yield from ({**record, "stays": True} for record in plain_parts(part, keep))
    elif isinstance(part, Row):
        yield {"kind": type(part).__name__.lower(), "shares": [*part.shares], "parts": plain_parts(part, keep)}
    elif isinstance(part, Fold):
        yield {"kind": "fold", "title": part.title, "parts": plain_parts(part, keep)}
    else:
        yield {"kind": type(part).__name__.lower()} | _fields(part, keep) | own_of(part)


def _fields(part: Part, keep: Callable[[bytes], object]) -> dict:
    match part:
        case Words():
            return {"small": part.small} | _words(part)
        case Table(head, rows):
            return {"head": [*head], "rows": plain(rows)}
        case Ask(question, context, afresh):
            return {"question": plain(question), "context": context, "afresh": afresh}
        case Choice(setting, label, options):
            return {"setting": setting, "label": label, "options": [[str(k), words] for k, words in options.items()]}
        case Run(id, label, _, needs):
            return {"id": id, "label": label, "needs": needs}
        case Drawing(name, data, settings):
            content = {"file": keep(data)} if isinstance(data, bytes) else {"data": plain(data)}
            return {"name": name, "settings": list(settings)} | content
        case Picture(data, caption, width, kind, words):
            return {"data": data_url(data, kind), "caption": caption, "width": width, "words": words or caption}
        case Chart(figure, name, height, moves):
            return {"figure": _figure(figure, moves), "name": name, "height": height, "moves": plain(moves)}
        case Exercise(asks, answer, hint, id, done, tempting, answers, _):
            record = {"asks": asks, "answer": answer, "hint": hint, "id": id, "answers": plain(answers)}
            return record | {"done": condition(done), "tempting": [[condition(when), why] for when, why in tempting]}
    record = plain(part)
    assert isinstance(record, dict)
    del record["kind"]
    return record


def _words(words: Words) -> dict:
    """With what each blank says of the picture that was played."""
    if not words.values:
        return {"text": words.text}
    says = {blank[1]: _formatted(words, blank) for blank in BLANKS.finditer(words.text) if blank[1] in words.values}
    return {"text": words.text, "values": {name: words.values[name].told() | {"says": says[name]} for name in says}}


def own_of(part: Part) -> dict:
    """{"own": …} as microscope/lessons/subject.js reads it; nothing where the part is the same of every picture."""

    def told(value: Own) -> dict:
        match value:
            case Words():
                return _words(value)
            case Measured():
                return value.told()
            case Made(name, given):
                return {"made": name, **{k: told(v) if isinstance(v, Words) else v for k, v in given.items()}}

    match part:
        case Drawing(own=Made() as own) | Chart(own=Made() as own):
            return {"own": told(own)}
        case Words(own=own) | Ask(own=own) | Chart(own=own) | Picture(own=own) | Table(own=own) | Exercise(own=own) if (
            own
        ):
            return {"own": {str(name): told(value) for name, value in own.items()}}
    return {}


def _figure(figure: go.Figure, moves: Moves | None) -> dict:
    """Without the theme, which is the host's, and without the place of what moves, which the browser computes."""
    drawn = json.loads(figure.to_json())  # type: ignore[arg-type]
    drawn["layout"].pop("template", None)
    if moves:
        for name in ("x", "y", "hovertemplate"):
            drawn["data"][moves.trace].pop(name)
    return drawn


def condition(done: Condition | None) -> object:
    """As microscope/lessons/exercise.js reads it."""
    if isinstance(done, When):
        return {name: [str(value) for value in values] for name, values in done.values.items()}
    if isinstance(done, tuple):
        return [condition(each) for each in done]
    if isinstance(done, Reported):
        return {"drawing": done.drawing, "check": done.check}
    return done
