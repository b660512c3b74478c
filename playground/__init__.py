"""The Attention Playground: see whom every patch of an image listens to, in every head and layer of a real ViT.

import playground

vit   = playground.load("vit_small_patch14_dinov2.lvd142m")  # or "bundled", "untrained", "my.safetensors"
image = playground.open_image("cat.jpg")
seen  = playground.trace(vit, image)
seen.row(layer=8, head=3, query=(7, 5))                      # float32 (tokens,), sums to 1
playground.show(seen, layer=8, head=3)                       # in a notebook: the living microscope
playground.figure(seen, layer=8, head=3)                     # a matplotlib figure
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from playground.version import __version__

if TYPE_CHECKING:
    from playground.errors import PlaygroundError
    from playground.figures.notebook import figure, show
    from playground.images import open_image
    from playground.tracing import Trace, trace
    from playground.zoo import load

__all__ = ["PlaygroundError", "Trace", "__version__", "figure", "load", "open_image", "show", "trace"]

_HOME = {  # where each name lives
    "PlaygroundError": "errors",
    "Trace": "tracing",
    "figure": "figures.notebook",
    "load": "zoo",
    "open_image": "images",
    "show": "figures.notebook",
    "trace": "tracing",
}


def __getattr__(name: str) -> Any:
    """Imports each name when it is first used: the web app shows its first picture before torch is imported."""
    if name not in _HOME:
        raise AttributeError(f"module 'playground' has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"playground.{_HOME[name]}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)
