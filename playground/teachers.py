"""What the bundled model learns from: scenes with everything that is known about them, and who asks for it.

Three teachers at once, each a small head that is thrown away afterwards (the first is kept):
  class      the class token says what the picture shows: shapes, materials, kind of backdrop
  dense      every patch says what it is a part of, and where the sides of its object lie
  affinity   patches of one object should be alike, those of others unlike (contrastive); this one is asked of a
             middle layer as well, and it is what makes heads gather objects
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import Dataset

from playground import scenes
from playground.backdrops import GROUNDS
from playground.drawing import Scene
from playground.silhouettes import SHAPES
from playground.targets import patch_targets, presence
from playground.textures import MATERIALS
from playground.vit import Config, VisionTransformer

if TYPE_CHECKING:
    from playground.training import Recipe

LOSSES = ("class", "shape", "material", "ground", "box", "alike", "alike early")
NOT_ASKED = -100  # what cross entropy leaves out


class Scenes(Dataset):
    """Scene number i of this seed, with its targets."""

    def __init__(self, recipe: Recipe):
        self.recipe = recipe

    def __len__(self) -> int:
        return self.recipe.steps * self.recipe.batch

    def __getitem__(self, i: int) -> dict[str, np.ndarray]:
        r = self.recipe
        small = i // r.batch < r.small_share * r.steps
        side = r.small_side if small else r.config.image_size[0]
        return example(scenes.scene(r.seed * 2**32 + i, side), r.config.patch_size)


def example(scene: Scene, patch: int) -> dict[str, np.ndarray]:
    t = patch_targets(scene, patch)
    inside = t.objects > 0
    return {
        "image": scene.image,  # (H, W, 3) uint8
        "present": presence(scene),  # (labels,)
        "shape": np.where(inside, t.shapes, len(SHAPES)).ravel(),  # (patches,), the last number is background
        "material": np.where(inside, t.materials, len(MATERIALS)).ravel(),
        "ground": np.where(inside, NOT_ASKED, t.grounds).ravel(),
        "segment": np.where(inside, t.objects, -1 - t.regions).ravel(),  # an object, or a part of the background
        "box": t.boxes.reshape(-1, 4),
    }


def pixels(images: Tensor, config: Config) -> Tensor:
    """(B, H, W, 3) bytes -> (B, 3, H, W), as the model wants them."""
    mean, std = (torch.tensor(t, device=images.device) for t in (config.mean, config.std))
    return ((images.float() / 255 - mean) / std).permute(0, 3, 1, 2).contiguous()


class Teachers(nn.Module):
    """Small heads on the patches; only the training knows them."""

    def __init__(self, recipe: Recipe):
        super().__init__()
        width = recipe.config.width
        self.middle, self.temperature = recipe.middle, recipe.temperature
        self.says = nn.ModuleDict(
            {"shape": nn.Linear(width, len(SHAPES) + 1), "material": nn.Linear(width, len(MATERIALS) + 1)}
            | {"ground": nn.Linear(width, len(GROUNDS)), "box": nn.Linear(width, 4)}
        )
        self.alike = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 64)) for _ in range(2))

    def forward(self, vit: VisionTransformer, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """The losses by name, in the order of LOSSES."""
        x, rotation = vit.embed(pixels(batch["image"], vit.config))
        first = len(vit.config.prefix)
        for i, block in enumerate(vit.blocks):
            x, _ = block(x, None, rotation)
            if i == self.middle:
                middle = x[:, first:]
        last = vit.norm(x)[:, first:]  # (B, patches, D)
        inside = batch["box"].abs().sum(-1) > 0  # (B, patches)
        says = {name: head(last).float() for name, head in self.says.items()}
        return {
            "class": 10 * F.binary_cross_entropy_with_logits(vit.classify(x).float(), batch["present"]),
            "shape": F.cross_entropy(says["shape"].flatten(0, 1), batch["shape"].flatten()),
            "material": F.cross_entropy(says["material"].flatten(0, 1), batch["material"].flatten()) / 2,
            "ground": F.cross_entropy(says["ground"].flatten(0, 1), batch["ground"].flatten()) / 2,
            "box": F.smooth_l1_loss(says["box"][inside], batch["box"][inside], beta=0.1),
            "alike": affinity(self.alike[0](last), batch["segment"], self.temperature),
            "alike early": affinity(self.alike[1](middle), batch["segment"], self.temperature) / 2,
        }


def affinity(z: Tensor, segment: Tensor, temperature: float) -> Tensor:
    """−log of how much of a patch's likeness falls on its own segment, (B, patches, width) and (B, patches).
    Segments of three patches or more are asked, and large ones count little more than small ones."""
    z = F.normalize(z.float(), dim=-1)
    like = z @ z.mT / temperature  # (B, patches, patches)
    like.diagonal(dim1=1, dim2=2).fill_(-math.inf)  # a patch is no news to itself
    same = segment[:, :, None] == segment[:, None]  # (B, patches, patches)
    size = same.sum(-1)  # (B, patches)
    own = like.masked_fill(~same, -math.inf).logsumexp(-1) - like.logsumexp(-1)  # (B, patches), log of the share
    counted = size > 2
    weight = counted / size.clamp(min=1) ** 0.75
    return -(own.masked_fill(~counted, 0) * weight).sum() / weight.sum()
