"""Moves the thresholds of classes: the logit above which the model counts a class as present.

Binary cross-entropy teaches probabilities. A threshold of one half gives most right answers, but hardly ever
finds rare labels that are hard to see. F1 gives rare labels the same weight: the biases of the class head
are moved so that F1 is best at one half. All other weights stay.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from playground.models import loading, model_file
from playground.vit import VisionTransformer
from workshop.evaluate import f1
from workshop.losses import normalised_pixels
from workshop.scenes import generate
from workshop.scenes.generate import presence

SCENE_COUNT = 1500  # drawn scenes for choosing the thresholds; other scenes measure the model
SCENES_PER_PASS = 50
SHIFTS = torch.linspace(-2.5, 2.5, 51)


@torch.no_grad()
def answers(vit: VisionTransformer, first_number: int, count: int) -> tuple[Tensor, Tensor]:
    """(logits, labels) of `count` drawn scenes from this number on: (scenes, labels) each."""
    logits, labels, side = [], [], vit.config.image_size[0]
    for start in range(first_number, first_number + count, SCENES_PER_PASS):
        scenes = [
            generate.scene(number, side) for number in range(start, min(start + SCENES_PER_PASS, first_number + count))
        ]
        images = torch.stack([torch.from_numpy(scene.image) for scene in scenes])
        logits.append(vit(normalised_pixels(images, vit.config)))
        labels += [torch.from_numpy(presence(scene)) > 0 for scene in scenes]
    return torch.cat(logits), torch.stack(labels)


def best_shifts(logits: Tensor, labels: Tensor) -> Tensor:
    """(labels,): the number to add to each logit."""
    scores = torch.stack([f1(logits + shift > 0, labels) for shift in SHIFTS])  # (shifts, labels)
    is_best = scores == scores.amax(0)
    return (is_best * SHIFTS[:, None]).sum(0) / is_best.sum(0)  # the mean of the equally good shifts


@torch.no_grad()
def move_thresholds(run: Path) -> None:
    """Moves the biases of the class head, in the model of a finished run, so that F1 is best at one half."""
    file = run / "model.safetensors"
    vit = loading.load(str(file), device="cpu")
    vit.head.bias += best_shifts(*answers(vit, generate.FIRST_HELD_OUT - 2 * SCENE_COUNT, SCENE_COUNT))
    model_file.save(vit, file)
