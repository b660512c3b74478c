"""What Python shows of a trace: `show`, the living microscope in Jupyter, and `figure`, a matplotlib figure."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from PIL import Image

from playground.figures import html as export
from playground.figures.compose import draw
from playground.figures.sheet import Drawing
from playground.figures.spec import Spec
from playground.tracing import Query, Scale, Trace

HEIGHT = 600  # pixels: all of it at the width of a notebook's cell


@dataclass(frozen=True)
class Living:
    """A page that is displayed in a frame of its own, which can neither see nor touch the notebook around it."""

    page: str = field(repr=False)
    title: str

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{html.escape(self.title)}" srcdoc="{html.escape(self.page)}" '
            f'sandbox="allow-scripts allow-downloads" allow="fullscreen" '
            f'style="display: block; width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )


def show(
    seen: Trace,
    layer: int | None = None,
    head: int = 0,
    query: Query | None = None,
    scale: Scale = None,
    *,
    layers: Iterable[int] | None = None,
    heads: Iterable[int] | None = None,
    image: Image.Image | None = None,
) -> Living:
    """The living microscope in Jupyter, with no server. It starts at this layer, head and patch. It holds all layers
    where the page stays small with them, else this one; `layers` and `heads` choose others. It shows the picture as
    the model saw it, unless a finer `image` of it is given."""
    spec = Spec(model=seen.model, layer=layer, head=head, query=query, scale="on" if scale is None else str(scale))
    spec = replace(spec, heads=None if heads is None else tuple(heads))
    spec = export.light(spec, seen, image) if layers is None else replace(spec, layers=tuple(layers))
    return Living(export.page(spec, seen, image), f"{seen.model}: whom each patch listens to")


def figure(
    seen: Trace,
    layer: int | None = None,
    head: int = 0,
    query: Query | None = None,
    scale: Scale = None,
    *,
    image: Image.Image | None = None,
    other: Trace | None = None,
    other_image: Image.Image | None = None,
    **choice: Any,
) -> Drawing:
    """A matplotlib figure to go on editing. `choice` is whatever playground.figures.Spec knows: layout, purpose, theme,
    …; `image` is a finer picture than the model saw, `other` what it is compared with. No scale means the one that the
    pass ran with; another one is taken for this layer alone, and the caption says so."""
    as_it_ran = seen.scale_number(scale) == seen.scale
    if as_it_ran and seen.scale != seen.native_scale:
        choice = {"whole": True} | choice
    given = ("on" if seen.scale == seen.native_scale else seen.scale) if as_it_ran else scale
    spec = Spec(model=seen.model, layer=layer, head=head, query=query, scale=str(given), **choice)
    return draw(spec, seen, image, other=other, other_image=other_image)
