"""Records the pass of a model of timm that our VisionTransformer does not compute: BEiT and other models with relative
positions, EVA-02, the Perception Encoder, convolutions before the patches. The model runs by itself, on its own grid;
queries, keys and what is added to their scores are taken where it asks torch for attention."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from playground.errors import PlaygroundError
from playground.models import timm_models
from playground.models.checking import evaluation_mode
from playground.vit import QKV
from playground.vit_parts import by_head, lengths_after

Call = tuple[tuple[Tensor, ...], Tensor | None, float | None]  # (queries, keys, values), what is added, the scale


class _Attentions(TorchFunctionMode):
    """Keeps the arguments of each call of torch's attention."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []

    def __torch_function__(self, function: Any, types: Any, inputs: Any = (), options: Any = None) -> Any:
        options = options or {}
        if function is F.scaled_dot_product_attention:
            self.calls.append((inputs[:3], options.get("attn_mask"), options.get("scale")))
        return function(*inputs, **options)


def is_needed(model: Any) -> bool:
    """Whether this is a transformer of timm over a picture's patches, and our VisionTransformer can't compute it."""
    is_transformer = all(hasattr(model, name) for name in ("patch_embed", "blocks", "num_prefix_tokens"))
    return is_transformer and timm_models.why_not(model) is not None


def prefix(model: Any) -> tuple[str, ...]:
    named = ("cls",) if getattr(model, "cls_token", None) is not None else ()
    return named + tuple(f"reg{i}" for i in range(model.num_prefix_tokens - len(named)))


def attention_calls(model: Any, pixels: Tensor) -> tuple[Tensor, list[Call]]:
    """(logits, what each layer asked torch's attention for). Raises PlaygroundError where layers ask otherwise."""
    try:
        with evaluation_mode(model), torch.no_grad(), _Attentions() as attentions:
            logits = model(pixels.to(next(model.parameters())))
    except (RuntimeError, ValueError, AssertionError) as error:
        raise PlaygroundError(f"{type(model).__name__} can't be run on these pixels: {error!s:.200}") from None
    tokens = model.num_prefix_tokens + math.prod(model.patch_embed.grid_size)
    calls = [call for call in attentions.calls if call[0][0].shape[2] == tokens]  # a pool asks with one query
    if len(calls) != len(model.blocks):
        raise PlaygroundError(timm_models.refusal(model))
    return logits, calls


def run(model: Any, pixels: Tensor) -> dict[str, Any]:
    """The fields of a trace that come of a pass of (1, 3, height, width), in evaluation mode and without dropout."""
    logits, calls = attention_calls(model, pixels)
    record = {i: QKV(*(x[0].float() for x in qkv)) for i, (qkv, _, _) in enumerate(calls)}
    masks = {i: mask for i, (_, mask, _) in enumerate(calls) if mask is not None}
    (heads, tokens, _), given_scale = record[0].q.shape, calls[0][2]
    scale = record[0].q.shape[-1] ** -0.5 if given_scale is None else given_scale
    return {
        "record": {i: QKV(q, k, None) for i, (q, k, _) in record.items()},  # type: ignore[arg-type]
        "layers": len(record),
        "stored_norms": {i: _norms(block, record[i].v) for i, block in enumerate(model.blocks) if _adds_plainly(block)},
        "biases": {i: mask.float().cpu().expand(1, heads, tokens, tokens)[0] for i, mask in masks.items()},
        "native_scale": scale,
        "scale": scale,
        "logits": logits[0].float().cpu(),
    }


def _adds_plainly(block: Any) -> bool:
    """Whether W_O and a gain are all that stands between the heads' mixtures and the tokens."""
    attn = getattr(block, "attn", None)
    is_plain = isinstance(getattr(attn, "norm", None), nn.Identity | None) and getattr(attn, "gate", None) is None
    return is_plain and hasattr(attn, "proj") and "Post" not in type(block).__name__


def _norms(block: Any, v: Tensor) -> Tensor:
    gain = getattr(block, "gamma_1", None)
    gain = getattr(getattr(block, "ls1", None), "gamma", None) if gain is None else gain
    matrix = block.attn.proj.weight if gain is None else gain[:, None] * block.attn.proj.weight
    return lengths_after(by_head(matrix, len(v)), v).cpu()
