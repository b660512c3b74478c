"""What Python's `trace` takes: whatever a person has in their hands."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import Image
from torch import nn

from playground import tracing
from playground.errors import PlaygroundError
from playground.models.loading import load
from playground.pictures.images import Source, given_input, open_image
from playground.samples import named
from playground.tracing import Scale, Trace
from playground.vit import VisionTransformer


def trace(
    vit: nn.Module | str | os.PathLike[str],
    image: Source | None = None,
    *,
    size: tuple[int, int] | None = None,
    scale: Scale = None,
    cut: Sequence[str] | str = (),
    pixel_values: Any = None,
) -> Trace:
    """One forward pass, remembered. `vit` is what `load` gives, or what it takes. `image` is a picture: PIL's, a path,
    bytes, a file object, the name of a sample such as "meadow", an array or a tensor of (height, width, 3) or (3,
    height, width), bytes or 0 … 1. `size` is the input's (height, width): by default the area that the model was
    trained on, with the picture's aspect; a batch of one picture in fractions, (1, 3, height, width), keeps its own.
    `pixel_values`, instead of a picture, is exactly what the model gets: (1, 3, height, width), normalised already, or
    what an image processor of `transformers` gives. `scale` replaces 1/√d_k in every layer. `cut` says who may not hear
    whom, such as "7,5>3,2" or "*>3x3@4": see playground/cuts.py.

    >>> playground.trace("untrained", "meadow")
    Trace(untrained: 6 layers × 6 heads, 14 × 14 patches)
    """
    vit = _vit(vit)
    if pixel_values is not None:
        if image is not None or size is not None:
            raise PlaygroundError("pixel_values= is all that the model gets: leave the picture and size= out.")
        return tracing.trace_input(vit, given_input(pixel_values), scale=scale, cut=cut)
    if image is None:
        raise PlaygroundError("trace takes a picture, or the model's input as pixel_values=.")
    size = _of_a_batch(image) if size is None else size
    picture, name = _picture(image)
    if size is None and (sample := named(name)) and sample.look and sample.look.model == vit.name:
        rows, columns = sample.look.grid  # as the command line and the app see this sample
        size = rows * vit.config.patch_size, columns * vit.config.patch_size
    return tracing.trace(vit, picture, size=size, scale=scale, cut=cut).of(picture, name)


def _of_a_batch(image: Any) -> tuple[int, int] | None:
    """The size of a batch of one picture in fractions, which somebody made for a model: another grid would surprise."""
    shape, kind = tuple(getattr(image, "shape", ())), str(getattr(image, "dtype", ""))
    return (shape[2], shape[3]) if len(shape) == 4 and shape[1] == 3 and "float" in kind else None


def _vit(vit: nn.Module | str | os.PathLike[str]) -> VisionTransformer:
    if isinstance(vit, str | os.PathLike):
        vit = _model(os.fspath(vit))
    if isinstance(vit, nn.Module) and not isinstance(vit, VisionTransformer):
        vit = load(vit)
    if not isinstance(vit, VisionTransformer):
        raise PlaygroundError(
            "trace takes a model that playground.load gave, or the name of one, or a Vision Transformer of timm or "
            f"transformers; given was {type(vit).__name__}."
        )
    return vit


def _picture(image: Source) -> tuple[Image.Image, str]:
    """(the picture, its name)"""
    if not isinstance(image, str | os.PathLike):
        opened = open_image(image)
        return opened, opened.filename  # type: ignore[attr-defined]
    name = os.fspath(image)
    sample = named(name) if isinstance(name, str) and not Path(name).exists() else None
    return open_image(sample.path if sample else image), str(name)


@lru_cache(maxsize=2)
def _model(name: str) -> VisionTransformer:
    return load(name)
