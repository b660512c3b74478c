"""The Attention Playground: see whom every patch of an image listens to, in every head and layer of a real ViT.

```python
import playground

vit = playground.load("dinov2-small")  # or a timm name, "bundled", "my.safetensors"
seen = playground.trace(vit, "cat.jpg")  # or an image, an array, a tensor, a sample's name
seen.row(layer=8, head=3, query=(7, 5))  # float32 (tokens,), sums to 1
playground.show(seen, layer=8, head=3)  # in a notebook: the living microscope
playground.widget(seen)  # the same, whose layer, head and query follow the cursor
playground.figure(seen, layer=8, head=3)  # a matplotlib figure
playground.save(seen, "cat.pdf", layer=8, head=3)  # the same as a file; .npz, .csv: its numbers
```
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from playground.version import __version__

if TYPE_CHECKING:
    from playground.errors import PlaygroundError
    from playground.face import Trace, trace
    from playground.figures.many import trace_many
    from playground.figures.notebook import figure, save, show, widget
    from playground.figures.place import place_share
    from playground.figures.sweeping import sweep
    from playground.figures.watching import watch, watched
    from playground.from_attention import from_attention
    from playground.models.checking import check
    from playground.models.loading import load
    from playground.pictures.images import open_image
    from playground.version import cite

__all__ = [
    "PlaygroundError",
    "Trace",
    "__version__",
    "check",
    "cite",
    "figure",
    "from_attention",
    "load",
    "open_image",
    "place_share",
    "save",
    "show",
    "sweep",
    "trace",
    "trace_many",
    "watch",
    "watched",
    "widget",
]

_MODULES = {  # where each name lives
    "PlaygroundError": "errors",
    "Trace": "face",
    "check": "models.checking",
    "cite": "version",
    "figure": "figures.notebook",
    "from_attention": "from_attention",
    "load": "models.loading",
    "open_image": "pictures.images",
    "place_share": "figures.place",
    "save": "figures.notebook",
    "show": "figures.notebook",
    "sweep": "figures.sweeping",
    "trace": "face",
    "trace_many": "figures.many",
    "watch": "figures.watching",
    "watched": "figures.watching",
    "widget": "figures.notebook",
}


if not TYPE_CHECKING:  # a type checker, which knows the names from above, finds others wrong

    def __getattr__(name: str) -> Any:
        """Imports each name when it is first used: the web app shows its first picture before torch is imported."""
        if name not in _MODULES:
            raise AttributeError(f"module 'playground' has no attribute {name!r}")
        globals()[name] = getattr(import_module(f"playground.{_MODULES[name]}"), name)
        return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)
