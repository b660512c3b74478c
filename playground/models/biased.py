"""Models that add a learned number for each pair of places to their scores, softmax(q·kᵀ·scale + B): BEiT and timm's
ViTs with relative positions. How B is made differs from model to model; the model itself is asked for it, once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

KINDS = ("VisionTransformerRelPos", "Beit")  # of timm


def is_biased(model: Any) -> bool:
    return type(model).__name__ in KINDS


def with_biases(model: Any, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The state dict with each layer's B, (h, N, N), in place of what it is made of."""
    ours = {name: x for name, x in state.items() if "rel_pos" not in name and "relative_position" not in name}
    with torch.no_grad():
        shared = _shared(model)
        for layer, block in enumerate(model.blocks):
            parts = [part for part in (_own(block.attn), shared) if part is not None]
            like = block.attn.proj.weight
            ours[f"blocks.{layer}.attn.bias"] = sum(parts).squeeze(0).to(like).clone()  # type: ignore[union-attr]
    return ours


def _own(attn: Any) -> Tensor | None:
    if getattr(attn, "relative_position_bias_table", None) is not None:
        return attn._get_rel_pos_bias()
    rel_pos = getattr(attn, "rel_pos", None)
    return None if rel_pos is None else rel_pos.get_bias()


def _shared(model: Any) -> Tensor | None:
    if getattr(model, "rel_pos_bias", None) is not None:
        return model.rel_pos_bias()[None]
    shared = getattr(model, "shared_rel_pos", None)
    return None if shared is None else shared.get_bias()
