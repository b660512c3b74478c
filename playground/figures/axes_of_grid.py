"""The rows and columns of the layout grid: what changes from one to the next, and how that is called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from playground.errors import PlaygroundError
from playground.figures import captions
from playground.figures.command_line import read_numbers, read_query
from playground.figures.option_words import OptionError
from playground.figures.spec import AXES, POOLED, THROUGH_LAYERS, WITHOUT_HEADS, Spec, query_words

EXAMPLES = "layers:2,5,8, heads:0-3, pictures:meadow,flock, models:bundled,dinov2-small, patches:9,7-3,4, scales:on,off"


@dataclass(frozen=True)
class Axis:
    name: str
    values: tuple

    @property
    def field(self) -> str:
        return AXES[self.name]


There = tuple[int, int] | None  # layers and heads; None: nobody knows yet, and an axis of "all" is empty


def axes(spec: Spec, there: There = None) -> tuple[Axis, Axis]:
    """(rows, columns)"""
    if not spec.rows and not spec.columns:
        raise OptionError("A grid needs {rows} and {columns}: two of {}.", EXAMPLES)
    rows, columns = (read(text, there) if text else None for text in (spec.rows, spec.columns))
    if rows and columns and rows.name == columns.name:
        raise PlaygroundError(f"Rows and columns are both {rows.name}: choose two of {', '.join(AXES)}.")
    for axis in filter(None, (rows, columns)):
        if why := _changes_nothing(axis.name, spec):
            raise OptionError(f"{axis.name.capitalize()} would change nothing in this grid: {why}.")
    given = rows or columns
    alone = Axis("heads", (spec.head,)) if given.name == "layers" else Axis("layers", (spec.layer,))  # changes nothing
    return rows or alone, columns or alone


def _changes_nothing(axis: str, spec: Spec) -> str:
    """Why, as a sentence of option_words.py; "" where it does."""
    shown = f"{{what:{spec.what}}}"
    if axis == "heads" and spec.what in WITHOUT_HEADS:
        return f"{shown} has no heads"
    if axis == "patches" and not spec.asks:
        return f"{shown} is the same whoever asks"
    if axis == "layers" and spec.what in THROUGH_LAYERS:
        return f"{shown} goes through all layers"
    if axis == "scales" and spec.what in WITHOUT_HEADS:
        return f"{shown} comes out of the whole pass, and a grid's scales are those of one layer"
    if axis == "scales" and spec.whole:
        return "its scales are those of one layer, and the whole pass ran with one"
    return ""


def read(text: str, there: There = None) -> Axis:
    name, _, values = text.partition(":")
    if name not in AXES or not values:
        raise PlaygroundError(f"Rows and columns are written as {EXAMPLES}; given was {text!r}.")
    if name in ("heads", "layers"):
        count = there[name == "heads"] if there else 0
        parts = [_numbers(part, count, name) for part in values.split(",")]
        return Axis(name, tuple(dict.fromkeys(value for part in parts for value in part)))
    if name == "patches":
        return Axis(name, tuple(read_query(value) for value in values.split("-")))
    return Axis(name, tuple(values.split(",")))


def _numbers(part: str, count: int, name: str) -> list:
    if part == "all":
        return list(range(count))
    return (
        [part] if part in POOLED and name == "heads" else read_numbers(part, None, f"A grid's {name} take", name[:-1])
    )


def names(spec: Spec) -> list[tuple[str, str]]:
    """(picture, model) of all the traces that the grid needs, the first one first."""
    rows, columns = axes(spec)
    pictures = next((axis.values for axis in (rows, columns) if axis.name == "pictures"), (spec.image,))
    models = next((axis.values for axis in (rows, columns) if axis.name == "models"), (spec.model,))
    found = {(picture, model): None for model in models for picture in pictures}  # each model is loaded once
    return list(found)


def called(axis: Axis, value, seen, model: str) -> str:
    """A row's or a column's title."""
    if axis.name == "layers":
        return f"layer {value}"
    if axis.name == "heads":
        return {"mean": "mean", "max": "largest"}.get(value) or f"head {value}"
    if axis.name == "scales":
        said = captions.scale(seen, value)
        return said if said == "no scale" else f"scale {said}"
    if axis.name == "patches":
        return captions.asked(value) if isinstance(value, tuple) else query_words(value)
    return model if axis.name == "models" else PurePath(value).stem
