"""Short runs that change one thing each: python -m workshop.trials NAME … --photographs DIR

TRIALS.md has the results. All runs have the seed, the steps and the picture sizes of `SHORT_RECIPE`, and differ by
the change that `TRIALS` gives for their name. A run lies in OUT/NAME and continues where it was stopped. To measure the
running mean of its weights: `python benchmarks/bundled.py OUT/NAME/model.safetensors --photographs DIR`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from playground.training.loop import train
from playground.training.recipe import BUNDLED_CONFIG, Emergent
from workshop import views
from workshop.batches import Batches
from workshop.distil import DistillationLosses, Statistics
from workshop.photographs import albums
from workshop.terminal import RUNS, ready_views

VIEW_COUNT = 2000
# 600 steps instead of 6,912: one round, and no steps on the finer grid ("polish")
SHORT_RECIPE = Emergent(steps=600, polish=0, rounds=1, coarse_views=VIEW_COUNT, workers=0)
WHOLE_RUN = {name: getattr(Emergent(), name) for name in ("steps", "polish", "coarse_views")}


class DisturbedTargets(Batches):
    """Computes the targets of `rest` from disturbed pixels, as for the first bundled model."""

    def __getitem__(self, step: int) -> dict[str, Tensor]:
        batch = super().__getitem__(step)
        return {**batch, "clean": batch["image"][: len(batch["clean"])]}


@dataclass(frozen=True)
class Trial:
    recipe: Emergent
    batches: Callable[[Emergent, Path, Path], Batches] = Batches


COSINE_CONFIG = replace(BUNDLED_CONFIG, qk_norm=True)
TRIALS = {
    "old": Trial(replace(SHORT_RECIPE, hidden=0), DisturbedTargets),  # like the first bundled model
    "clean": Trial(replace(SHORT_RECIPE, hidden=0)),  # targets from undisturbed pixels
    "hidden": Trial(SHORT_RECIPE),  # the recipe: also 45 % hidden in three of four views
    "cosine": Trial(replace(SHORT_RECIPE, config=COSINE_CONFIG)),  # also normalises queries and keys, head by head
    "views": Trial(replace(SHORT_RECIPE, coarse_views=2 * VIEW_COUNT)),  # the recipe with twice as many views
    "few": Trial(replace(SHORT_RECIPE, coarse_views=VIEW_COUNT // 5)),  # the recipe with a fifth of the views
    "narrow": Trial(replace(SHORT_RECIPE, hidden=0, decay_looking=False)),  # "clean", without weight decay on Q and K
    "again": Trial(replace(SHORT_RECIPE, seed=10)),  # the recipe with another seed, to measure the effect of chance
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="+", choices=TRIALS, metavar="NAME", help=", ".join(TRIALS))
    parser.add_argument("--photographs", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, default=RUNS / "trials", metavar="DIR", help="default: %(default)s")
    parser.add_argument("--steps", type=int, default=SHORT_RECIPE.steps, help="the same for all (default: %(default)s)")
    parser.add_argument("--rounds", type=int, metavar="N", help="a whole run of N rounds instead, polish and all views")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.names:
        trial = TRIALS[name]
        recipe = replace(trial.recipe, steps=options.steps)
        if options.rounds:
            recipe = replace(recipe, **WHOLE_RUN, rounds=options.rounds)
        run(recipe, trial.batches, options.photographs, options.out, name)


def run(recipe: Emergent, batches: Callable, photographs: Path, out: Path, name: str) -> None:
    album, _ = albums(photographs)
    count, seed = recipe.coarse_views, SHORT_RECIPE.seed + 1  # the same views for all seeds
    coarse = ready_views(out / f"views-{count}", album, count, recipe.coarse, seed)
    fine = coarse
    if recipe.polish:
        fine = ready_views(out / f"views-fine-{recipe.fine_views}", album, recipe.fine_views, recipe.fine, seed + 1)
    teachers = partial(DistillationLosses, statistics=Statistics.of(views.read(coarse)))

    def tell(step: int, losses: dict[str, float], _) -> None:
        print(name, step, {loss: round(value, 3) for loss, value in losses.items()}, flush=True)

    train(recipe, out / name, data=batches(recipe, coarse, fine), teachers=teachers, device="cpu", tell=tell)


if __name__ == "__main__":
    main()
