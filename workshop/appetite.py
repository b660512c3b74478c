"""Measures how a small ViT and a small convolution net learn from 100, 1,000 and 10,000 drawings:
python -m workshop.appetite

Both have to name the kind of backdrop of a drawing of 32 × 32 pixels. They see equally many pictures in training,
have about equally many parameters, and are tested on the same drawings, which nobody learned from.
"""

from __future__ import annotations

import itertools
import json
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.assets import APPETITE
from playground.pictures.cifar import SIDE
from playground.vit import Config, VisionTransformer, attention_by_hand
from workshop.samples import small_drawing
from workshop.scenes.backdrops import BACKDROPS

COUNTS = (100, 1_000, 10_000)  # drawings to learn from
TEST_COUNT = 2_000
SEEDS = (0, 1, 2)  # each takes other drawings of the ten thousand, and other first weights
STEPS, BATCH, WARM_UP, RATE, DECAY = 400, 64, 40, 2e-3, 0.05
CONFIG = Config(
    image_size=(SIDE, SIDE), patch_size=4, depth=2, width=48, mlp_width=192, heads=3, pool="avg", cls_token=False,
    classes=len(BACKDROPS),
)  # fmt: skip
CHANNELS = (24, 48, 56, 72)  # of the convolutions, each 3 × 3 with a stride of 2


def convolution_net() -> nn.Module:
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise((3, *CHANNELS)):
        convolution = nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False)
        layers += [convolution, nn.BatchNorm2d(after), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(CHANNELS[-1], len(BACKDROPS)))


def vit(seed: int) -> nn.Module:
    model = VisionTransformer(CONFIG, seed)
    for block in model.blocks:
        block.attn.mix = attention_by_hand  # on a CPU, its backward pass is faster than the fused one's
    return model


NETS = {"vit": vit, "convolution": lambda seed: convolution_net()}


def drawings(count: int) -> tuple[Tensor, Tensor]:
    """(pictures (N, 3, 32, 32) around 0, kinds of backdrop (N,))"""
    scenes = [small_drawing(number) for number in range(count)]
    pictures = torch.from_numpy(np.stack([scene.image for scene in scenes])).permute(0, 3, 1, 2) / 127.5 - 1
    return pictures, torch.tensor([scene.backdrop for scene in scenes])


def train(net: nn.Module, pictures: Tensor, names: Tensor, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(net.parameters(), RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, STEPS, pct_start=WARM_UP / STEPS)
    net.train()
    for _ in range(STEPS):
        chosen = torch.randint(len(names), (BATCH,), generator=generator)
        batch = pictures[chosen]
        mirrored = torch.rand(BATCH, generator=generator) < 0.5
        batch[mirrored] = batch[mirrored].flip(-1)
        optimiser.zero_grad()
        F.cross_entropy(net(batch), names[chosen]).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        schedule.step()


@torch.no_grad()
def accuracy(net: nn.Module, pictures: Tensor, names: Tensor) -> float:
    net.eval()
    right = sum(
        int((net(batch).argmax(-1) == of_batch).sum())
        for batch, of_batch in zip(pictures.split(200), names.split(200), strict=True)
    )
    return right / len(names)


def measure() -> dict:
    pictures, names = drawings(TEST_COUNT + max(COUNTS))
    test, pool = (pictures[:TEST_COUNT], names[:TEST_COUNT]), (pictures[TEST_COUNT:], names[TEST_COUNT:])
    results: dict = {
        "counts": COUNTS, "tested": TEST_COUNT, "kinds": len(BACKDROPS), "seen": STEPS * BATCH,
        "commonest": float(test[1].bincount().max()) / TEST_COUNT, "nets": {},
    }  # fmt: skip
    for name, make in NETS.items():
        torch.manual_seed(0)
        parameters = sum(p.numel() for p in make(0).parameters())
        results["nets"][name] = {"parameters": parameters, "tested": [], "learned": []}
        for count in COUNTS:
            tested, learned = [], []
            for seed in SEEDS:
                start = time.time()
                torch.manual_seed(seed)
                chosen = torch.randperm(len(pool[1]), generator=torch.Generator().manual_seed(seed))[:count]
                net, own = make(seed), (pool[0][chosen], pool[1][chosen])
                train(net, *own, seed)
                tested.append(round(accuracy(net, *test), 4))
                learned.append(round(accuracy(net, own[0][:TEST_COUNT], own[1][:TEST_COUNT]), 4))
                print(f"{name}, {count} drawings, seed {seed}: {tested[-1]:.3f} of new ones, {learned[-1]:.3f} of its "
                      f"own, {time.time() - start:.0f} s", flush=True)  # fmt: skip
            results["nets"][name]["tested"].append(tested)
            results["nets"][name]["learned"].append(learned)
    return results


if __name__ == "__main__":
    APPETITE.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
