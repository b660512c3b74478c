"""Python's `trace`, which accepts models and pictures in many forms."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import Image
from torch import Tensor, nn

from playground import tracing
from playground.analysis.interventions import Trace as Trace
from playground.analysis.interventions import as_function
from playground.errors import PlaygroundError
from playground.models import own_pass, timm_models
from playground.models.loading import load
from playground.pictures.images import Source, given_input, model_input, open_image
from playground.samples import find
from playground.tracing import Keep, Scale
from playground.vit import At, VisionTransformer


def trace(
    vit: nn.Module | str | os.PathLike[str],
    image: Source | None = None,
    *,
    size: tuple[int, int] | None = None,
    scale: Scale = None,
    cut: Sequence[str] | str = (),
    at: At | Mapping[str, Callable[[Tensor], Tensor]] | None = None,
    grad: bool = False,
    keep: Keep = "float32",
    transform: Callable[[Image.Image], Any] | None = None,
    pixel_values: Any = None,
) -> Trace:
    """One forward pass, remembered. `vit` is what `load` gives, or what it takes. `image` is a picture: PIL's, a path,
    bytes, a file object, the name of a sample such as "meadow", an array or a tensor of (height, width, 3) or (3,
    height, width), bytes or 0 … 1. `size` is the input's (height, width): by default the area that the model was
    trained on, with the picture's aspect; a batch of one picture in fractions, (1, 3, height, width), keeps its own.
    `pixel_values`, instead of a picture, is exactly what the model gets: (1, 3, height, width), normalised already, or
    what an image processor of `transformers` gives. `transform` is your own way from a picture to that: the pixels that
    it gives are what runs, and what is drawn. `scale` replaces 1/√d_k in every layer. `cut` says who may not hear
    whom, such as `7,5>3,2` or `*>3x3@4`: see playground/cuts.py.

    `at` puts something else into the pass, at the points that `vit.points()` lists: {point: function of the tensor
    there}, or a function of a point and a tensor, which it gives back where nothing changes. The tensors are those of
    the pass, on its device. With `grad` the graph is kept: `seen.logits` and `seen.record` (as with keep="model") can
    be differentiated. `keep` says how queries, keys and values are held: "float32" on the pass's device, "model" there
    in the model's precision (half as many bytes in a half), "host" in main memory in float32. Rows are float32 in each.

    >>> playground.trace("untrained", "meadow")
    Trace(untrained: 6 layers × 6 heads, 14 × 14 patches)
    """
    if isinstance(vit, nn.Module) and own_pass.is_needed(vit):
        if scale is not None or cut or at is not None or grad or keep != "float32":
            raise PlaygroundError(f"{type(vit).__name__} runs by itself: leave scale=, cut=, at=, grad=, keep= out.")
        return _trace_of_own_pass(vit, image, size, transform, pixel_values)
    vit = _vit(vit)
    options: dict[str, Any] = {"scale": scale, "cut": cut, "at": as_function(vit, at), "grad": grad, "keep": keep}
    if pixel_values is not None:
        if image is not None or size is not None or transform is not None:
            raise PlaygroundError("pixel_values= is all that the model gets: leave the picture, size=, transform= out.")
        pixels = given_input(pixel_values)
        if len(pixels) > 1:
            raise PlaygroundError(f"pixel_values holds {len(pixels)} pictures: trace each by itself.")
        return Trace(**vars(tracing.trace_input(vit, pixels, **options)))
    if image is None:
        raise PlaygroundError("trace takes a picture, or the model's input as pixel_values=.")
    if transform is not None:
        if size is not None:
            raise PlaygroundError("transform= decides the input's size: leave size= out.")
        return _trace_transformed(vit, image, transform, options)
    size = _size_of_batch(image) if size is None else size
    picture, name = _picture(image)
    if size is None and (sample := find(name)) and sample.look and sample.look.model == vit.name:
        rows, columns = sample.look.grid  # as the command line and the app see this sample
        size = rows * vit.config.patch_size, columns * vit.config.patch_size
    return Trace(**vars(tracing.trace(vit, picture, size=size, **options).of(picture, name)))


def _trace_transformed(vit: VisionTransformer, image: Source, transform: Any, options: dict[str, Any]) -> Trace:
    """A trace of the transform's output. The picture that is drawn is that output, too."""
    picture, name = _picture(image)
    try:
        pixels = transform(picture)
    except Exception as error:  # the user's transform may raise anything
        raise PlaygroundError(f"transform= fails on this picture ({type(error).__name__}: {error!s:.200}).") from None
    if isinstance(pixels, Tensor) and pixels.dim() == 3:
        pixels = pixels[None]
    traced = tracing.trace_input(vit, given_input(pixels), **options)
    c = vit.config
    mean, std = next(filter(None, map(_normalisation, _steps(transform))), (c.mean, c.std))
    return Trace(**vars(traced.of(tracing.denormalised(traced._need_input()[0], mean, std), name)))


def _trace_of_own_pass(model: Any, image: Any, size: Any, transform: Any, pixel_values: Any) -> Trace:
    """The trace of a model that only runs by itself: its rows are exact, and what needs our network is missing."""
    data, rows = timm_models.data_config(model), model.patch_embed.grid_size[0]
    own_size = tuple(model.patch_embed.img_size or data["input_size"][1:])
    if size not in (None, own_size):
        raise PlaygroundError(f"{type(model).__name__} takes pictures of {own_size[0]} × {own_size[1]} alone.")
    picture, name = (None, "") if image is None else _picture(image)
    if picture is None and pixel_values is None:
        raise PlaygroundError("trace takes a picture, or the model's input as pixel_values=.")
    if picture is None or transform is not None:
        given = pixel_values if picture is None else transform(picture)
        pixels = given_input(given[None] if getattr(given, "ndim", 4) == 3 else given)
    else:
        pixels = model_input(picture, own_size, data["mean"], data["std"], data["interpolation"])
    return Trace(
        model=timm_models.name_of(model), size=own_size, patch_size=own_size[0] // rows,
        prefix=own_pass.prefix(model), predictions=(), input=pixels, vit=None,
        picture=tracing.denormalised(pixels[0], data["mean"], data["std"]), picture_name=name,
        **own_pass.run(model, pixels),
    )  # fmt: skip


def _steps(transform: Any) -> list[Any]:
    """A transform and the transforms that it is composed of."""
    parts = getattr(transform, "transforms", ())
    return [transform, *(step for part in parts for step in _steps(part))]


def _normalisation(step: Any) -> tuple[Any, Any] | None:
    """(mean, std) of a transform: torchvision's Normalize, or an image processor of `transformers`."""
    pairs = ((getattr(step, f"{prefix}mean", None), getattr(step, f"{prefix}std", None)) for prefix in ("", "image_"))
    return next(((mean, std) for mean, std in pairs if mean is not None and std is not None), None)


def _size_of_batch(image: Any) -> tuple[int, int] | None:
    """The size of a batch of one picture in fractions, (1, 3, height, width), which keeps it; else None."""
    shape, dtype = tuple(getattr(image, "shape", ())), str(getattr(image, "dtype", ""))
    return (shape[2], shape[3]) if len(shape) == 4 and shape[1] == 3 and "float" in dtype else None


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
    image = str(image) if isinstance(image, str) else image  # also of NumPy's strings, which would pass as arrays
    name = os.fspath(image)
    sample = find(name) if isinstance(name, str) and not Path(name).exists() else None
    return open_image(sample.path if sample else image), str(name)


@lru_cache(maxsize=2)
def _model(name: str) -> VisionTransformer:
    return load(name)
