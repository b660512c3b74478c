"""The recipe of a training run: everything that decides what comes out of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from playground.scenes.labels import LABELS
from playground.vit import Config

BUNDLED = Config(
    image_size=(112, 112), patch_size=8, depth=6, width=192, mlp_width=768, heads=6, registers=4,
    classes=len(LABELS), labels=LABELS, multi_label=True,
)  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    steps: int = 10_800  # of the course; the polish comes after it
    batch: int = 32
    rate: float = 1e-3  # of learning, at its highest
    matrix_rate: float = 3e-3  # the same for the layers' matrices, which Muon teaches
    warm_up: int = 400  # steps, at most a tenth of all
    decay: float = 0.05  # of weights
    average: float = 0.998  # of the running mean of the weights, which is what is kept
    seed: int = 0
    temperature: float = 0.1  # of the affinity
    middle: int = 2  # the layer whose patches the affinity also teaches
    near_until: float = 0.45  # of the run: close-ups of one or two things, which teach what things are called
    small_until: float = 0.8  # of the run: then whole scenes drawn small; at full size from here on
    near_side: int = 56  # pixels of the close-ups
    small_side: int = 80  # pixels of the small ones
    naming: float = 3.0  # how much the shape counts, against the other losses
    gathering: tuple[tuple[int, int], ...] = ((3, 0), (4, 0), (5, 0))  # (layer, head): whose weights are taught
    gathering_from: float = 0.45  # of the run, as all that is asked of weights
    even_from: float = 0.65  # of the run: from then on they should also lie on the object evenly
    evenness: float = 0.25  # how much that counts
    polish: float = 0.15  # so much of the course again, on whole scenes at full size
    polish_pace: float = 0.3  # of the highest rates, where it begins
    even: tuple[int, int] = (4, 0)  # (layer, head): the one of `gathering` that the polish makes even
    evenness_there: float = 1.5
    looking: float = 0.2  # how much it counts in the polish that the class token looks at objects
    beside: tuple[int, int] = (0, 5)  # (layer, head): asked for the neighbour on the left
    around: tuple[int, int] = (1, 5)  # (layer, head): asked for the eight neighbours
    workers: int = 1  # processes that draw; they change nothing in the result
    config: Config = BUNDLED
    name: str = "bundled"

    @property
    def total(self) -> int:
        """Steps, the polish included."""
        return self.steps + round(self.polish * self.steps)


def pace(step: int, recipe: Recipe) -> float:
    """Up in a straight line, then down along a cosine to a hundredth; then a smaller one down for the polish."""
    if step >= recipe.steps:
        return recipe.polish_pace * _down((step - recipe.steps) / (recipe.total - recipe.steps))
    warm_up = min(recipe.warm_up, recipe.steps // 10)
    if step < warm_up:
        return (step + 1) / warm_up
    return _down((step - warm_up) / max(1, recipe.steps - warm_up))


def _down(done: float) -> float:
    return 0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2


def snapshot_steps(steps: int, count: int = 12) -> list[int]:
    """0 and about a dozen moments, spaced by their logarithm up to the end."""
    return [0, *sorted({round(10 * (steps / 10) ** (i / (count - 2))) for i in range(count - 1)})]
