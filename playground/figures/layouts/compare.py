"""Layouts that compare maps side by side: of two pictures or two models, with 1/√dₖ and without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import cast

from playground.errors import PlaygroundError
from playground.figures.drawing import captions, maps, naming
from playground.figures.drawing.maps import Map, OneMap, Other, Subject
from playground.figures.drawing.spec import POOLINGS, Spec
from playground.figures.layouts.layout import Content, Layout, Panels, layer_scale, shown_maps, with_headings

NOTHING_TO_COMPARE = "What is it to be compared with? Name another picture or another model."


def requests(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    if not isinstance(other, Subject):
        raise PlaygroundError(NOTHING_TO_COMPARE)
    scale = layer_scale(spec)
    if spec.way.resembles and subject.seen.model == other.seen.model:  # similarity to one patch, in both pictures
        return [OneMap(subject, spec, scale), OneMap(other, spec, scale, asker=subject.seen)]
    head = spec.head if spec.head in POOLINGS else min(spec.head, other.seen.heads - 1)
    other_spec = replace(
        spec,
        head=head,
        layer=maps.same_layer(cast(int, spec.layer), subject.seen, other.seen),
        query=maps.same_place(spec.query, subject.seen, other.seen),
        label=maps.same_label(spec.label, subject.seen, other.seen),
    )
    return [OneMap(subject, spec, scale), OneMap(other, other_spec, scale)]


def _names(shown: list[Map]) -> list[tuple[str, str]]:
    """(heading, the line below it) of each panel: the models if they differ, else the pictures."""
    models = [naming.model(panel.seen) for panel in shown]
    pictures = [PurePath(panel.subject.name).stem for panel in shown]
    places = [captions.place(panel.spec) for panel in shown]
    if shown[0].spec.query != shown[1].spec.query:
        places = [
            f"{captions.query_phrase(panel.spec.query)}, {place}" for place, panel in zip(places, shown, strict=True)
        ]
    return list(zip(models if models[0] != models[1] else pictures, places, strict=True))


def compare(spec: Spec, subject: Subject, other: Other) -> Content:
    shown = shown_maps(requests(spec, subject, other))
    domain = maps.domain(spec, shown)
    panels = with_headings(shown, domain, _names(shown))
    places = captions.joined(dict.fromkeys(captions.place(panel.spec) for panel in shown))
    first, second = (panel.spec.query for panel in shown)
    more = f"; the same place in the other grid is {captions.query_phrase(second)}" if first != second else ""
    return Content(Panels([[*panels]]), captions.sentence(spec, shown, domain, places, more), shown, domain)


COMPARE = Layout("compare", "two pictures or two models", compare, beside="other")


def scale(spec: Spec, subject: Subject, other: Other) -> Content:
    shown = shown_maps([OneMap(subject, replace(spec, scale=scale), scale) for scale in ("on", spec.scale)])
    domain, trace = maps.domain(spec, shown), subject.seen
    names = [(captions.scale_heading(trace, panel.spec.scale), "in this layer alone") for panel in shown]
    if trace.scale == trace.native_scale:
        names[0] = (names[0][0], "as trained")
    panels = with_headings(shown, domain, names)
    caption = captions.sentence(replace(spec, scale="on"), shown, domain, captions.place(spec))
    return Content(Panels([[*panels]]), caption, shown, domain)


SCALE = Layout("scale", "with 1/√dₖ and without", scale, scale="off")
