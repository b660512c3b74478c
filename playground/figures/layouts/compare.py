"""Layouts that compare maps side by side: of two pictures or two models, with 1/√dₖ and without it, before and after a
change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

import numpy as np

from playground.errors import PlaygroundError
from playground.figures.drawing import captions, maps, naming, tables
from playground.figures.drawing.maps import Domain, Map
from playground.figures.drawing.one_map import OneMap, Other, ShownMap, Subject, maps_of
from playground.figures.drawing.option_words import OptionError
from playground.figures.drawing.spec import NOTHING_TO_COMPARE, POOLINGS, Spec
from playground.figures.layouts.layout import (
    DrawnPanels,
    Layout,
    default_domains,
    layer_scale,
    prefix_words_of_each,
    with_headings,
)


def panels(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    if other is None:
        raise OptionError(NOTHING_TO_COMPARE)
    scale = layer_scale(spec)
    if spec.way.resembles and subject.seen.model == other.seen.model:  # similarity to one patch, in both pictures
        return [OneMap(subject, spec, scale), OneMap(other, spec, scale, asker=subject.seen)]
    query = maps.same_place(spec.query, subject.seen, other.seen)
    layer = maps.same_layer(spec.layer, subject.seen, other.seen)
    head = spec.head if spec.head in POOLINGS else min(spec.head, other.seen.heads - 1)
    label = maps.same_label(spec.label, subject.seen, other.seen)
    other_spec = replace(spec, query=query, layer=layer, head=head, label=label)
    return [OneMap(subject, spec, scale), OneMap(other, other_spec, scale)]


def panel_headings(drawn_maps: list[ShownMap]) -> list[tuple[str, str]]:
    """(heading, the line beneath it) of each panel"""
    models = [naming.model(panel.seen) for panel in drawn_maps]
    pictures = [PurePath(panel.subject.name).stem for panel in drawn_maps]
    headings = models if models[0] != models[1] else pictures
    places = [captions.place(panel.spec) for panel in drawn_maps]
    if drawn_maps[0].spec.query != drawn_maps[1].spec.query:
        places = [
            f"{captions.query_phrase(panel.spec.query)}, {place}"
            for place, panel in zip(places, drawn_maps, strict=True)
        ]
    return list(zip(headings, places, strict=True))


def match(drawn_maps: list[ShownMap]) -> tuple[int, int] | None:
    """The second picture's patch that matches the query's: each resembles the other most. None if no patch does."""
    first, second = drawn_maps
    query_patch = maps.patch_of(first.seen, first.spec.query)
    row, column = first.seen.match(second.seen)[query_patch].tolist()
    return None if row < 0 else (row, column)


def _is_matched(drawn_maps: list[ShownMap]) -> bool:
    first, second = drawn_maps
    return second.one.asker is not None and maps.patch_of(first.seen, first.spec.query) is not None


def draw(spec: Spec, drawn_maps: list[ShownMap], domains: list[Domain]) -> DrawnPanels:
    drawing = with_headings(drawn_maps, domains, panel_headings(drawn_maps))
    matching_patch = match(drawn_maps) if _is_matched(drawn_maps) else None
    return drawing if matching_patch is None else _with_line(spec, drawn_maps, drawing, matching_patch)


def _with_line(
    spec: Spec, drawn_maps: list[ShownMap], drawing: DrawnPanels, matching_patch: tuple[int, int]
) -> DrawnPanels:
    """Adds a line from the query's patch to its match in the other picture, as on the screen."""
    first, second = drawing.body.panels
    query_patch = maps.patch_of(drawn_maps[0].seen, spec.query)
    first_axes: list = []

    def draw_first(sheet, axes, box) -> None:
        first.draw(sheet, axes, box)
        first_axes.append(axes)

    def draw_second(sheet, axes, box) -> None:
        second.draw(sheet, axes, box)
        sheet.mark(axes, matching_patch, box, colour="black")
        if spec.marker:
            sheet.line(first_axes[0], query_patch, axes, matching_patch)

    return replace(
        drawing, body=type(drawing.body)([replace(first, draw=draw_first), replace(second, draw=draw_second)])
    )


def caption(spec: Spec, drawn_maps: list[ShownMap], domain: Domain) -> str:
    models_and_places = dict.fromkeys(
        captions.model_and_place(panel.seen, spec, captions.place(panel.spec)) for panel in drawn_maps
    )
    sentences = captions.sentences(spec, drawn_maps, domain, captions.say("and", "models").join(models_and_places))
    if not _is_matched(drawn_maps):
        return sentences
    layer = drawn_maps[0].seen.upper_layer
    if match(drawn_maps) is None:
        return f"{sentences} {captions.say('match', 'none', layer=layer)}"
    return f"{sentences} {captions.say('match', layer=layer)}"


COMPARE = Layout(
    "compare",
    "two pictures or two models",
    panels,
    draw,
    caption,
    outside=lambda spec, shown: prefix_words_of_each(spec, shown, panel_headings(shown)),
    uses=("other_image", "other_model", "colours"),
    beside=lambda spec: "other",
)


# Two maps, with 1/√dₖ and without it: in one layer, or from two whole passes.


