"""Defines the training data and the losses of the model that is told where to look. Drawn scenes have complete labels,
so each patch can be supervised. Names in brackets are names in LOSSES. After training only the classifier is kept;
the layers that compute the other answers are dropped.

  [class]                         cross entropy of the class token: families of shapes and materials, kind of backdrop
  [shape, material, ground, box]  each patch predicts what it is a part of, and the distances of its object's sides
  [alike, alike early]            contrastive loss on the features of patches, after the last and after a middle layer
  [gathered]                      one head in each of the last three layers should attend within the query's object,
                                  from the first whole scenes on
  [uneven]                        later, these heads should also give equal weights to all of the object's patches
  [placed]                        one early head should attend to the left neighbour and one to all eight neighbours, as
                                  a convolution does; begins with [gathered]
  [looked]                        during the polish at the end, the class token should attend to objects
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import Dataset

from playground.vit import Config, VisionTransformer, parts
from workshop.recipe import Recipe
from workshop.scenes import generate
from workshop.scenes.backdrops import GROUNDS
from workshop.scenes.drawing import Scene
from workshop.scenes.generate import patch_targets, presence
from workshop.scenes.silhouettes import SHAPES
from workshop.scenes.textures import MATERIALS

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
LAST_LAYERS = 2  # number of last layers in which the class token is trained to look at objects
IGNORED = -100  # the label that F.cross_entropy ignores


class Scenes(Dataset):
    """Training examples: item i is scene number i of the recipe's seed, with its labels."""

    def __init__(self, recipe: Recipe):
        self.recipe = recipe

    def __len__(self) -> int:
        return self.recipe.total * self.recipe.batch

    def __getitem__(self, i: int) -> dict[str, np.ndarray]:
        recipe, progress = self.recipe, i // self.recipe.batch / self.recipe.steps
        if progress < recipe.near_until:
            scene = generate.close_up(recipe.seed * 2**32 + i, recipe.near_side)
        else:
            scene = generate.scene(
                recipe.seed * 2**32 + i,
                recipe.small_side if progress < recipe.small_until else recipe.config.image_size[0],
            )
        return example(scene, recipe.config.patch_size)


def example(scene: Scene, patch: int) -> dict[str, np.ndarray]:
    targets = patch_targets(scene, patch)
    is_object = targets.objects > 0
    return {
        "image": scene.image,  # (H, W, 3) uint8
        "present": presence(scene),  # (labels,)
        "shape": np.where(is_object, targets.shapes, len(SHAPES)).ravel(),  # (patches,), last number: background
        "material": np.where(is_object, targets.materials, len(MATERIALS)).ravel(),
        "ground": np.where(is_object, IGNORED, targets.grounds).ravel(),
        "segment": np.where(is_object, targets.objects, -1 - targets.regions).ravel(),  # an object or a region
        "box": targets.boxes.reshape(-1, 4),
    }


def normalised_pixels(images: Tensor, config: Config) -> Tensor:
    """(B, H, W, 3) bytes -> (B, 3, H, W), normalised as the model's input."""
    mean, std = (torch.tensor(values, device=images.device) for values in (config.mean, config.std))
    return ((images.float() / 255 - mean) / std).permute(0, 3, 1, 2).contiguous()


def guided_heads(recipe: Recipe) -> tuple[parts.GuidedHead, ...]:
    """The heads whose attention weights these losses read."""
    c = recipe.config
    gathering_heads = [
        parts.GuidedHead(*place, "patch", "stay on the object that the patch belongs to") for place in recipe.gathering
    ]
    left_neighbour = parts.GuidedHead(*recipe.beside, "patch", "look at the left neighbour")
    all_neighbours = parts.GuidedHead(*recipe.around, "patch", "look at the eight patches around")
    polished_layers = range(c.depth - LAST_LAYERS, c.depth) if recipe.polish else ()
    class_heads = [
        parts.GuidedHead(layer, head, "cls", "look at objects") for layer in polished_layers for head in range(c.heads)
    ]
    return (*gathering_heads, left_neighbour, all_neighbours, *class_heads)


