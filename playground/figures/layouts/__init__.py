"""The layouts of figures by their names: the command line, Export, addresses and the documentation read this table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.errors import PlaygroundError
from playground.figures.drawing.one_map import Other, Subject
from playground.figures.drawing.spec import Spec
from playground.figures.layouts.atlas import ATLAS
from playground.figures.layouts.compare import CHANGE, COMPARE, SCALE
from playground.figures.layouts.curves import CURVES
from playground.figures.layouts.grid import GRID
from playground.figures.layouts.heads import COMPONENTS, CONVOLUTION, HEAD, HEADS, WALL
from playground.figures.layouts.layout import Content, Layout

if TYPE_CHECKING:
    from playground.tracing import Trace

__all__ = ["LAYOUTS", "Content", "Layout", "content", "marks", "of", "settled"]

LAYOUTS = {
    layout.name: layout
    for layout in (HEAD, CONVOLUTION, HEADS, WALL, SCALE, COMPARE, CHANGE, GRID, COMPONENTS, ATLAS, CURVES)
}


def of(spec: Spec) -> Layout:
    if spec.layout not in LAYOUTS:
        raise PlaygroundError(f"A figure's layout is {', '.join(LAYOUTS)}; given was {spec.layout!r}.")
    return LAYOUTS[spec.layout]


def marks_query(spec: Spec) -> bool:
    """Whether the query's patch is marked on the figure."""
    layout = of(spec)
    return layout.asks or ("query" not in layout.unused and layout.prepared(spec).asks)


def settled(spec: Spec, trace: Trace | None) -> Spec:
    """The spec with the trace's values in place of its defaults."""
    return spec.settled(trace, marks_query(spec))


def content(spec: Spec, subject: Subject | None, other: Other = None) -> Content:
    """Pictures, titles and caption of the figure, before they are laid out on a sheet."""
    return of(spec).content(spec, subject, other)
