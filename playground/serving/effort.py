"""How long a forward pass would take on this server, estimated before it begins: others wait meanwhile."""

from __future__ import annotations

import time
from functools import cache

from playground.errors import PlaygroundError
from playground.names import plain_name

MOST_SECONDS = 10.0
SHARE = 0.9  # of the speed of one large matrix product that a whole pass reaches


def multiplications(vit, patches: int) -> float:
    """Of a forward pass: each weight meets each token, and each token each other one twice."""
    c = vit.config
    tokens = patches + len(c.prefix)
    weights = sum(p.numel() for p in vit.blocks.parameters()) + vit.patch_embed.proj.weight.numel()
    return weights * tokens + 2.0 * tokens**2 * c.width * c.depth


def seconds(vit, patches: int) -> float:
    return multiplications(vit, patches) / per_second(str(vit.patch_embed.proj.weight.device))


@cache
def per_second(device: str) -> float:
    """Multiplications per second in a pass on this device when nothing else runs. On a processor this thread's own time
    is taken, not the clock's: others compute meanwhile. Torch shares the work out evenly, so its part of it takes as
    long as the whole."""
    import torch

    tokens, width = 1024, 768
    x, w = torch.rand(tokens, width, device=device), torch.rand(width, 4 * width, device=device)
    clock = time.thread_time if device == "cpu" else time.perf_counter
    best = float("inf")
    for _ in range(6):
        began = clock()
        (x @ w).sum().item()  # a graphics card goes on in the background until a number is asked for
        best = min(best, clock() - began)
    return SHARE * tokens * width * 4 * width / best


def check(vit, grid: tuple[int, int]) -> None:
    rows, columns = grid
    expected = seconds(vit, rows * columns)
    if expected > MOST_SECONDS:
        raise PlaygroundError(
            f"{plain_name(vit.name)} over {rows} × {columns} patches would take about {expected:.0f} seconds on this "
            "server, while everybody else waits: choose fewer patches, or a smaller model."
        )
