"""The microscope in a notebook: what Jupyter displays for `seen.show(layer=8, head=3)`."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass, field

from PIL import Image

from playground.figures import html as export
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
    """The microscope on one layer, head and patch. It holds all layers where they are light, else this one; `layers`
    says which it shall hold. It shows the picture as the model saw it, unless a finer `image` of it is given."""
    start = {"layer": layer, "head": head, "query": query, "scale": scale}
    view = {key: value for key, value in start.items() if value is not None}
    choice = {"heads": heads, "view": view}
    layers = export.light(seen, image, layer, **choice) if layers is None else layers
    return Living(export.page(seen, image, layers=layers, **choice), f"{seen.model}: whom each patch listens to")
