"""The colours of features after a layer: what --what components shows, by a name of its own."""

from __future__ import annotations

from dataclasses import replace

from playground.figures.layouts.head import HEAD
from playground.figures.layouts.layout import Layout, one_head
from playground.models.names import plain_name

ALIKE = "the layout components shows all patches alike"
COLOURS = "the colours of features are no numbers on a scale"

COMPONENTS = Layout(
    "components",
    "the colours of the features after a layer: their first three principal components",
    one_head,
    HEAD.draw,
    titled=lambda spec: f"Colours of features of {plain_name(spec.model)}, after layer {spec.layer}",
    prepared=lambda spec: replace(spec, what="components"),
    unused={
        **dict.fromkeys(("query", "head", "direction", "what", "marker"), ALIKE),
        **dict.fromkeys(("over", "mass", "mask"), COLOURS),
    },
    one_pass=True,
)
