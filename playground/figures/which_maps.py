"""What a figure shows, one map after another: of which trace, which layer, head and query, and at which scale.

The layouts draw these maps, and `numbers.py` writes their numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PIL import Image

from playground.errors import PlaygroundError
from playground.figures import components, maps
from playground.figures.axes_of_grid import Axis, axes
from playground.figures.command_line import read_query
from playground.figures.maps import Map
from playground.figures.option_words import OptionError
from playground.figures.spec import ALONE, POOLED, WITHOUT_HEADS, Spec

if TYPE_CHECKING:
    from playground.tracing import Trace


@dataclass(frozen=True)
class Subject:
    seen: Trace
    image: Image.Image
    name: str


@dataclass(frozen=True)
class OneMap:
    subject: Subject
    spec: Spec  # its layer, its head and its query are those of this map
    scale: str | None  # of this layer; None: what the pass ran with
    asker: Trace | None = None  # of similarity between two pictures: the trace whose patch asks

    def map(self) -> Map:
        return maps.look(self.subject.seen, self.spec, self.spec.layer, self.spec.head, self.scale, self.asker)


def maps_of(asks: list[OneMap]) -> list[Map]:
    """What each of them shows. Colours of features are made together: alike is what has the same colour."""
    make = {"components": components.maps, "parts": components.parts}.get(asks[0].spec.what)
    if make:
        return make([(one.subject.seen, one.spec.layer) for one in asks])
    return [one.map() for one in asks]


MOST_QUERIES = 6  # in one picture
Others = dict[tuple[str, str], Subject]  # of a grid: (picture, model) -> its trace


def maps_shown(spec: Spec, subject: Subject, other: Subject | Others | None = None) -> list[OneMap]:
    """In reading order. The layout atlas shows averages, and curves no picture at all: they have none."""
    seen = subject.seen
    scale = None if spec.whole else spec.scale  # a whole pass ran with it already
    if spec.layout == "scale":
        return _scales(spec, subject, other)
    if spec.layout == "grid":
        return [one for row in grid(spec, subject, other) for one in row]
    if spec.layout == "compare":
        return _two(spec, subject, other, scale)
    if spec.layout == "head" and spec.other_queries:
        queries = [spec.query, *(read_query(place) for place in spec.other_queries.split("-"))]
        if len(queries) > MOST_QUERIES:
            raise PlaygroundError(
                f"At most {MOST_QUERIES} patches have colours of their own; given were {len(queries)}."
            )
        return [OneMap(subject, replace(spec, query=query), scale) for query in queries]
    layers = range(seen.layers) if spec.layout == "wall" else [spec.layer]
    heads = range(seen.heads) if spec.layout in ("wall", "heads") else [spec.head]
    return [OneMap(subject, replace(spec, layer=layer, head=head), scale) for layer in layers for head in heads]


def _scales(spec: Spec, subject: Subject, other: Subject | None) -> list[OneMap]:
    if spec.what in WITHOUT_HEADS and not spec.whole:
        raise OptionError("The scale of one layer changes nothing in {}: add {whole:True}.", spec.what)
    altered = "off" if spec.scale == "on" else spec.scale
    on = OneMap(subject, replace(spec, scale="on"), "on")
    if not spec.whole:
        return [on, OneMap(subject, replace(spec, scale=altered), altered)]
    if other is None:
        raise PlaygroundError("To set the scale of the whole pass beside the trained one, give both traces.")
    return [on, OneMap(other, replace(spec, scale=altered), None)]


def _two(spec: Spec, subject: Subject, other: Subject | None, scale: str | None) -> list[OneMap]:
    if other is None:
        raise OptionError(ALONE)
    if spec.what == "similarity" and subject.seen.model == other.seen.model:  # of one patch, in both pictures
        return [OneMap(subject, spec, scale), OneMap(other, spec, scale, asker=subject.seen)]
    query = maps.same_place(spec.query, subject.seen, other.seen)
    layer = maps.same_layer(spec.layer, subject.seen, other.seen)
    head = spec.head if spec.head in POOLED else min(spec.head, other.seen.heads - 1)
    label = maps.same_label(spec.label, subject.seen, other.seen)
    theirs = replace(spec, query=query, layer=layer, head=head, label=label)
    return [OneMap(subject, spec, scale), OneMap(other, theirs, scale)]


def grid(spec: Spec, subject: Subject, others: Others | None) -> list[list[OneMap]]:
    """Rows of columns."""
    rows, columns = axes(spec, (subject.seen.layers, subject.seen.heads))
    return [
        [_cell(spec, subject, others or {}, rows, row, columns, column) for column in columns.values]
        for row in rows.values
    ]


def _cell(spec: Spec, subject: Subject, others: Others, rows: Axis, row, columns: Axis, column) -> OneMap:
    mine = replace(spec, **{rows.field: row, columns.field: column})
    one = others.get((mine.image, mine.model), subject)
    if "layers" not in (rows.name, columns.name) and mine.layer is not None:
        mine = replace(mine, layer=maps.same_layer(mine.layer, subject.seen, one.seen))
    if mine.query is not None and "patches" not in (rows.name, columns.name) and one is not subject:
        mine = replace(mine, query=maps.same_place(mine.query, subject.seen, one.seen))
    mine = replace(mine, label=maps.same_label(mine.label, subject.seen, one.seen))
    mine = replace(mine, layout="head").settled(one.seen)
    return OneMap(one, mine, None if spec.whole else mine.scale)
