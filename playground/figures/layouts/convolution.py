"""Attention beside what a convolution reads, in the order of the screen."""

from __future__ import annotations

from playground.figures.drawing import captions
from playground.figures.drawing.maps import Domain
from playground.figures.drawing.one_map import Shown
from playground.figures.drawing.spec import Spec
from playground.figures.layouts.layout import Drawn, Layout, one_head


def draw(spec: Spec, shown: list[Shown], spans: list[Domain]) -> Drawn:
    from playground.figures.drawing.panels import Panels, has_room, kernel_panel, map_panel, photo_panel

    (one,), (span,) = shown, spans
    sub = captions.place(spec)
    if spec.direction == "row" and spec.way.of_heads:
        sub = f"reads all {one.map.grid.size}, {sub}"
    drawn = [map_panel(one, span, captions.method(spec), sub), kernel_panel(spec, one.subject)]
    if has_room(spec, len(drawn), drawn[0].aspect):
        drawn = [photo_panel(spec, one.subject), *drawn]
    return Drawn(Panels(drawn))


CONVOLUTION = Layout(
    "convolution",
    "attention, and what a 3×3 convolution reads, side by side",
    one_head,
    draw,
    uses=("kernel", "depth"),
    asks=True,
)
