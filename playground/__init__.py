"""The Attention Playground: see whom every patch of an image listens to, in every head and layer of a real ViT.

import playground

vit   = playground.load("vit_small_patch14_dinov2.lvd142m")  # or "bundled", "untrained", "my.safetensors"
image = playground.open_image("cat.jpg")
seen  = playground.trace(vit, image)
seen.row(layer=8, head=3, query=(7, 5))                      # float32 (tokens,), sums to 1
"""

from importlib import import_module
from typing import TYPE_CHECKING

from playground.version import __version__

if TYPE_CHECKING:
    from playground.errors import PlaygroundError
    from playground.images import open_image
    from playground.tracing import Trace, trace
    from playground.zoo import load

__all__ = ["PlaygroundError", "Trace", "__version__", "load", "open_image", "trace"]

_HOME = {"PlaygroundError": "errors", "open_image": "images", "trace": "tracing", "Trace": "tracing", "load": "zoo"}


def __getattr__(name: str):
    """Each name is fetched when it is first used: the web app paints its first picture before torch is imported."""
    if name not in _HOME:
        raise AttributeError(f"module 'playground' has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"playground.{_HOME[name]}"), name)
    return globals()[name]
