"""The order of a layer's heads: nothing depends on it, so the one that stays most on a patch's thing stands first.

The sum over heads is the same in any order. Training leaves them as they happened to begin.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from playground.models import loading, model_file
from playground.scenes import generate
from playground.scenes.drawing import Scene
from playground.scenes.generate import patch_targets
from playground.training import evaluate
from playground.vit import VisionTransformer

SCENES = 100  # that decide; not those that the model is measured on


def order(vit: VisionTransformer, scenes: list[Scene]) -> Tensor:
    """(layers, heads): for each place in a layer, which head shall stand there."""
    patch = vit.config.patch_size
    mass = evaluate.own_mass(
        vit, [scene.image for scene in scenes], [patch_targets(scene, patch).objects for scene in scenes]
    )
    return mass.argsort(dim=1, descending=True)


@torch.no_grad()
def put(vit: VisionTransformer, new_order: Tensor) -> None:
    """Moves the heads, with all that belongs to each: its queries, keys and values, and what W_O makes of them."""
    size = vit.config.width // vit.config.heads
    for block, heads in zip(vit.blocks, new_order, strict=True):
        numbers = (heads[:, None] * size + torch.arange(size)).flatten()  # (D,) the features of the heads in turn
        thirds = torch.cat([numbers + third * vit.config.width for third in range(3)])  # of queries, keys and values
        attn = block.attn
        attn.qkv.weight.copy_(attn.qkv.weight[thirds])
        if attn.qkv.bias is not None:
            attn.qkv.bias.copy_(attn.qkv.bias[thirds])
        attn.proj.weight.copy_(attn.proj.weight[:, numbers])


def in_order(run: Path) -> None:
    """Puts the heads of a finished run in order, in the model and in every snapshot: all by the finished one."""
    scenes = [generate.scene(generate.HELD_OUT - 1 - i) for i in range(SCENES)]
    new_order = order(loading.load(str(run / "model.safetensors"), device="cpu"), scenes)
    for file in [run / "model.safetensors", *run.glob("snapshot-*.safetensors")]:
        vit = loading.load(str(file), device="cpu")
        put(vit, new_order)
        model_file.save(vit, file)
