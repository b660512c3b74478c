"""The losses of the emergent model, which is not told where to look: it predicts DINOv2's features, and names. No loss
reads queries, keys, attention weights or masks.

  [class]     the class token predicts the labels of a drawn scene
  [features]  each patch predicts DINOv2's feature of that patch, from the tokens after the last layer
  [picture]   the class token predicts DINOv2's class token
  [rest]      each patch predicts the appearance of the rest of its thing, after several layers: see targets.py

Shapes: B pictures, of which V are views and the others drawn scenes; P patches, N tokens, D numbers in a token.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.vit import VisionTransformer
from playground.vit_parts import GuidedHead
from workshop.recipe import Emergent
from workshop.targets import LOOKS_WIDTH, mean_over_thing, patch_looks, places
from workshop.views import FEATURE_WIDTH, STUDENT_PATCH, Views

LOSSES = ("class", "features", "picture", "rest")
COMPONENTS = 48  # principal components of the features that `rest` asks for
STATISTICS_VIEWS = 400  # number of views from which the statistics are computed


@dataclass(frozen=True)
class Statistics:
    """Means and spreads that give all predicted numbers the same weight."""

    mean: Tensor  # (384,) of the patches' features
    spread: Tensor  # (384,) of the patches' features
    picture_mean: Tensor  # (384,) of the class token's features
    picture_spread: Tensor  # (384,) of the class token's features
    components: Tensor  # (384, 48): maps standardised features to principal components of spread 1
    rest: Tensor  # (58,): the spread of the targets of `rest`

    @staticmethod
    def of(views: Views) -> Statistics:
        view_numbers = np.linspace(0, len(views) - 1, min(STATISTICS_VIEWS, len(views))).astype(int)
        features = torch.from_numpy(views.features[view_numbers]).float()  # (views, 1 + P, 384)
        patches, side = features[:, 1:], views.things.shape[1]
        mean, spread = patches.mean((0, 1)), patches.flatten(0, 1).std(0)
        normal_features = (patches - mean) / spread
        axes = torch.linalg.svd(normal_features.flatten(0, 1)[::7], full_matrices=False).Vh[:COMPONENTS].T
        components = axes / (normal_features.flatten(0, 1) @ axes).std(0)
        image = torch.from_numpy(views.pictures[view_numbers]).permute(0, 3, 1, 2) / 255 * 2 - 1
        rest_spread = (
            mean_over_thing(normal_features, patch_appearance(image, normal_features, components, side))
            .flatten(0, 1)
            .std(0)
        )
        picture = features[:, 0]
        return Statistics(mean, spread, picture.mean(0), picture.std(0), components, rest_spread)


def patch_appearance(image: Tensor, features: Tensor, components: Tensor, side: int) -> Tensor:
    """Looks, feature components and place of each patch (B, P, 58). The loss `rest` averages them over each thing."""
    positions = places(side, side).expand(len(image), -1, -1)
    return torch.cat([patch_looks(image, STUDENT_PATCH), features @ components, positions], dim=-1)


class DistillationLosses(nn.Module):
    """The losses, and the small linear maps that read the predictions out of tokens. The maps are not saved with the
    model."""

    told_heads: tuple[GuidedHead, ...] = ()  # empty, because no loss tells a head where to look

    def __init__(self, recipe: Emergent, statistics: Statistics):
        super().__init__()
        width = recipe.config.width
        self.recipe = recipe
        for name, value in vars(statistics).items():
            self.register_buffer(f"of_{name}", value)
        self.features, self.picture = nn.Linear(width, FEATURE_WIDTH), nn.Linear(width, FEATURE_WIDTH)
        numbers = LOOKS_WIDTH + COMPONENTS + 2
        self.rest = nn.ModuleDict(
            {str(layer): nn.Sequential(nn.LayerNorm(width), nn.Linear(width, numbers)) for layer in recipe.asked}
        )

    def forward(self, vit: VisionTransformer, batch: dict[str, Tensor], step: int) -> dict[str, Tensor]:
        """The losses by name, in the order of LOSSES. The drawn scenes at the end of a batch have only labels."""
        recipe, first_patch, views = self.recipe, len(vit.config.prefix), len(batch["features"])
        image = (batch["image"] - 0.5) / 0.5  # (B, 3, H, W)
        normal_features = (batch["features"] - self.of_mean) / self.of_spread  # (V, P, 384)
        picture_features = (batch["picture"] - self.of_picture_mean) / self.of_picture_spread  # (V, 384)
        side = image.shape[2] // STUDENT_PATCH
        # the targets come from the undisturbed picture
        appearance = patch_appearance((batch["clean"] - 0.5) / 0.5, normal_features, self.of_components, side)
        rest_targets = mean_over_thing(normal_features, appearance) / self.of_rest  # (V, P, 58)
        rest_losses = []
        for layer, x in enumerate(tokens(vit, image, batch["place"], recipe.coarse)):
            if layer in recipe.asked:
                rest_losses.append(F.mse_loss(self.rest[str(layer)](x[:views, first_patch:]).float(), rest_targets))
        final_tokens = vit.norm(x)
        is_labelled = batch["present"][:, :1] >= 0  # (B, 1)
        label_losses = F.binary_cross_entropy_with_logits(
            vit.head(final_tokens[:, 0]).float(), batch["present"], reduction="none"
        )
        return {
            "class": recipe.naming * (label_losses * is_labelled).mean() / is_labelled.float().mean().clamp(min=1e-3),
            "features": feature_distance(self.features(final_tokens[:views, first_patch:]).float(), normal_features),
            "picture": recipe.picture
            * feature_distance(self.picture(final_tokens[:views, 0]).float(), picture_features),
            "rest": recipe.gathering * torch.stack(rest_losses).mean(),
        }


def tokens(vit: VisionTransformer, image: Tensor, place: Tensor, grid_side: int) -> Iterator[Tensor]:
    """The tokens after each layer, (B, N, D). A window gets the positions of its place in the whole view, a grid of
    `grid_side` × `grid_side` patches."""
    first_patch, side = len(vit.config.prefix), image.shape[2] // STUDENT_PATCH
    x, rotation = vit.embed(image)
    if side < grid_side:
        top, left = place.tolist()
        # (1, grid_side, grid_side, D)
        grid_positions = vit.positions((grid_side, grid_side))[:, first_patch:].unflatten(1, (grid_side, grid_side))
        crop_positions = grid_positions[:, top : top + side, left : left + side].flatten(1, 2)
        x = torch.cat(
            [x[:, :first_patch], x[:, first_patch:] + crop_positions - vit.positions((side, side))[:, first_patch:]],
            dim=1,
        )
    for x, _ in vit.layers(x, rotation):  # noqa: B020, the layers begin with this x
        yield x


def feature_distance(predicted_features: Tensor, targets: Tensor) -> Tensor:
    """The distance between predicted features and their targets, in size and in direction."""
    return (
        F.smooth_l1_loss(predicted_features, targets)
        + 1
        - F.cosine_similarity(predicted_features, targets, dim=-1).mean()
    )