def scale_panels(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    trained_panel = OneMap(subject, replace(spec, scale="on"), "on")
    if not spec.whole:
        return [trained_panel, OneMap(subject, spec, spec.scale)]
    if other is None:
        raise PlaygroundError("To set the scale of the whole pass beside the trained one, give both traces.")
    return [trained_panel, OneMap(other, spec, None)]


def scale_headings(spec: Spec, drawn_maps: list[ShownMap]) -> list[tuple[str, str]]:
    """(heading, the line beneath it) of each panel"""
    trace = drawn_maps[0].seen
    trained_words = captions.say("scaled_in", "trained" if trace.scale == trace.native_scale else "")
    place = captions.say("scaled_in", "pass" if spec.whole else "")
    return [(captions.scale_heading(trace, "on"), trained_words), (captions.scale_heading(trace, spec.scale), place)]


def draw_scale(spec: Spec, drawn_maps: list[ShownMap], domains: list[Domain]) -> DrawnPanels:
    return with_headings(drawn_maps, domains, scale_headings(spec, drawn_maps))


def scale_caption(spec: Spec, drawn_maps: list[ShownMap], domain: Domain) -> str:
    return captions.caption(replace(spec, scale="on"), drawn_maps, domain, captions.place(spec))


SCALE = Layout(
    "scale",
    "with 1/√dₖ and without",
    scale_panels,
    draw_scale,
    scale_caption,
    outside=lambda spec, shown: prefix_words_of_each(spec, shown, scale_headings(spec, shown)),
    prepared=lambda spec: replace(spec, scale="off" if spec.scale == "on" else spec.scale),
    uses=("colours",),
    beside=lambda spec: "pass" if spec.whole else "",
)


# Three maps: before, after, and their difference patch by patch. The first two are of one model at two moments of its
# training, or of two models.


def change_panels(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    """Requests for the maps before and after, and a third for their difference: see `both_and_change`."""
    if spec.way.coloured:
        raise PlaygroundError(f"Colours have no difference that could be drawn: {spec.what} has the layout compare.")
    panel_before, panel_after = panels(spec, subject, other)
    grids = [panel.subject.seen.grid for panel in (panel_before, panel_after)]
    if grids[0] != grids[1]:
        sizes = " and ".join(f"{rows} × {columns}" for rows, columns in grids)
        raise PlaygroundError(
            f"A change is drawn patch by patch, and these passes have {sizes} patches: trace both with one size."
        )
    return [panel_before, panel_after, panel_after]


def both_and_change(requests: list[OneMap]) -> list[Map]:
    map_before, map_after = maps_of(requests[:2])
    shares_before = dict(map_before.prefix)
    prefix = tuple((name, share - shares_before.get(name, 0.0)) for name, share in map_after.prefix)
    values = None
    if (
        map_before.values is not None
        and map_after.values is not None
        and len(map_before.values) == len(map_after.values)
    ):
        values = map_after.values - map_before.values
    return [map_before, map_after, Map(map_after.grid - map_before.grid, prefix, None, values=values)]


def expose_change(spec: Spec, drawn_maps: list[ShownMap]) -> tuple[Domain, list[Domain]]:
    """The domains that `default_domains` gives, and for the change a signed domain of its own around zero."""
    bar_domain, map_domains = default_domains(spec, drawn_maps[:2])
    return bar_domain, [*map_domains, _around_zero(spec, drawn_maps[2].map)]


def _around_zero(spec: Spec, map_: Map) -> Domain:
    high = float(np.abs(map_.grid).max()) or 1.0
    return Domain(-high, high, captions.say("change"), percent=spec.in_percent, signed=True)


def change_headings(drawn_maps: list[ShownMap]) -> list[tuple[str, str]]:
    return [*panel_headings(drawn_maps[:2]), (captions.say("change"), captions.say("change", "signs"))]


def draw_change(spec: Spec, drawn_maps: list[ShownMap], domains: list[Domain]) -> DrawnPanels:
    return with_headings(drawn_maps, domains, change_headings(drawn_maps))


def change_caption(spec: Spec, drawn_maps: list[ShownMap], domain: Domain) -> str:
    change = _around_zero(spec, drawn_maps[2].map)
    size = (captions.percent if change.percent else captions.number)(change.high)
    return f"{caption(spec, drawn_maps[:2], domain)} {captions.say('change', 'size', size=size)}"


def change_numbers(spec: Spec, drawn_maps: list[ShownMap]) -> list[tables.Table]:
    (change,) = tables.of_maps(spec, drawn_maps[2:])
    table = replace(change, maps=[map_keys | {"change": "after less before"} for map_keys in change.maps])
    return [*tables.of_maps(spec, drawn_maps[:2]), table]


CHANGE = Layout(
    "change",
    "before, after, and what has changed: of one picture in two models, or of a file that watch wrote",
    change_panels,
    draw_change,
    change_caption,
    change_numbers,
    outside=lambda spec, shown: prefix_words_of_each(spec, shown[:2], panel_headings(shown[:2])),
    maps=both_and_change,
    expose=expose_change,
    uses=("other_image", "other_model", "colours"),
    beside=lambda spec: "other",
    patch_by_patch=True,
)
