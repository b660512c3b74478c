"""Short runs that change one thing each: python -m workshop.trials NAME … --photographs DIR

TRIALS.md holds what each gave. All have the seed, the steps and the sizes of pictures of `SHORT`, and differ from one
another by what their line says. A run lies in OUT/NAME and goes on where it was stopped; what is measured is the
running mean of its weights: `python benchmarks/bundled.py OUT/NAME --photographs DIR`.
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
from playground.training.recipe import BUNDLED, Emergent
from workshop import views
from workshop.batches import Batches
from workshop.distil import Distilled, Statistics
from workshop.photographs import albums
from workshop.terminal import RUNS, ready_views

VIEWS = 2000
# No polish on the finer grid, one round: 600 steps instead of 6,912
SHORT = Emergent(steps=600, polish=0, rounds=1, coarse_views=VIEWS, workers=0)
WHOLE = {name: getattr(Emergent(), name) for name in ("steps", "polish", "coarse_views")}


class DisturbedTargets(Batches):
    """The averages that `rest` asks for are made of disturbed pixels, as they were for the first bundled model."""

    def __getitem__(self, step: int) -> dict[str, Tensor]:
        batch = super().__getitem__(step)
        return {**batch, "clean": batch["image"][: len(batch["clean"])]}


@dataclass(frozen=True)
class Trial:
    recipe: Emergent
    batches: Callable[[Emergent, Path, Path], Batches] = Batches


COSINE = replace(BUNDLED, qk_norm=True)
TRIALS = {
    "old": Trial(replace(SHORT, hidden=0), DisturbedTargets),  # as the first bundled model was trained
    "clean": Trial(replace(SHORT, hidden=0)),  # targets from before the disturbance
    "hidden": Trial(SHORT),  # and 45 % hidden in three of four views: the recipe
    "cosine": Trial(replace(SHORT, config=COSINE)),  # and queries and keys normalised, head by head
    "views": Trial(replace(SHORT, coarse_views=2 * VIEWS)),  # the recipe, on twice as many views
    "few": Trial(replace(SHORT, coarse_views=VIEWS // 5)),  # … on a fifth of them
    "narrow": Trial(replace(SHORT, hidden=0, decay_looking=False)),  # as clean, but queries and keys keep their length
    "again": Trial(replace(SHORT, seed=10)),  # the recipe with another seed: how far chance goes
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="+", choices=TRIALS, metavar="NAME", help=", ".join(TRIALS))
    parser.add_argument("--photographs", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, default=RUNS / "trials", metavar="DIR", help="default: %(default)s")
    parser.add_argument("--steps", type=int, default=SHORT.steps, help="the same for all (default: %(default)s)")
    parser.add_argument("--rounds", type=int, metavar="N", help="a whole run of N rounds instead, polish and all views")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.names:
        trial = TRIALS[name]
        recipe = replace(trial.recipe, steps=options.steps)
        if options.rounds:
            recipe = replace(recipe, **WHOLE, rounds=options.rounds)
        run(recipe, trial.batches, options.photographs, options.out, name)


def run(recipe: Emergent, batches: Callable, photographs: Path, out: Path, name: str) -> None:
    album, _ = albums(photographs)
    count, seed = recipe.coarse_views, SHORT.seed + 1  # the same views for all, whatever their seed is
    coarse = ready_views(out / f"views-{count}", album, count, recipe.coarse, seed)
    fine = coarse
    if recipe.polish:
        fine = ready_views(out / f"views-fine-{recipe.fine_views}", album, recipe.fine_views, recipe.fine, seed + 1)
    teachers = partial(Distilled, statistics=Statistics.of(views.read(coarse)))

    def tell(step: int, losses: dict[str, float], _) -> None:
        print(name, step, {loss: round(value, 3) for loss, value in losses.items()}, flush=True)

    train(recipe, out / name, data=batches(recipe, coarse, fine), teachers=teachers, device="cpu", tell=tell)


if __name__ == "__main__":
    main()
