"""The threshold of each class: how large its logit has to be until the model says that the class is there.

Binary cross-entropy teaches a probability. Who says yes from one half on is right as often as can be, and hardly ever
says yes to what is rare and hard to see. F1 counts each label alike, the rare ones too: the biases of the class head
are moved so that it is best at one half. Nothing else is touched.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from playground.models import loading, model_file
from playground.scenes import generate
from playground.scenes.generate import presence
from playground.training.evaluate import f1
from playground.training.losses import pixels
from playground.vit import VisionTransformer

SCENES = 1500  # that decide; not those that the model is measured on
TOGETHER = 50
SHIFTS = torch.linspace(-2.5, 2.5, 51)


@torch.no_grad()
def answers(vit: VisionTransformer, first_number: int, count: int) -> tuple[Tensor, Tensor]:
    """Of `count` drawn scenes from this number on: (scenes, labels) the logits, and what is there."""
    predicted, labels, side = [], [], vit.config.image_size[0]
    for start in range(first_number, first_number + count, TOGETHER):
        scenes = [generate.scene(number, side) for number in range(start, min(start + TOGETHER, first_number + count))]
        images = torch.stack([torch.from_numpy(scene.image) for scene in scenes])
        predicted.append(vit(pixels(images, vit.config)))
        labels += [torch.from_numpy(presence(scene)) > 0 for scene in scenes]
    return torch.cat(predicted), torch.stack(labels)


def shifts(predicted: Tensor, labels: Tensor) -> Tensor:
    """(labels,) what to add to each logit."""
    scores = torch.stack([f1(predicted + shift > 0, labels) for shift in SHIFTS])  # (shifts, labels)
    is_best = scores == scores.amax(0)
    return (is_best * SHIFTS[:, None]).sum(0) / is_best.sum(0)  # the middle of those that are equally good


@torch.no_grad()
def at_one_half(run: Path) -> None:
    """Moves the biases of the class head, in the model of a finished run, so that F1 is best at one half."""
    file = run / "model.safetensors"
    vit = loading.load(str(file), device="cpu")
    vit.head.bias += shifts(*answers(vit, generate.HELD_OUT - 2 * SCENES, SCENES))
    model_file.save(vit, file)
