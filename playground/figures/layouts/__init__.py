"""The layouts of figures by their names: the command line, Export, addresses and the documentation read this table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from playground.errors import PlaygroundError
from playground.figures.drawing.maps import Other, Subject
from playground.figures.drawing.spec import Spec
from playground.figures.layouts.compare import COMPARE, SCALE
from playground.figures.layouts.grid import GRID
from playground.figures.layouts.heads import CONVOLUTION, HEAD, HEADS, WALL
from playground.figures.layouts.layout import Content, Layout

if TYPE_CHECKING:
    from playground.tracing import Trace

LAYOUTS = {layout.name: layout for layout in (HEAD, CONVOLUTION, HEADS, WALL, SCALE, COMPARE, GRID)}


def of(spec: Spec) -> Layout:
    if spec.layout not in LAYOUTS:
        raise PlaygroundError(f"A figure's layout is {', '.join(LAYOUTS)}; given was {spec.layout!r}.")
    return LAYOUTS[spec.layout]


def marks_query(spec: Spec) -> bool:
    """Whether the query's patch is marked on the figure."""
    layout = of(spec)
    return layout.asks or ("query" not in layout.fixed and spec.asks)


def settled(spec: Spec, trace: Trace) -> Spec:
    """The spec with the trace's and the layout's values in place of its defaults."""
    scale = of(spec).scale if spec.scale == "on" else spec.scale
    return replace(spec, scale=scale).settled(trace, marks_query(spec))


def content(spec: Spec, subject: Subject, other: Other = None) -> Content:
    """Panels, caption and numbers of the figure, before they are laid out on a sheet."""
    layout = of(spec)
    layout.check(spec)
    return layout.content(spec, subject, other)
