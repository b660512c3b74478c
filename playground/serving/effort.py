"""Estimates, before they begin, how long decoding a picture or a forward pass takes on this server."""

from __future__ import annotations

import struct
import time
from functools import cache
from typing import TYPE_CHECKING

from playground.errors import PlaygroundError
from playground.models.names import plain_name

if TYPE_CHECKING:
    from playground.vit import VisionTransformer

# The time to decode a picture is estimated from the file's first bytes, so that quick pictures come first. Phones send
# JPEG, screenshots are PNG; every other file counts as costly. decoder.py limits files with false headers.

PNG_BYTES_PER_SECOND = 100e6  # bytes of decoded pixels, on an old and busy processor
JPEG_PIXELS_PER_SECOND = 100e6
UNKNOWN_SECONDS = 2.0  # the estimate for every other file
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # channels by PNG colour type


def seconds_to_decode(data: bytes) -> float:
    try:
        if data.startswith(b"\x89PNG"):
            width, height, bits, colour_type = struct.unpack_from(">IIBB", data, 16)
            return width * height * bits / 8 * CHANNELS[colour_type] / PNG_BYTES_PER_SECOND
        return _jpeg_seconds(data) if data.startswith(b"\xff\xd8\xff") else UNKNOWN_SECONDS
    except (struct.error, KeyError):
        return UNKNOWN_SECONDS


def _jpeg_seconds(data: bytes) -> float:
    """Seconds to decode a JPEG. A progressive JPEG updates all pixels in each scan; ten scans are usual."""
    position = 2
    while position < len(data):
        marker, length = struct.unpack_from(">xBH", data, position)
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, position + 5)
            return width * height * (max(1, data.count(b"\xff\xda")) if marker == 0xC2 else 1) / JPEG_PIXELS_PER_SECOND
        position += 2 + length
    return UNKNOWN_SECONDS


MOST_SECONDS = 10.0
PASS_SPEED = 0.9  # speed of a whole pass divided by the speed of one large matrix product


def multiplications(vit: VisionTransformer, patch_count: int) -> float:
    """Multiplications of a forward pass: every weight by every token, and every pair of tokens twice (QKᵀ and A·V)."""
    config = vit.config
    tokens = patch_count + len(config.prefix)
    weights = sum(p.numel() for block in vit.blocks for p in block.parameters()) + vit.patch_embed.proj.weight.numel()
    return weights * tokens + 2.0 * tokens**2 * config.width * config.depth


def seconds(vit: VisionTransformer, patch_count: int) -> float:
    return multiplications(vit, patch_count) / multiplications_per_second(str(vit.patch_embed.proj.weight.device))


@cache
def multiplications_per_second(device: str) -> float:
    """Multiplications per second on an idle device. On a CPU this thread's processor time is measured, because other
    work runs at the same time. Torch splits a product evenly, so all its threads take equally long."""
    import torch

    tokens, width = 1024, 768
    x, w = torch.rand(tokens, width, device=device), torch.rand(width, 4 * width, device=device)
    clock = time.thread_time if device == "cpu" else time.perf_counter
    least_seconds = float("inf")
    for _ in range(6):
        start_time = clock()
        (x @ w).sum().item()  # .item() waits until the device has finished
        least_seconds = min(least_seconds, clock() - start_time)
    return PASS_SPEED * tokens * width * 4 * width / least_seconds


def check(vit: VisionTransformer, grid: tuple[int, int], passes: float = 1.0) -> None:
    rows, columns = grid
    expected_seconds = passes * seconds(vit, rows * columns)
    if expected_seconds > MOST_SECONDS:
        passes_words = "" if passes == 1 else f", {passes:.2g} times,"
        raise PlaygroundError(
            f"{plain_name(vit.name)} over {rows} × {columns} patches{passes_words} would take about "
            f"{expected_seconds:.0f} seconds on this server, while everybody else waits: choose fewer patches or a "
            "smaller model."
        )


def passes_in_time(vit: VisionTransformer, grid: tuple[int, int]) -> int:
    """How many passes over this grid fit into MOST_SECONDS."""
    return int(MOST_SECONDS / seconds(vit, grid[0] * grid[1]))
