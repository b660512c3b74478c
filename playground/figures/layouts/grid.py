"""The layout “grid”: maps in rows and columns, along which layers, heads, pictures or other choices change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import PurePath
from typing import Any

from playground.errors import PlaygroundError
from playground.figures.drawing import captions, maps, naming
from playground.figures.drawing.maps import Domain, GridSubjects, Map, OneMap, Other, Subject
from playground.figures.drawing.spec import AXES, POOLINGS, Spec, read_query
from playground.figures.layouts.layout import Content, Layout, Panel, Panels, map_panel, photo_panel, shown_maps

LARGEST_NUMBER = 999  # of a layer or head, as in an address; no model has so many
MOST_LARGE_MAPS = 24  # with more maps than these on one sheet, each is small

EXAMPLES = "layers:2,5,8, heads:0-3, pictures:meadow,flock, models:bundled,dinov2-small, patches:9,7-3,4, scales:on,off"


@dataclass(frozen=True)
class Axis:
    name: str
    values: tuple[Any, ...]

    @property
    def field(self) -> str:
        return AXES[self.name]


ModelCounts = tuple[int, int] | None  # (layers, heads) of the model; None: not known yet, so an axis of "all" is empty


def axes(spec: Spec, counts: ModelCounts = None) -> tuple[Axis, Axis]:
    """The axis down the grid and the axis across it."""
    if not spec.rows and not spec.columns:
        raise PlaygroundError(f"A grid needs rows and columns: two of {EXAMPLES}.")
    rows, columns = (read_axis(text, counts) if text else None for text in (spec.rows, spec.columns))
    if rows and columns and rows.name == columns.name:
        raise PlaygroundError(f"Rows and columns are both {rows.name}: choose two of {', '.join(AXES)}.")
    fixed_name = "heads" if "layers" in (rows and rows.name, columns and columns.name) else "layers"
    fixed = Axis(fixed_name, (getattr(spec, AXES[fixed_name]),))  # an axis of one value, if only one axis was given
    return rows or fixed, columns or fixed


def read_axis(text: str, counts: ModelCounts = None) -> Axis:
    name, _, values = text.partition(":")
    if name not in AXES or not values:
        raise PlaygroundError(f"Rows and columns are written as {EXAMPLES}; given was {text!r}.")
    if name in ("heads", "layers"):
        count = counts[name == "heads"] if counts else 0
        value_lists = [_numbers(part, count, name) for part in values.split(",")]
        return Axis(name, tuple(dict.fromkeys(value for part in value_lists for value in part)))
    if name == "patches":
        return Axis(name, tuple(read_query(value) for value in values.split("-")))
    return Axis(name, tuple(values.split(",")))


def _numbers(part: str, count: int, name: str) -> list[Any]:
    if part == "all":
        return list(range(count))
    if part in POOLINGS and name == "heads":
        return [part]
    first, _, last = part.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal() and int(first) <= int(last or first) <= LARGEST_NUMBER):
        raise PlaygroundError(f"{name.capitalize()} are numbers from 0, such as 2,5 or 0-3 or all; given was {part!r}.")
    return list(range(int(first), int(last or first) + 1))


def needed_traces(spec: Spec) -> list[tuple[str, str]]:
    """(picture, model) of each trace that the grid needs, in order."""
    rows, columns = axes(spec)
    pictures = next((axis.values for axis in (rows, columns) if axis.name == "pictures"), (spec.image,))
    models = next((axis.values for axis in (rows, columns) if axis.name == "models"), (spec.model,))
    return list(dict.fromkeys((picture, model) for model in models for picture in pictures))  # each model loaded once


def requests(spec: Spec, subject: Subject, others: Other) -> list[OneMap]:
    """The maps, row by row."""
    rows, columns = axes(spec, (subject.seen.layers, subject.seen.heads))
    subjects = others if isinstance(others, dict) else {}
    changing, cells = {rows.name, columns.name}, product(rows.values, columns.values)
    specs = (replace(spec, **{rows.field: row, columns.field: column}) for row, column in cells)
    return [_cell(cell_spec, subject, subjects, changing) for cell_spec in specs]


def _cell(cell_spec: Spec, subject: Subject, others: GridSubjects, changing: set[str]) -> OneMap:
    cell_subject = others.get((cell_spec.image, cell_spec.model), subject)
    if "layers" not in changing and cell_spec.layer is not None:
        cell_spec = replace(cell_spec, layer=maps.same_layer(cell_spec.layer, subject.seen, cell_subject.seen))
    if cell_spec.query is not None and "patches" not in changing and cell_subject is not subject:
        cell_spec = replace(cell_spec, query=maps.same_place(cell_spec.query, subject.seen, cell_subject.seen))
    label = maps.same_label(cell_spec.label, subject.seen, cell_subject.seen)
    cell_spec = replace(cell_spec, label=label, rows=None, columns=None)
    cell_spec = cell_spec.settled(cell_subject.seen, cell_spec.asks)
    return OneMap(cell_subject, cell_spec, None if cell_spec.whole else cell_spec.scale)


def draw(spec: Spec, subject: Subject, others: Other) -> Content:
    shown = shown_maps(requests(spec, subject, others))
    domain = maps.domain(spec, shown, small=len(shown) > MOST_LARGE_MAPS)
    rows, columns = axes(spec, (subject.seen.layers, subject.seen.heads))
    count = len(columns.values)
    table = [shown[i : i + count] for i in range(0, len(shown), count)]
    body: list[list[Panel | None]] = [[map_panel(panel, domain) for panel in row] for row in table]
    above = [_title(columns, panel) for panel in table[0]] if spec.columns else []
    if rows.name in ("pictures", "patches"):  # the picture with its query stands at the beginning of its row
        body = [[photo_panel(row[0].spec, row[0].subject), *panels] for row, panels in zip(table, body, strict=True)]
        above = above and ["picture" if rows.name == "pictures" else "query", *above]
    elif columns.name not in ("pictures", "patches") and spec.paper.roomy:  # one picture and patch for all
        body = [
            [photo_panel(row[0].spec, row[0].subject) if index == 0 else None, *panels]
            for index, (row, panels) in enumerate(zip(table, body, strict=True))
        ]
        above = above and ["query" if spec.asks else "picture", *above]
    beside = [_title(rows, row[0]) for row in table] if spec.rows else []
    return Content(Panels(body, beside, above), _caption(spec, shown, domain), shown, domain)


def _title(axis: Axis, panel: Map) -> str:
    """The title of a row or column, of which this is a panel."""
    value = getattr(panel.spec, axis.field)
    if axis.name == "heads":
        return {"mean": "mean", "max": "largest"}.get(value) or f"head {value}"
    if axis.name == "scales":
        return captions.scale_heading(panel.seen, value)
    return {
        "layers": f"layer {value}", "patches": captions.query_phrase(value), "models": naming.model(panel.seen),
        "pictures": PurePath(panel.subject.name).stem,
    }[axis.name]  # fmt: skip


def _caption(spec: Spec, shown: list[Map], domain: Domain) -> str:
    """What all panels share, then what changes along rows and columns."""
    names = {side: text.partition(":")[0] for side in ("rows", "columns") if (text := getattr(spec, side))}
    first = shown[0].spec
    layers = {panel.spec.layer for panel in shown}
    parts = [f"layer {first.layer}"] if len(layers) == 1 and not spec.way.through_layers else []
    parts += [captions.head(first)] if "heads" not in names.values() and spec.way.of_heads else []
    changes = ", ".join(f"{side}: {name}" for side, name in names.items())
    drawn_spec = replace(first, query=None) if len({panel.spec.query for panel in shown}) > 1 else first
    drawn_spec = replace(drawn_spec, scale="on" if "scales" in names.values() else first.scale)
    return captions.sentence(drawn_spec, shown, domain, ", ".join(parts), f"; {changes}")


GRID = Layout("grid", "rows and columns, such as pictures × heads", draw, beside="many")
