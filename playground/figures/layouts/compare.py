"""Layouts that compare maps side by side: of two pictures or two models, with 1/√dₖ and without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from playground.errors import PlaygroundError
from playground.figures.drawing import captions, maps, naming
from playground.figures.drawing.maps import Domain, OneMap, Other, ShownMap, Subject
from playground.figures.drawing.spec import POOLINGS, Spec
from playground.figures.layouts.layout import (
    Content,
    Layout,
    Panels,
    bar_of,
    layer_scale,
    shared_domain,
    shown_maps,
    with_headings,
)

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
        layer=maps.same_layer(spec.layer, subject.seen, other.seen),
        query=maps.same_place(spec.query, subject.seen, other.seen),
        label=maps.same_label(spec.label, subject.seen, other.seen),
    )
    return [OneMap(subject, spec, scale), OneMap(other, other_spec, scale)]


def _names(shown: list[ShownMap]) -> list[tuple[str, str]]:
    """(heading, the line below it) of each panel: the models if they differ, else the pictures."""
    models = [naming.model(panel.seen) for panel in shown]
    pictures = [PurePath(panel.subject.name).stem for panel in shown]
    places = [captions.place(panel.spec) for panel in shown]
    if shown[0].spec.query != shown[1].spec.query:
        places = [
            f"{captions.query_phrase(panel.spec.query)}, {place}" for place, panel in zip(places, shown, strict=True)
        ]
    return list(zip(models if models[0] != models[1] else pictures, places, strict=True))


def _compared(spec: Spec, shown: list[ShownMap], domain: Domain, more: str = "") -> str:
    places = captions.joined(dict.fromkeys(captions.place(panel.spec) for panel in shown))
    first, second = (panel.spec.query for panel in shown[:2])
    same_place = f"; the same place in the other grid is {captions.query_phrase(second)}" if first != second else ""
    return captions.sentence(spec, shown, domain, places, same_place + more)


def compare(spec: Spec, subject: Subject, other: Other) -> Content:
    shown = shown_maps(requests(spec, subject, other))
    domain = shared_domain(spec, shown)
    panels = with_headings(shown, [domain] * 2, _names(shown))
    query, more = maps.patch_of(subject.seen, spec.query), ""
    if shown[1].one.asker is not None and query is not None:
        layer, match = subject.seen.upper_layer, _match(shown)
        more = f"; by the features after layer {layer}, no patch of the other picture matches it"
        if match is not None:
            more = f"; the line joins two patches that match: after layer {layer} each resembles the other most"
            panels[1] = replace(panels[1], marks=((match, "black"),), links=((query, match),))
    return Content(Panels([panels]), _compared(spec, shown, domain, more), shown, bar_of(spec, domain))


def _match(shown: list[ShownMap]) -> tuple[int, int] | None:
    """The second picture's patch that matches the query's: each resembles the other most. None if no patch does."""
    first, second = shown
    row, column = first.seen.match(second.seen)[maps.patch_of(first.seen, first.spec.query)].tolist()
    return None if row < 0 else (row, column)


COMPARE = Layout("compare", "two pictures or two models", compare, beside=lambda spec: "other", compares=True)


# Two maps, with 1/√dₖ and without it: in one layer, or from two whole passes.


def scale(spec: Spec, subject: Subject, other: Other) -> Content:
    trained = OneMap(subject, replace(spec, scale="on"), "on")
    if spec.whole and not isinstance(other, Subject):
        raise PlaygroundError("To set the scale of the whole pass beside the trained one, give both traces.")
    altered = OneMap(other, spec, None) if spec.whole else OneMap(subject, spec, spec.scale)
    shown, trace = shown_maps([trained, altered]), subject.seen
    domain = shared_domain(spec, shown)
    names = [
        (
            captions.scale_heading(trace, "on"),
            "as trained" if trace.scale == trace.native_scale else "this layer alone",
        ),
        (captions.scale_heading(trace, spec.scale), "the whole forward pass" if spec.whole else "in this layer alone"),
    ]
    panels = with_headings(shown, [domain] * 2, names)
    caption = captions.sentence(replace(spec, scale="on"), shown, domain, captions.place(spec))
    return Content(Panels([panels]), caption, shown, bar_of(spec, domain))


SCALE = Layout(
    "scale",
    "with 1/√dₖ and without",
    scale,
    prepared=lambda spec: replace(spec, scale="off" if spec.scale == "on" else spec.scale),
    beside=lambda spec: "pass" if spec.whole else "",
)
