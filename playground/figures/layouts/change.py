"""Before, after, and what has changed: of one picture while a model learns, or in two models, patch by patch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from playground.errors import PlaygroundError
from playground.figures.drawing import captions, tables
from playground.figures.drawing.maps import Domain, Map
from playground.figures.drawing.one_map import OneMap, Other, Shown, Subject, maps_of
from playground.figures.drawing.spec import Spec
from playground.figures.layouts import compare
from playground.figures.layouts.layout import Drawn, Layout, exposed, headed, outside_of_each


def panels(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    """The third is the second's, less the first."""
    if spec.way.coloured:
        raise PlaygroundError(f"Colours have no difference that could be drawn: {spec.what} has the layout compare.")
    before, after = compare.panels(spec, subject, other)
    grids = [one.subject.seen.grid for one in (before, after)]
    if grids[0] != grids[1]:
        sizes = " and ".join(f"{rows} × {columns}" for rows, columns in grids)
        raise PlaygroundError(
            f"A change is drawn patch by patch, and these passes have {sizes} patches: trace both with one size."
        )
    return [before, after, after]


def both_and_less(asks: list[OneMap]) -> list[Map]:
    before, after = maps_of(asks[:2])
    shared = dict(before.prefix)
    prefix = tuple((name, share - shared.get(name, 0.0)) for name, share in after.prefix)
    values = None
    if before.values is not None and after.values is not None and len(before.values) == len(after.values):
        values = after.values - before.values
    return [before, after, Map(after.grid - before.grid, prefix, None, values=values)]


def expose(spec: Spec, shown: list[Shown]) -> tuple[Domain, list[Domain]]:
    """The change has an exposure of its own, around nothing."""
    span, spans = exposed(spec, shown[:2])
    return span, [*spans, _around_zero(spec, shown[2].map)]


def _around_zero(spec: Spec, map_: Map) -> Domain:
    high = float(np.abs(map_.grid).max()) or 1.0
    return Domain(-high, high, captions.say("change"), percent=spec.in_percent, signed=True)


def names(shown: list[Shown]) -> list[tuple[str, str]]:
    return [*compare.names(shown[:2]), (captions.say("change"), captions.say("change", "signs"))]


def draw(spec: Spec, shown: list[Shown], spans: list[Domain]) -> Drawn:
    return headed(shown, spans, names(shown))


def caption(spec: Spec, shown: list[Shown], span: Domain) -> str:
    change = _around_zero(spec, shown[2].map)
    size = (captions.percent if change.percent else captions.number)(change.high)
    return f"{compare.caption(spec, shown[:2], span)} {captions.say('change', 'size', size=size)}"


def numbers(spec: Spec, shown: list[Shown]) -> list[tables.Table]:
    (change,) = tables.of_maps(spec, shown[2:])
    named = replace(change, maps=[one | {"change": "after less before"} for one in change.maps])
    return [*tables.of_maps(spec, shown[:2]), named]


CHANGE = Layout(
    "change",
    "before, after, and what has changed: of one picture in two models, or of a file that watch wrote",
    panels,
    draw,
    caption,
    numbers,
    outside=lambda spec, shown: outside_of_each(spec, shown[:2], names(shown)[:2]),
    maps=both_and_less,
    expose=expose,
    uses=("other_image", "other_model", "colours"),
    beside=lambda spec: "other",
)
