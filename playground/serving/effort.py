"""How long forward passes would take on this server, estimated before they begin: others wait meanwhile."""

from __future__ import annotations

import time
from bisect import bisect_right
from functools import cache

from playground.errors import PlaygroundError
from playground.models.names import plain_name

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


def check(vit, grid: tuple[int, int], passes: float = 1.0) -> None:
    rows, columns = grid
    expected = passes * seconds(vit, rows * columns)
    if expected > MOST_SECONDS:
        often = "" if passes == 1 else f", {passes:.2g} times,"
        few = _most_patches(vit, passes, rows * columns)
        fewer = f"fewer patches, about {few:,} of them, or " if few else ""
        raise PlaygroundError(
            f"{plain_name(vit.name)} over {rows} × {columns} patches{often} would take about {expected:.0f} seconds on "
            f"this server, while everybody else waits: choose {fewer}a smaller model."
        )


def passes_in_time(vit, grid: tuple[int, int]) -> int:
    """How many passes over such a grid are quick enough together."""
    return int(MOST_SECONDS / seconds(vit, grid[0] * grid[1]))


def _most_patches(vit, passes: float, too_many: int) -> int:
    """How many are quick enough, rounded down to two digits."""
    found = max(0, bisect_right(range(too_many), MOST_SECONDS, key=lambda n: passes * seconds(vit, n)) - 1)
    tens = 10 ** max(0, len(str(found)) - 2)
    return found // tens * tens
