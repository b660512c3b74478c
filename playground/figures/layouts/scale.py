"""With 1/√dₖ and without: of one layer, or of two whole passes."""

from __future__ import annotations

from dataclasses import replace

from playground.errors import PlaygroundError
from playground.figures.drawing import captions
from playground.figures.drawing.maps import Domain
from playground.figures.drawing.one_map import OneMap, Other, Shown, Subject
from playground.figures.drawing.spec import Spec
from playground.figures.layouts.layout import Drawn, Layout, headed, outside_of_each


def panels(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    on = OneMap(subject, replace(spec, scale="on"), "on")
    if not spec.whole:
        return [on, OneMap(subject, spec, spec.scale)]
    if other is None:
        raise PlaygroundError("To set the scale of the whole pass beside the trained one, give both traces.")
    return [on, OneMap(other, spec, None)]


def names(spec: Spec, shown: list[Shown]) -> list[tuple[str, str]]:
    """(heading, what stands beneath it)"""
    seen = shown[0].seen
    trained = captions.say("scaled_in", "trained" if seen.scale == seen.native_scale else "")
    where = captions.say("scaled_in", "pass" if spec.whole else "")
    return [(captions.scaled(seen, "on"), trained), (captions.scaled(seen, spec.scale), where)]


def draw(spec: Spec, shown: list[Shown], spans: list[Domain]) -> Drawn:
    return headed(shown, spans, names(spec, shown))


def caption(spec: Spec, shown: list[Shown], span: Domain) -> str:
    return captions.caption(replace(spec, scale="on"), shown, span, captions.place(spec))


SCALE = Layout(
    "scale",
    "with 1/√dₖ and without",
    panels,
    draw,
    caption,
    outside=lambda spec, shown: outside_of_each(spec, shown, names(spec, shown)),
    prepared=lambda spec: replace(spec, scale="off" if spec.scale == "on" else spec.scale),
    uses=("colours",),
    beside=lambda spec: "pass" if spec.whole else "",
)