class Teachers(nn.Module):
    """All losses, and the small layers by which patches give answers. These layers are not saved with the model."""

    def __init__(self, recipe: Recipe):
        super().__init__()
        width = recipe.config.width
        self.recipe = recipe
        self.told_heads = guided_heads(recipe)
        self.says = nn.ModuleDict(
            {"shape": nn.Linear(width, len(SHAPES) + 1), "material": nn.Linear(width, len(MATERIALS) + 1)}
            | {"ground": nn.Linear(width, len(GROUNDS)), "box": nn.Linear(width, 4)}
        )
        self.alike = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 64)) for _ in range(2))

    def forward(self, vit: VisionTransformer, batch: dict[str, Tensor], step: int) -> dict[str, Tensor]:
        """Loss by name, in the order of LOSSES."""
        recipe, segment = self.recipe, batch["segment"]
        taught_heads = recipe.gathering if step >= recipe.gathering_from * recipe.steps else ()
        image, first_patch = normalised_pixels(batch["image"], vit.config), len(vit.config.prefix)
        x, rotation = vit.embed(image)
        zero, target_rows, is_polish = torch.zeros((), device=x.device), {}, step >= recipe.steps
        if taught_heads:
            grid = tuple(side // vit.config.patch_size for side in image.shape[2:])
            x = torch.cat([x[:, :first_patch], x[:, first_patch:] + cropped_positions(vit, grid, step)], dim=1)
            target_rows = dict(zip((recipe.beside, recipe.around), neighbours(grid), strict=True))
        gathered_losses, evenness_losses, placed_losses, object_losses = [], [], [], []
        for i, (x, (q, k, _)) in enumerate(vit.layers(x, rotation)):  # noqa: B020, the layers begin with this x
            if i == recipe.middle:
                middle_features = x[:, first_patch:]
            for head in (head for layer, head in taught_heads if layer == i):
                scores = (
                    q[:, head, first_patch:] @ k[:, head, first_patch:].mT * vit.config.scale
                )  # (B, patches, patches)
                gathered_losses.append(off_segment_loss(scores.float(), segment))
                if step >= recipe.even_from * recipe.steps:
                    weight = recipe.evenness_there if is_polish and (i, head) == recipe.even else recipe.evenness
                    evenness_losses.append(weight * unevenness_loss(scores.float(), segment))
            for (_, head), target in ((place, target) for place, target in target_rows.items() if place[0] == i):
                scores = q[:, head, first_patch:] @ k[:, head].mT * vit.config.scale  # (B, patches, N)
                placed_losses.append(neighbour_loss(scores.float(), target.to(x.device)))
            if is_polish and i >= len(vit.blocks) - LAST_LAYERS:
                rows = (q[:, :, :1] @ k.mT * vit.config.scale).float().softmax(-1)[:, :, 0, first_patch:]
                object_losses.append(off_object_loss(rows.mean(1), segment))
        features = vit.norm(x)[:, first_patch:]  # (B, patches, D)
        is_object = batch["box"].abs().sum(-1) > 0  # (B, patches)
        predictions = {name: head(features).float() for name, head in self.says.items()}
        return {
            "class": 10 * F.binary_cross_entropy_with_logits(vit.classify(x).float(), batch["present"]),
            "shape": recipe.naming * F.cross_entropy(predictions["shape"].flatten(0, 1), batch["shape"].flatten()),
            "material": F.cross_entropy(predictions["material"].flatten(0, 1), batch["material"].flatten()) / 2,
            "ground": F.cross_entropy(predictions["ground"].flatten(0, 1), batch["ground"].flatten()) / 2,
            "box": F.smooth_l1_loss(predictions["box"][is_object], batch["box"][is_object], beta=0.1),
            "alike": contrastive_loss(self.alike[0](features), segment, recipe.temperature),
            "alike early": contrastive_loss(self.alike[1](middle_features), segment, recipe.temperature) / 2,
            "gathered": torch.stack(gathered_losses).mean() if gathered_losses else zero,
            "uneven": torch.stack(evenness_losses).mean() if evenness_losses else zero,
            "placed": torch.stack(placed_losses).mean() / 5 if placed_losses else zero,
            "looked": recipe.looking * torch.stack(object_losses).mean() if object_losses else zero,
        }


def contrastive_loss(z: Tensor, segment: Tensor, temperature: float) -> Tensor:
    """`off_segment_loss` with cosines as scores. z: features of patches, (B, patches, width)"""
    z = F.normalize(z.float(), dim=-1)
    return off_segment_loss(z @ z.mT / temperature, segment)


def off_segment_loss(scores: Tensor, segment: Tensor) -> Tensor:
    """−log of the share of each patch's softmax row that falls on its own segment, the patch itself excluded. scores
    (B, patches, patches), segment (B, patches)."""
    same_segment, mate_counts = _segment_mates(segment)
    log_total = scores.masked_fill(_identity_mask(segment), -math.inf).logsumexp(-1)  # (B, patches)
    on_segment = scores.masked_fill(~same_segment, -math.inf).logsumexp(-1)
    return _mean_over_segments(log_total - on_segment, mate_counts)


def unevenness_loss(scores: Tensor, segment: Tensor) -> Tensor:
    """KL divergence of each row, restricted to the query's own segment, from the uniform distribution: 0 if all patches
    of the segment get the same weight. Weights on other segments don't matter."""
    same_segment, mate_counts = _segment_mates(segment)
    log_own = scores.masked_fill(~same_segment, -math.inf).logsumexp(-1)  # (B, patches)
    mean_score = scores.masked_fill(~same_segment, 0).sum(-1) / mate_counts.clamp(min=1)
    return _mean_over_segments(log_own - mean_score - mate_counts.clamp(min=1).log(), mate_counts)


def neighbour_loss(scores: Tensor, target: Tensor) -> Tensor:
    """Cross entropy between each patch's softmax row, from scores (B, patches, N), and its target row, target (patches,
    patches). Patches at the edge that lack the target neighbour are left out."""
    log_row = scores.log_softmax(-1)[..., -target.shape[1] :]  # (B, patches, patches)
    return -(log_row * target).sum((-2, -1)).mean() / target.sum()


def off_object_loss(rows: Tensor, segment: Tensor) -> Tensor:
    """−log of the share of the class token's row, rows (B, patches), that falls on objects. Pictures without objects
    are left out."""
    is_object = segment > 0  # (B, patches)
    share = (rows * is_object).sum(-1) / rows.sum(-1)  # (B,)
    has_objects = is_object.any(-1)
    return -share[has_objects].log().sum() / has_objects.sum().clamp(min=1)


def cropped_positions(vit: VisionTransformer, grid: tuple[int, int], step: int) -> Tensor:
    """A crop of the learned positions minus the interpolated positions: (1, patches, D). With this difference
    added, the patches of a small picture have the positions of a random part of the native grid."""
    first_patch = vit.pos_embed.shape[1] - math.prod(vit.native_grid)
    native_positions = vit.pos_embed[:, first_patch:].unflatten(1, vit.native_grid)  # (1, rows, columns, D)
    y, x = (
        int(n)
        for n in np.random.default_rng(step).integers([a - b + 1 for a, b in zip(vit.native_grid, grid, strict=True)])
    )
    crop = native_positions[:, y : y + grid[0], x : x + grid[1]].flatten(1, 2)
    return crop - vit.positions(grid)[:, first_patch:]


@cache
def neighbours(grid: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """Target rows for `neighbour_loss`: all weight on the left neighbour; equal weights on all patches around.
    (patches, patches) each."""
    row, column = (n.flatten() for n in torch.meshgrid(*(torch.arange(n) for n in grid), indexing="ij"))
    down, right = row - row[:, None], column - column[:, None]  # (patches, patches)
    is_left = ((down == 0) & (right == -1)).float()
    is_around = ((down.abs() <= 1) & (right.abs() <= 1) & ((down != 0) | (right != 0))).float()
    return is_left, is_around / is_around.sum(1, keepdim=True).clamp(min=1)


def _segment_mates(segment: Tensor) -> tuple[Tensor, Tensor]:
    """(mask of the other patches of each patch's segment (B, patches, patches), their number (B, patches))."""
    same_segment = (segment[:, :, None] == segment[:, None]) & ~_identity_mask(segment)
    return same_segment, same_segment.sum(-1)


def _identity_mask(segment: Tensor) -> Tensor:
    return torch.eye(segment.shape[-1], dtype=torch.bool, device=segment.device)  # (patches, patches)


def _mean_over_segments(values: Tensor, mate_counts: Tensor) -> Tensor:
    """Weighted mean over patches in segments of at least three. The weight size^−¾ lets small segments count almost as
    much as large ones."""
    is_counted = mate_counts > 1
    weight = is_counted / (mate_counts + 1) ** 0.75
    return (values.masked_fill(~is_counted, 0) * weight).sum() / weight.sum()
