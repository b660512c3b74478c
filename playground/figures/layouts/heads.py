"""All heads of a layer."""

from __future__ import annotations

from dataclasses import replace

from playground.figures.drawing import captions
from playground.figures.drawing.one_map import OneMap, Other, Subject
from playground.figures.drawing.spec import Spec
from playground.figures.layouts.layout import Layout, layer_scale


def panels(spec: Spec, subject: Subject, other: Other) -> list[OneMap]:
    heads = range(subject.seen.heads)
    return [OneMap(subject, replace(spec, head=head), layer_scale(spec)) for head in heads]


HEADS = Layout(
    "heads",
    "all heads of a layer",
    panels,
    caption=lambda spec, shown, span: captions.caption(spec, shown, span, f"layer {spec.layer}"),
    where=lambda spec: f"all heads of layer {spec.layer}",
    uses=("colours",),
    unused={"head": "the layout shows all heads"},
    of_heads=True,
)
