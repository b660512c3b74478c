"""Trains a model in the terminal, with a progress bar, the losses, and a picture that is redrawn. Ctrl-C saves the
state."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from typing import TypeVar

from PIL import Image
from tqdm import tqdm

from playground.errors import PlaygroundError
from playground.pictures.images import open_image
from playground.samples import SAMPLES
from playground.tracing import Query
from playground.vit import VisionTransformer
from workshop import preview, views
from workshop.batches import Batches
from workshop.distil import DistillationLosses, Statistics
from workshop.loop import TELL_EVERY, checked_device, steps_done, train
from workshop.order import reorder_run
from workshop.photographs import Album, albums
from workshop.recipe import Course, Emergent, Recipe
from workshop.thresholds import move_thresholds

RUNS = Path("runs")
MEADOW = SAMPLES[0]
FOREHEAD = (0.6, 0.45)  # place of the cat's forehead in the sample picture, as shares of height and width
REDRAW_EVERY = 100  # steps between two drawings of the picture
SEED_COUNT = 256  # number of allowed seeds: larger ones would reach the held-out scenes
C = TypeVar("C", bound=Course)


@dataclasses.dataclass(frozen=True)
class Choices:
    """The options of the command `train`; an option that was not given is None."""

    out: Path | None = None
    steps: int | None = None
    seed: int = 0
    workers: int | None = None
    device: str | None = None

    def __post_init__(self):
        if self.steps is not None and self.steps < 1:
            raise PlaygroundError(f"--steps is at least 1; given was {self.steps}.")
        if not 0 <= self.seed < SEED_COUNT:
            raise PlaygroundError(f"--seed goes from 0 to {SEED_COUNT - 1}; given was {self.seed}.")
        if self.workers is not None and not 0 <= self.workers <= 64:
            raise PlaygroundError(f"--workers goes from 0 to 64; given was {self.workers}.")

    def applied_to(self, recipe: C) -> tuple[C, Path, str]:
        workers = min(8, max(1, (os.cpu_count() or 1) // 2)) if self.workers is None else self.workers
        return dataclasses.replace(recipe, workers=workers), self.out or RUNS / recipe.name, checked_device(self.device)


def train_on_scenes(choices: Choices) -> None:
    """Trains the model whose attention is supervised, from random weights."""
    recipe = Recipe(seed=choices.seed)
    recipe, out, device = choices.applied_to(dataclasses.replace(recipe, steps=choices.steps or recipe.steps))
    side = recipe.config.image_size[0] // recipe.config.patch_size
    query = tuple(int(share * side) for share in FOREHEAD)
    with Terminal(recipe, out, open_image(MEADOW.path), query) as terminal:
        train(recipe, out, device=device, tell=terminal.tell, stopped=terminal.stopped)
    terminal.goodbye()


def train_on_photographs(folder: Path, choices: Choices) -> None:
    """Trains a model without losses on attention: it learns to predict DINOv2's features."""
    recipe = Emergent(seed=choices.seed)
    recipe, out, device = choices.applied_to(dataclasses.replace(recipe, steps=choices.steps or recipe.steps))
    album, _ = albums(folder)
    coarse = ready_views(
        out / "views-coarse", album, recipe.coarse_views, recipe.coarse, (recipe.seed + 1) % SEED_COUNT
    )
    fine = ready_views(out / "views-fine", album, recipe.fine_views, recipe.fine, (recipe.seed + 2) % SEED_COUNT)
    query = tuple(int(share * recipe.coarse) for share in FOREHEAD)
    teachers = partial(DistillationLosses, statistics=Statistics.of(views.read(coarse)))
    with Terminal(recipe, out, open_image(MEADOW.path), query) as terminal:
        data = Batches(recipe, coarse, fine)
        train(recipe, out, data=data, teachers=teachers, device=device, tell=terminal.tell, stopped=terminal.stopped)
    if not terminal.stopped():
        reorder_run(out)
        move_thresholds(out)
    terminal.goodbye()


def ready_views(folder: Path, album: Album, count: int, side: int, seed: int) -> Path:
    """Fills the folder with views and DINOv2's features; ten views of 14 × 14 patches take about a second on two
    cores."""
    progress = views.prepare(folder, album, count, side, seed)
    with tqdm(total=count, desc=f"DINOv2 looks, {side} × {side}", unit="view", disable=not sys.stderr.isatty()) as bar:
        for view_count in progress:
            bar.update(view_count - bar.n)
    return folder


class Terminal:
    """Shows a progress bar and a picture. The first Ctrl-C ends the run after the current step, the second at once."""

    def __init__(self, recipe: Course, out: Path, image: Image.Image, query: Query):
        self.recipe, self.out, self.image, self.query = recipe, out, image, query
        self.step = steps_done(out)
        self.picture = out / "attention.png"
        self._drawn, self._stop = False, threading.Event()
        self._catches = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Terminal:
        start_words = f"going on from step {self.step}" if self.step else "from nothing"
        print(
            f"training {self.recipe.name} {start_words}, {self.recipe.total} steps in all; Ctrl-C keeps what there is"
        )
        print(f"what it listens to, drawn again and again: {self.picture}")
        self.bar = tqdm(
            total=self.recipe.total, initial=self.step, unit="step", smoothing=0.05, disable=not sys.stderr.isatty()
        )
        if self._catches:
            self._before = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *_) -> None:
        self.bar.close()
        if self._catches:
            signal.signal(signal.SIGINT, self._before)

    def _interrupted(self, *_) -> None:
        self._stop.set()
        signal.signal(signal.SIGINT, self._before)

    def stopped(self) -> bool:
        return self._stop.is_set()

    def tell(self, step: int, losses: dict[str, float], vit: VisionTransformer) -> None:
        self.step = step
        loss_words = ", ".join(f"{name} {value:.2f}" for name, value in losses.items())
        self.bar.update(step - self.bar.n)
        self.bar.set_postfix_str(loss_words)
        print_every = max(TELL_EVERY, self.recipe.total // 40 // TELL_EVERY * TELL_EVERY)
        if self.bar.disable and step % print_every == 0:
            print(f"step {step} of {self.recipe.total}: {loss_words}", flush=True)
        if step % REDRAW_EVERY == 0 or not self._drawn:
            self._drawn = True
            preview.write(preview.attention_wall(vit, self.image, self.query), self.picture)

    def goodbye(self) -> None:
        model = self.out / "model.safetensors"
        if self.stopped():
            print(f"stopped; the same command goes on from here. As far as it has come: {model}")
            raise KeyboardInterrupt
        print(f'done. Load it with playground.load("{model}"), or in the app, or with --model {model}')
