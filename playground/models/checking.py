"""Compares our pass with the pass of a user's own model, on the same pictures, layer by layer."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from playground.errors import PlaygroundError
from playground.vit import VisionTransformer
from playground.vit_parts import why_not_weights

TOLERANCES = {torch.float32: 1e-4, torch.float64: 1e-4}  # tolerance as a share of the largest number
HALF_TOLERANCE = 0.05  # the tolerance for 16-bit numbers


@dataclass(frozen=True)
class Check:
    """How far our model and the user's model differ. bool(check) is True if they agree; str(check) is a sentence."""

    layers: tuple[float, ...]  # difference of the tokens after each layer; () if the model's layers were not found
    answer: float | None  # difference of the answers; None if we don't compute the model's answer
    what: str  # the answer that was compared: "logits" or "features"
    parts: int | None  # the first layer whose tokens differ; None if there is none
    differs: bool  # whether the answers differ

    def __bool__(self) -> bool:
        return self.parts is None and not self.differs and (self.answer is not None or bool(self.layers))

    def __str__(self) -> str:
        if (first := self.parts) is not None:
            equal_words = f"they are equal up to layer {first - 1}" if first else "from the first one on"
            return f"the tokens part after layer {first}, by {self.layers[first]:.1g}; {equal_words}"
        if self.answer is None and not self.layers:
            return "nothing of this model could be compared: neither its layers nor its answer were found"
        if self.answer is None:
            return f"the tokens of all layers are equal within {max(self.layers):.0e}; its answer is nothing we compute"
        if not self.differs:
            return f"{self.what} equal within {self.answer:.0e}"
        reason = "the tokens of all layers are equal, so what reads them differs" if self.layers else "layers unknown"
        return f"{self.what} differ by {self.answer:.1g}; {reason}"


def check(vit: VisionTransformer, model: nn.Module, batch: Any = None) -> Check:
    """Runs a `batch` of inputs, (pictures, 3, height, width), through both models; by default a random picture.

    >>> import timm, torch
    >>> model = timm.create_model("vit_tiny_patch16_224").eval()
    >>> vit = playground.load(model, mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5))
    >>> bool(playground.check(vit, model, torch.rand(2, 3, 224, 224)))
    True
    """
    if why := why_not_weights(vit) or why_not_weights(model):
        raise PlaygroundError(why)
    pixels = _pixels(vit, batch)
    weight = vit.patch_embed.proj.weight
    options = {} if tuple(pixels.shape[2:]) == vit.config.image_size else _stretching_options(model)
    with torch.no_grad():
        try:
            answer, theirs = _outputs(model, pixels.to(next(model.parameters())), vit.config.depth, options)
        except (TypeError, ValueError, RuntimeError, AssertionError, AttributeError, KeyError) as error:
            raise PlaygroundError(f"{type(model).__name__} can't be run on these pixels: {error!s:.200}") from None
        ours = [x for x, _ in vit.layers(*vit.embed(pixels.to(weight)))]
        kind = "logits" if vit.config.classes else "features"
        answers = {kind: vit.classify(ours[-1]), "tokens": vit.norm(ours[-1])}
    tolerance = TOLERANCES.get(weight.dtype, HALF_TOLERANCE)
    same_shapes = [x.shape for x in ours] == [x.shape for x in theirs]
    pairs = zip(ours, theirs, strict=True) if same_shapes else ()
    differences = [_difference(x, y, tolerance) for x, y in pairs]
    layers = tuple(largest for largest, _ in differences)
    parts = next((layer for layer, (_, differs) in enumerate(differences) if differs), None)
    for kind, value in answers.items():
        if answer is not None and answer.shape == value.shape:
            largest, differs = _difference(value, answer, tolerance)
            return Check(layers, largest, kind, parts, differs)
    return Check(layers, None, "", parts, False)


def noise(size: tuple[int, int]) -> Tensor:
    """A random picture of this (height, width)."""
    return torch.randn(1, 3, *size, generator=torch.Generator().manual_seed(0))


def _pixels(vit: VisionTransformer, batch: Any) -> Tensor:
    if batch is None:
        return noise(vit.config.image_size)
    pixels = batch.get("pixel_values") if isinstance(batch, Mapping) else batch
    if not isinstance(pixels, Tensor) or pixels.dim() != 4 or pixels.shape[1] != 3 or not pixels.is_floating_point():
        shape = tuple(pixels.shape) if isinstance(pixels, Tensor) else type(batch).__name__
        raise PlaygroundError(f"check takes what the model gets, (pictures, 3, height, width); given was {shape}.")
    return pixels


def _difference(ours: Tensor, theirs: Tensor, tolerance: float) -> tuple[float, bool]:
    """(the largest difference, whether it exceeds the tolerance, which is a share of the largest number)"""
    ours, theirs = ours.float().cpu(), theirs.float().cpu()
    largest = float((ours - theirs).abs().max())
    return largest, not largest <= tolerance * float(theirs.abs().max())


def _stretching_options(model: nn.Module) -> dict[str, bool]:
    """What most models of `transformers` must be told to accept another size than their own."""
    names = inspect.signature(model.forward).parameters.keys()
    is_of_transformers = type(model).__module__.startswith("transformers.")
    is_told = is_of_transformers and not names.isdisjoint({"interpolate_pos_encoding", "kwargs"})
    return {"interpolate_pos_encoding": True} if is_told else {}


def _outputs(
    model: nn.Module, pixels: Tensor, depth: int, options: Mapping[str, bool]
) -> tuple[Tensor | None, list[Tensor]]:
    """The model's own answer, and the tokens after each of its layers."""
    outputs: list[Tensor] = []
    hooks = [
        layer.register_forward_hook(lambda _, __, out: outputs.append(_tensor(out))) for layer in _layers(model, depth)
    ]
    try:
        with evaluation_mode(model):
            return _tensor(model(pixels, **options)), outputs
    finally:
        for hook in hooks:
            hook.remove()


def _tensor(output: Any) -> Any:
    """The tensor in a module's output: a tensor, a tuple of tensors, or an output object of `transformers`."""
    if isinstance(output, Tensor):
        return output
    for name in ("logits", "last_hidden_state"):
        if isinstance(tensor := getattr(output, name, None), Tensor):
            return tensor
    return _tensor(output[0]) if isinstance(output, tuple | list) and output else None


def _layers(model: nn.Module, depth: int) -> list[nn.Module]:
    """The first list of `depth` modules of one class."""
    for module in model.modules():
        if isinstance(module, nn.ModuleList | nn.Sequential):
            layers = list(module)
            if len(layers) == depth and len({type(layer) for layer in layers}) == 1:
                return layers
    return []


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Switches dropout off, and afterwards restores each module's mode."""
    training_modules = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training_modules:
            module.training = True
