"""Trains a very small model from scratch for the lesson about training: about a minute on two slow cores.

The losses and the loop are the bundled model's, but the scenes are close-ups of one or two things, and the model has
three layers of three heads. Its attention is measured every twenty steps, which gives a time-lapse while it learns.
"""

from __future__ import annotations

import ctypes
import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from PIL import Image

from playground.scenes import generate
from playground.training import timelapse
from playground.training.loop import TELL_EVERY, train
from playground.training.losses import LOSSES
from playground.training.recipe import BUNDLED, Recipe
from playground.training.timelapse import Moment, Timelapse
from playground.vit import VisionTransformer

SMALL = Recipe(
    steps=400, polish=0, batch=8, rate=2e-3, matrix_rate=6e-3, warm_up=20, average=0.97, middle=1,
    near_until=1.0, small_until=1.0, near_side=56,  # close-ups all the way
    gathering=((1, 0), (2, 0)), gathering_from=0.0, even_from=0.5, beside=(0, 2), around=(1, 2), workers=0,
    name="small", config=dataclasses.replace(
        BUNDLED, image_size=(56, 56), patch_size=4, depth=3, width=72, mlp_width=144, heads=3, registers=2
    ),
)  # fmt: skip
MOST_SECONDS = 180  # on a machine that is busy with other things
SCENES = 4  # held out, to measure the heads on


def train_now(
    image: Image.Image,
    tell: Callable[[Timelapse], None],
    stopped: Callable[[], bool] = lambda: False,
    recipe: Recipe = SMALL,
) -> Timelapse:
    """Calls `tell` with the time-lapse so far, every twenty steps; nothing is left on the disk."""
    until = time.monotonic() + MOST_SECONDS
    held_out = [generate.close_up(generate.HELD_OUT + i, recipe.near_side) for i in range(SCENES)]
    moments: list[Moment] = []
    curve: list[list[float]] = []

    def look(step: int, losses: dict[str, float], vit: VisionTransformer) -> None:
        if losses:
            curve.append([step, *losses.values()])
        moments.append(timelapse.look(step, vit, image, held_out))
        tell(so_far())

    def so_far() -> Timelapse:
        points = np.array(curve, np.float32).reshape(-1, 1 + len(LOSSES))
        return Timelapse(recipe.name, "", LOSSES, points, tuple(moments))

    with one_core(), TemporaryDirectory() as folder:
        look(0, {}, VisionTransformer(recipe.config, recipe.seed).eval())
        train(recipe, Path(folder), device="cpu", tell=look, stopped=lambda: stopped() or time.monotonic() > until)
    return so_far()


@contextmanager
def one_core() -> Iterator[None]:
    """Runs this thread's matrix products on one core: small ones are slower on two, and a core stays free for others.

    torch.set_num_threads would also affect threads that start meanwhile; OpenMP's own setting is per thread. Does
    nothing if torch was built without OpenMP.
    """
    before = torch.get_num_threads()  # first, because torch's first call in a thread resets the thread's number
    set_threads = getattr(ctypes.CDLL(torch._C.__file__), "omp_set_num_threads", lambda number: None)
    set_threads(1)
    try:
        yield
    finally:
        set_threads(before)


def planned(recipe: Recipe = SMALL) -> int:
    """The number of moments in the finished time-lapse."""
    return 1 + recipe.steps // TELL_EVERY


def weights(recipe: Recipe = SMALL) -> int:
    """The number of parameters."""
    return sum(p.numel() for p in VisionTransformer(recipe.config, recipe.seed).parameters())
