"""Defines the settings of a training run. The settings and the machine together determine the result."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.vit import Config, VisionTransformer
from workshop.scenes.generate import LABELS

BUNDLED_CONFIG = Config(
    image_size=(112, 112), patch_size=8, depth=6, width=192, mlp_width=768, heads=6, registers=4,
    classes=len(LABELS), labels=LABELS, multi_label=True,
)  # fmt: skip


@dataclass(frozen=True)
class Course:
    """The settings that every recipe has."""

    steps: int = 10_800  # steps of a round, without the polish at the round's end
    batch: int = 32
    rate: float = 1e-3  # highest learning rate of AdamW
    matrix_rate: float = 3e-3  # highest learning rate of Muon, for the matrices of the layers
    warm_up: int = 400  # steps, at most a tenth of all
    decay: float = 0.05  # weight decay
    average: float = 0.998  # decay of the moving average of the weights, which is the model that is saved
    seed: int = 0
    polish: float = 0.15  # extra steps at the end, as a share of `steps`
    polish_pace: float = 0.3  # learning rate at the polish's start, as a share of the highest
    rounds: int = 1  # rounds of steps and polish; each round begins with the highest learning rate again
    apart: bool = False  # whether Muon updates queries, keys and values as three matrices
    workers: int = 1  # processes that make the pictures; their number doesn't change the result
    config: Config = BUNDLED_CONFIG
    name: str = "bundled"

    @property
    def round(self) -> int:
        """Steps of one round, including the polish."""
        return self.steps + round(self.polish * self.steps)

    @property
    def total(self) -> int:
        """Steps of all rounds."""
        return self.rounds * self.round

    def untrained(self) -> VisionTransformer:
        """The model at step 0."""
        return VisionTransformer(self.config, self.seed)


@dataclass(frozen=True)
class Recipe(Course):
    """The recipe of a model whose attention is supervised by objects' masks and losses on attention weights. The polish
    uses whole scenes at full size."""

    temperature: float = 0.1  # temperature of the contrastive loss
    middle: int = 2  # the layer after which the loss "alike early" reads features
    near_until: float = 0.45  # share of the run that uses close-ups of one or two things, to learn the things' names
    small_until: float = 0.8  # share of the run after which whole scenes have full size instead of `small_side`
    near_side: int = 56  # pixels along a side of a close-up
    small_side: int = 80  # pixels along a side of a small scene
    naming: float = 3.0  # weight of the loss "shape"
    gathering: tuple[tuple[int, int], ...] = ((3, 0), (4, 0), (5, 0))  # heads trained by "gathered", "uneven"
    gathering_from: float = 0.45  # share of the run after which "gathered" and "placed" begin
    even_from: float = 0.65  # share of the run after which "uneven" begins
    evenness: float = 0.25  # weight of the loss "uneven"
    name: str = "bundled-taught"
    even: tuple[int, int] = (4, 0)  # (layer, head) whose loss "uneven" has the weight `evenness_there` in the polish
    evenness_there: float = 1.5
    looking: float = 0.2  # weight of the loss "looked", in the polish
    beside: tuple[int, int] = (0, 5)  # (layer, head) that should attend to the left neighbour
    around: tuple[int, int] = (1, 5)  # (layer, head) that should attend to the eight neighbours


@dataclass(frozen=True)
class Emergent(Course):
    """The recipe of a model without losses on attention. The model predicts DINOv2's features and, for each patch, the
    appearance of the rest of the same thing. The polish uses the finer grid."""

    steps: int = 3200
    warm_up: int = 150
    average: float = 0.999
    polish: float = 0.08
    rounds: int = 2
    near_until: float = 0.7  # share of the run with windows and close-ups; later, the model sees whole views
    near: int = 10  # patches along the side of a window
    named: int = 8  # new drawn scenes in each batch, for the loss "class" only
    coarse: int = 14  # patches along the side of a view
    fine: int = 28  # patches along the side of a view in the polish
    fine_batch: int = 8  # views in a step of the polish
    fine_named: int = 2
    coarse_views: int = 4000
    fine_views: int = 400
    disturbance: float = 0.5  # largest share of disturbed patches; the share grows from 0 while windows are used
    hidden: float = 0.45  # share of the patches that are hidden in three of four views
    asked: tuple[int, ...] = (1, 2, 3, 4, 5)  # the layers after which the loss "rest" is computed
    gathering: float = 2.0  # weight of the loss "rest"
    picture: float = 0.3  # weight of the loss "picture"
    naming: float = 2.0  # weight of the loss "class"
    longer: float = 4.0  # factor of the initial length of queries and keys
    waves: float = 0.2  # size of the initial positions
    apart: bool = True

    def untrained(self) -> VisionTransformer:
        """The model at step 0, with longer queries and keys than usual, and with waves instead of noise as positions.
        Short queries and keys would give nearly equal weights, with hardly a gradient, for hundreds of steps. With long
        queries and keys, each row prefers some random patches."""
        vit = super().untrained()
        for block in vit.blocks:
            block.attn.qkv.weight.data[: 2 * self.config.width] *= self.longer
        rows, columns = vit.native_grid
        vit.pos_embed.data[0, -rows * columns :] = self.waves * waves(rows, columns, self.config.width)
        return vit


def waves(rows: int, columns: int, width: int) -> Tensor:
    """Positions, (rows · columns, width): sines and cosines of row and column, with wavelengths from a sixth of the
    picture to almost three pictures."""
    wavelengths = (1 / 6) * 16 ** torch.linspace(0, 1, width // 4)  # (width / 4,)
    row_waves, column_waves = (
        (torch.arange(n)[:, None] + 0.5) / n * 2 * torch.pi / wavelengths for n in (rows, columns)
    )
    row_waves, column_waves = (
        torch.cat([angle.sin(), angle.cos()], dim=1) for angle in (row_waves, column_waves)
    )  # (n, width / 2)
    axes = [row_waves[:, None].expand(-1, columns, -1), column_waves[None].expand(rows, -1, -1)]
    return torch.cat(axes, dim=-1).flatten(0, 1)


def pace(step: int, recipe: Course) -> float:
    """The learning rate as a share of the highest, in each round: linear warm-up, cosine decay to 1 %, then a second,
    lower decay for the polish."""
    step %= recipe.round
    if step >= recipe.steps:
        return recipe.polish_pace * _cosine_decay((step - recipe.steps) / (recipe.round - recipe.steps))
    warm_up = min(recipe.warm_up, recipe.steps // 10)
    if step < warm_up:
        return (step + 1) / warm_up
    return _cosine_decay((step - warm_up) / max(1, recipe.steps - warm_up))


def _cosine_decay(progress: float) -> float:
    return 0.01 + 0.99 * (1 + math.cos(math.pi * progress)) / 2


def snapshot_steps(steps: int, count: int = 12) -> list[int]:
    """0 and about a dozen steps, spaced logarithmically up to the last."""
    return [0, *sorted({round(10 * (steps / 10) ** (i / (count - 2))) for i in range(count - 1)})]


def kept_steps(recipe: Course) -> list[int]:
    """The steps after which a run keeps its model: about a dozen in the first round, the middle and the end of each
    later round, and after every polish."""
    later_steps = [
        recipe.round * r + step for r in range(1, recipe.rounds) for step in (recipe.steps // 2, recipe.steps)
    ]
    polish_steps = [recipe.round * (r + 1) for r in range(recipe.rounds)]
    return sorted({*snapshot_steps(recipe.steps), *later_steps, *polish_steps})
