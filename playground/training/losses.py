"""What the bundled model learns from: scenes with everything that is known about them, and who asks for it.

Six teachers, most with a small head of their own that is thrown away afterwards (the first one's is kept):
  class      the class token says what the picture shows: families of shapes and materials, the kind of backdrop
  dense      every patch says what it is a part of, and where the sides of its object lie
  affinity   patches of one object should be alike, those of others unlike (contrastive); this one is asked of a
             middle layer as well
  gathering  from the first whole scenes on, one head in each of the last three layers is asked to turn that likeness
             into attention: the weights themselves should stay on the object, and later lie on it evenly
  looking    in the polish at the end, the class token is asked to look at objects
  places     at the same time one early head is asked for the neighbour on the left and one for the eight around: what
             a convolution does
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import Dataset

from playground.scenes import generate
from playground.scenes.backdrops import GROUNDS
from playground.scenes.drawing import Scene
from playground.scenes.labels import patch_targets, presence
from playground.scenes.silhouettes import SHAPES
from playground.scenes.textures import MATERIALS
from playground.training.recipe import Recipe
from playground.vit import Config, VisionTransformer

LOSSES = (
    "class",
    "shape",
    "material",
    "ground",
    "box",
    "alike",
    "alike early",
    "gathered",
    "uneven",
    "placed",
    "looked",
)
LAST = 2  # layers whose class token is asked to look at objects
NOT_ASKED = -100  # what cross entropy leaves out


class Scenes(Dataset):
    """Scene number i of this seed, with its targets."""

    def __init__(self, recipe: Recipe):
        self.recipe = recipe

    def __len__(self) -> int:
        return self.recipe.total * self.recipe.batch

    def __getitem__(self, i: int) -> dict[str, np.ndarray]:
        r, done = self.recipe, i // self.recipe.batch / self.recipe.steps
        if done < r.near_until:
            one = generate.close_up(r.seed * 2**32 + i, r.near_side)
        else:
            one = generate.scene(r.seed * 2**32 + i, r.small_side if done < r.small_until else r.config.image_size[0])
        return example(one, r.config.patch_size)


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
        self.recipe = recipe
        self.says = nn.ModuleDict(
            {"shape": nn.Linear(width, len(SHAPES) + 1), "material": nn.Linear(width, len(MATERIALS) + 1)}
            | {"ground": nn.Linear(width, len(GROUNDS)), "box": nn.Linear(width, 4)}
        )
        self.alike = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 64)) for _ in range(2))

    def forward(self, vit: VisionTransformer, batch: dict[str, Tensor], step: int) -> dict[str, Tensor]:
        """The losses by name, in the order of LOSSES."""
        r, segment = self.recipe, batch["segment"]
        taught = r.gathering if step >= r.gathering_from * r.steps else ()
        image, first = pixels(batch["image"], vit.config), len(vit.config.prefix)
        x, rotation = vit.embed(image)
        zero, places, polish = torch.zeros((), device=x.device), {}, step >= r.steps
        if taught:
            grid = tuple(side // vit.config.patch_size for side in image.shape[2:])
            x = torch.cat([x[:, :first], x[:, first:] + unstretched(vit, grid, step)], dim=1)
            places = dict(zip((r.beside, r.around), neighbours(grid), strict=True))
        gathered, spread, placed, looked = [], [], [], []
        for i, (x, (q, k, _)) in enumerate(vit.layers(x, rotation)):  # noqa: B020, the layers begin with this x
            if i == r.middle:
                middle = x[:, first:]
            for head in (head for layer, head in taught if layer == i):
                scores = q[:, head, first:] @ k[:, head, first:].mT * vit.config.scale  # (B, patches, patches)
                gathered.append(scattered(scores.float(), segment))
                if step >= r.even_from * r.steps:
                    much = r.evenness_there if polish and (i, head) == r.even else r.evenness
                    spread.append(much * uneven(scores.float(), segment))
            for (_, head), wanted in ((at, wanted) for at, wanted in places.items() if at[0] == i):
                scores = q[:, head, first:] @ k[:, head].mT * vit.config.scale  # (B, patches, N)
                placed.append(misplaced(scores.float(), wanted.to(x.device)))
            if polish and i >= len(vit.blocks) - LAST:
                rows = (q[:, :, :1] @ k.mT * vit.config.scale).float().softmax(-1)[:, :, 0, first:]
                looked.append(astray(rows.mean(1), segment))
        last = vit.norm(x)[:, first:]  # (B, patches, D)
        inside = batch["box"].abs().sum(-1) > 0  # (B, patches)
        says = {name: head(last).float() for name, head in self.says.items()}
        return {
            "class": 10 * F.binary_cross_entropy_with_logits(vit.classify(x).float(), batch["present"]),
            "shape": r.naming * F.cross_entropy(says["shape"].flatten(0, 1), batch["shape"].flatten()),
            "material": F.cross_entropy(says["material"].flatten(0, 1), batch["material"].flatten()) / 2,
            "ground": F.cross_entropy(says["ground"].flatten(0, 1), batch["ground"].flatten()) / 2,
            "box": F.smooth_l1_loss(says["box"][inside], batch["box"][inside], beta=0.1),
            "alike": affinity(self.alike[0](last), segment, r.temperature),
            "alike early": affinity(self.alike[1](middle), segment, r.temperature) / 2,
            "gathered": torch.stack(gathered).mean() if gathered else zero,
            "uneven": torch.stack(spread).mean() if spread else zero,
            "placed": torch.stack(placed).mean() / 5 if placed else zero,
            "looked": r.looking * torch.stack(looked).mean() if looked else zero,
        }


def affinity(z: Tensor, segment: Tensor, temperature: float) -> Tensor:
    """How little alike the patches of one segment are, by their features (B, patches, width)."""
    z = F.normalize(z.float(), dim=-1)
    return scattered(z @ z.mT / temperature, segment)


def scattered(scores: Tensor, segment: Tensor) -> Tensor:
    """−log of how much of each patch's softmax row falls on its own segment, the patch itself left out:
    scores (B, patches, patches), segment (B, patches)."""
    same, others = _segment_mates(segment)
    whole = scores.masked_fill(_itself(segment), -math.inf).logsumexp(-1)  # (B, patches)
    own = scores.masked_fill(~same, -math.inf).logsumexp(-1)
    return _mean_over_segments(whole - own, others)


def uneven(scores: Tensor, segment: Tensor) -> Tensor:
    """How far from evenly each row lies on its own segment, whatever it gives to others: Kullback and Leibler's
    distance from even, 0 where all of the segment gets the same."""
    same, others = _segment_mates(segment)
    log_own = scores.masked_fill(~same, -math.inf).logsumexp(-1)  # (B, patches)
    mean = scores.masked_fill(~same, 0).sum(-1) / others.clamp(min=1)
    return _mean_over_segments(log_own - mean - others.clamp(min=1).log(), others)


def misplaced(scores: Tensor, wanted: Tensor) -> Tensor:
    """How far each patch's softmax row, scores (B, patches, N), is from the places that it is asked for, wanted
    (patches, patches): their cross entropy. Patches that have no such place are left out."""
    log_row = scores.log_softmax(-1)[..., -wanted.shape[1] :]  # (B, patches, patches)
    return -(log_row * wanted).sum((-2, -1)).mean() / wanted.sum()


def astray(rows: Tensor, segment: Tensor) -> Tensor:
    """−log of how much of the class token's look at the patches, rows (B, patches), falls on objects. Pictures
    without objects are left out."""
    objects = segment > 0  # (B, patches)
    share = (rows * objects).sum(-1) / rows.sum(-1)  # (B,)
    counted = objects.any(-1)
    return -share[counted].log().sum() / counted.sum().clamp(min=1)


def unstretched(vit: VisionTransformer, grid: tuple[int, int], step: int) -> Tensor:
    """What to add to a small picture's patches so that they lie somewhere in the native grid instead of having it
    stretched over them: neighbours are then as far apart as they are at full size. (1, patches, D)"""
    front = vit.pos_embed.shape[1] - math.prod(vit.native_grid)
    native = vit.pos_embed[:, front:].unflatten(1, vit.native_grid)  # (1, rows, columns, D)
    y, x = (
        int(n)
        for n in np.random.default_rng(step).integers([a - b + 1 for a, b in zip(vit.native_grid, grid, strict=True)])
    )
    part = native[:, y : y + grid[0], x : x + grid[1]].flatten(1, 2)
    return part - vit.positions(grid)[:, front:]


@cache
def neighbours(grid: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """The neighbour on the left, and the up to eight around, as even rows: (patches, patches) each."""
    y, x = (n.flatten() for n in torch.meshgrid(*(torch.arange(n) for n in grid), indexing="ij"))
    down, right = y - y[:, None], x - x[:, None]  # (patches, patches)
    left = ((down == 0) & (right == -1)).float()
    ring = ((down.abs() <= 1) & (right.abs() <= 1) & ((down != 0) | (right != 0))).float()
    return left, ring / ring.sum(1, keepdim=True).clamp(min=1)


def _segment_mates(segment: Tensor) -> tuple[Tensor, Tensor]:
    """Which patches belong to the same segment, not counting itself (B, patches, patches), and how many they are."""
    same = (segment[:, :, None] == segment[:, None]) & ~_itself(segment)
    return same, same.sum(-1)


def _itself(segment: Tensor) -> Tensor:
    return torch.eye(segment.shape[-1], dtype=torch.bool, device=segment.device)  # (patches, patches)


def _mean_over_segments(values: Tensor, others: Tensor) -> Tensor:
    """Segments of three patches or more are asked, and small ones count almost as much as large ones."""
    counted = others > 1
    weight = counted / (others + 1) ** 0.75
    return (values.masked_fill(~counted, 0) * weight).sum() / weight.sum()
