"""Training runs for tests, so small that a step takes milliseconds."""

import dataclasses

import torch

from workshop.recipe import BUNDLED_CONFIG, Emergent, Recipe

TINY = dataclasses.replace(BUNDLED_CONFIG, depth=2, width=24, mlp_width=48, heads=2, registers=1, image_size=(64, 64))
RECIPE = Recipe(
    steps=8, batch=4, workers=0, config=TINY, middle=0, gathering=((0, 0), (1, 1)), beside=(0, 1), around=(1, 0),
    near_side=32, small_side=48, near_until=0.25, small_until=0.5, polish=0.25, even=(1, 1),
)  # fmt: skip
EMERGENT = Emergent(
    steps=8, batch=12, workers=0, config=TINY, polish=0.25, near=4, coarse=8, fine=10, named=3, fine_batch=3,
    fine_named=1, asked=(0, 1),
)  # fmt: skip


def weights(vit):
    return torch.cat([p.detach().flatten() for p in vit.parameters()])
