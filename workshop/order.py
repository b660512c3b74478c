"""Sorts the heads of each layer by the share of attention that a patch gives to the thing on which it lies, the
largest first.

The model's outputs do not change, because a layer sums over its heads. After training, the order of heads is random.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from playground.models import loading, model_file
from playground.vit import VisionTransformer
from workshop import evaluate
from workshop.scenes import generate
from workshop.scenes.drawing import Scene
from workshop.scenes.generate import patch_targets

SCENE_COUNT = 100  # drawn scenes for choosing the order; other scenes measure the model


def head_order(vit: VisionTransformer, scenes: list[Scene]) -> Tensor:
    """(layers, heads): for each place in a layer's new order, the head that moves there."""
    patch = vit.config.patch_size
    mass = evaluate.own_mass(
        vit, [scene.image for scene in scenes], [patch_targets(scene, patch).objects for scene in scenes]
    )
    return mass.argsort(dim=1, descending=True)


@torch.no_grad()
def reorder_heads(vit: VisionTransformer, new_order: Tensor) -> None:
    """Moves the heads, each with its queries, keys and values and its columns of W_O."""
    size = vit.config.width // vit.config.heads
    for block, heads in zip(vit.blocks, new_order, strict=True):
        feature_numbers = (heads[:, None] * size + torch.arange(size)).flatten()  # (D,): the heads' features, reordered
        qkv_rows = torch.cat([feature_numbers + third * vit.config.width for third in range(3)])  # rows of Q, K and V
        attn = block.attn
        attn.qkv.weight.copy_(attn.qkv.weight[qkv_rows])
        if attn.qkv.bias is not None:
            attn.qkv.bias.copy_(attn.qkv.bias[qkv_rows])
        attn.proj.weight.copy_(attn.proj.weight[:, feature_numbers])


def reorder_run(run: Path) -> None:
    """Reorders a finished run's heads in the model and in every snapshot, by the order of the finished model."""
    scenes = [generate.scene(generate.FIRST_HELD_OUT - 1 - i) for i in range(SCENE_COUNT)]
    new_order = head_order(loading.load(str(run / "model.safetensors"), device="cpu"), scenes)
    for file in [run / "model.safetensors", *run.glob("snapshot-*.safetensors")]:
        vit = loading.load(str(file), device="cpu")
        reorder_heads(vit, new_order)
        model_file.save(vit, file)
