"""The layout “grid”: maps in rows and columns, along which layers, heads, pictures or other choices change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from pathlib import PurePath

from playground.errors import PlaygroundError
from playground.figures.drawing import captions, maps, naming
from playground.figures.drawing.maps import Domain
from playground.figures.drawing.one_map import GridSubjects, OneMap, Other, ShownMap, Subject
from playground.figures.drawing.option_words import OptionError, read_numbers, read_query
from playground.figures.drawing.spec import AXES, POOLINGS, Spec, query_words
from playground.figures.layouts.layout import MOST_LARGE_MAPS, DrawnPanels, Layout, small_maps

EXAMPLES = "layers:2,5,8, heads:0-3, pictures:meadow,flock, models:bundled,dinov2-small, patches:9,7-3,4, scales:on,off"


@dataclass(frozen=True)
class Axis:
    name: str
    values: tuple

    @property
    def field(self) -> str:
        return AXES[self.name]


ModelCounts = tuple[int, int] | None  # (layers, heads) of the model; None: not known yet, so an axis of "all" is empty


def axes(spec: Spec, counts: ModelCounts = None) -> tuple[Axis, Axis]:
    """The axis down the grid and the axis across it."""
    if not spec.rows and not spec.columns:
        raise OptionError("A grid needs {rows} and {columns}: two of {}.", EXAMPLES)
    rows, columns = (read_axis(text, counts) if text else None for text in (spec.rows, spec.columns))
    if rows and columns and rows.name == columns.name:
        raise PlaygroundError(f"Rows and columns are both {rows.name}: choose two of {', '.join(AXES)}.")
    for axis in filter(None, (rows, columns)):
        if reason := _reason_nothing_changes(axis.name, spec):
            raise OptionError(f"{axis.name.capitalize()} would change nothing in this grid: {reason}.")
    given_axis = rows or columns
    fixed_axis = (
        Axis("heads", (spec.head,)) if given_axis.name == "layers" else Axis("layers", (spec.layer,))
    )  # an axis of one value, if only one axis was given
    return rows or fixed_axis, columns or fixed_axis


def _reason_nothing_changes(axis: str, spec: Spec) -> str:
    """Why nothing changes along this axis, as a sentence of option_words.py; "" if something does."""
    way_words = f"{{what:{spec.what}}}"
    if axis == "heads" and not spec.way.of_heads:
        return f"{way_words} has no heads"
    if axis == "patches" and not spec.asks:
        return f"{way_words} is the same whoever asks"
    if axis == "layers" and spec.way.through_layers:
        return f"{way_words} goes through all layers"
    if axis == "scales" and not spec.way.of_heads:
        return f"{way_words} comes out of the whole pass, and a grid's scales are those of one layer"
    if axis == "scales" and spec.whole:
        return "its scales are those of one layer, and the whole pass ran with one"
    return ""


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


def _numbers(part: str, count: int, name: str) -> list:
    if part == "all":
        return list(range(count))
    if part in POOLINGS and name == "heads":
        return [part]
    return read_numbers(part, None, f"A grid's {name} take", name[:-1])


def needed_traces(spec: Spec) -> list[tuple[str, str]]:
    """(picture, model) of each trace that the grid needs, in order."""
    rows, columns = axes(spec)
    pictures = next((axis.values for axis in (rows, columns) if axis.name == "pictures"), (spec.image,))
    models = next((axis.values for axis in (rows, columns) if axis.name == "models"), (spec.model,))
    # by model, so that each model is loaded once
    pairs = {(picture, model): None for model in models for picture in pictures}
    return list(pairs)


def axis_title(axis: Axis, value, trace, model: str) -> str:
    """The title of a row or column."""
    if axis.name == "layers":
        return f"layer {value}"
    if axis.name == "heads":
        return {"mean": "mean", "max": "largest"}.get(value) or f"head {value}"
    if axis.name == "scales":
        return captions.scale_heading(trace, value)
    if axis.name == "patches":
        return captions.query_phrase(value) if isinstance(value, tuple) else query_words(value)
    return model if axis.name == "models" else PurePath(value).stem


# The layout -----------------------------------------------------------------------------------------------------------


def cells(spec: Spec, subject: Subject, other_subjects: Other) -> list[list[OneMap]]:
    """The panels, row by row."""
    rows, columns = axes(spec, (subject.seen.layers, subject.seen.heads))
    subjects = other_subjects if isinstance(other_subjects, dict) else {}
    return [
        [_cell(spec, subject, subjects, rows, row, columns, column) for column in columns.values] for row in rows.values
    ]


def _cell(spec: Spec, subject: Subject, other_subjects: GridSubjects, rows: Axis, row, columns: Axis, column) -> OneMap:
    cell_spec = replace(spec, **{rows.field: row, columns.field: column})
    cell_subject = other_subjects.get((cell_spec.image, cell_spec.model), subject)
    if "layers" not in (rows.name, columns.name) and cell_spec.layer is not None:
        cell_spec = replace(cell_spec, layer=maps.same_layer(cell_spec.layer, subject.seen, cell_subject.seen))
    if cell_spec.query is not None and "patches" not in (rows.name, columns.name) and cell_subject is not subject:
        cell_spec = replace(cell_spec, query=maps.same_place(cell_spec.query, subject.seen, cell_subject.seen))
    cell_spec = replace(cell_spec, label=maps.same_label(cell_spec.label, subject.seen, cell_subject.seen))
    cell_spec = replace(cell_spec, rows=None, columns=None)
    cell_spec = cell_spec.settled(cell_subject.seen, cell_spec.asks)
    return OneMap(cell_subject, cell_spec, None if spec.whole else cell_spec.scale)


def prepared(spec: Spec) -> Spec:
    unknown_count = 99  # stands for all layers or heads, whose number is not known yet
    try:
        count = prod(len(axis.values) or unknown_count for axis in axes(spec))
    except PlaygroundError:  # rows="pictures" without names, or no rows: `panels` raises this error again
        return spec
    return small_maps(spec) if count > MOST_LARGE_MAPS else spec


def panels(spec: Spec, subject: Subject, other_subjects: Other) -> list[OneMap]:
    return [panel for row in cells(spec, subject, other_subjects) for panel in row]


def draw(spec: Spec, drawn_maps: list[ShownMap], domains: list[Domain]) -> DrawnPanels:
    from playground.figures.drawing.panels import Grid, map_panel, photo_panel

    rows, columns = _axes_of(spec, drawn_maps)
    column_count = len(columns.values)
    table = [drawn_maps[i : i + column_count] for i in range(0, len(drawn_maps), column_count)]
    map_panels = iter(
        map_panel(panel, domain, is_small=True) for panel, domain in zip(drawn_maps, domains, strict=True)
    )
    body = [[next(map_panels) for _ in row] for row in table]
    column_titles = [_title(columns, panel) for panel in table[0]] if spec.columns else []
    photo = None
    if rows.name in ("pictures", "patches"):  # the picture with its query stands at the beginning of its row
        body = [
            [photo_panel(row[0].spec, row[0].subject), *row_panels] for row, row_panels in zip(table, body, strict=True)
        ]
        column_titles = column_titles and ["picture" if rows.name == "pictures" else "query", *column_titles]
    elif columns.name not in ("pictures", "patches") and spec.made_for.roomy:  # one picture and patch for all
        photo = photo_panel(drawn_maps[0].spec, drawn_maps[0].subject)
    row_titles = [_title(rows, row[0]) for row in table] if spec.rows else []
    return DrawnPanels(Grid(body, row_titles, column_titles, photo))


def _axes_of(spec: Spec, drawn_maps: list[ShownMap]) -> tuple[Axis, Axis]:
    return axes(spec, (drawn_maps[0].seen.layers, drawn_maps[0].seen.heads))


def _title(axis: Axis, panel: ShownMap) -> str:
    value = PurePath(panel.subject.name) if axis.name == "pictures" else getattr(panel.spec, axis.field)
    return axis_title(axis, value, panel.seen, naming.model(panel.seen))


def caption(spec: Spec, drawn_maps: list[ShownMap], domain: Domain) -> str:
    rows, columns = _axes_of(spec, drawn_maps)
    axis_by_side = {
        side: axis.name for side, axis, text in (("rows", rows, spec.rows), ("columns", columns, spec.columns)) if text
    }
    return captions.grid_caption(spec, drawn_maps, domain, axis_by_side)


def prefix_words(spec: Spec, drawn_maps: list[ShownMap]) -> str:
    """The shares of prefix tokens, for rows of weights. A maximum over heads is no row of weights and has none."""
    return captions.prefix_line(
        spec, [panel.map for panel in drawn_maps if panel.map.breadth is not None or not spec.way.rows]
    )


def _figure_title(spec: Spec) -> str:
    axis_names = [axis.partition(":")[0] for axis in (spec.rows, spec.columns) if axis]
    axes_in_words = captions.say("and").join(map(captions.say, axis_names))
    return captions.say("grid", "title", what=captions.capital(captions.method(spec)), along=axes_in_words)


GRID = Layout(
    "grid",
    "rows and columns, such as pictures × heads",
    panels,
    draw,
    caption,
    outside=prefix_words,
    titled=_figure_title,
    prepared=prepared,
    uses=("rows", "columns", "colours"),
    beside=lambda spec: "many",
)
