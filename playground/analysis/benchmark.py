"""Measures the time and peak memory of one layer as the number of tokens grows, on this machine.

`python -m playground.analysis.benchmark WIDTH HEADS KERNEL BYTES` prints a line of JSON for each step. It is a process
of its own, so that the measured peak of memory belongs to the layer alone. It has hard limits of memory and time, runs
at low priority, and is the first that Linux ends if memory runs out. `series` starts it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.numbers import bytes_in
from playground.pictures.decoder_process import limit_memory
from playground.relevance import free_bytes
from playground.vit import Attention, Config, attention, attention_by_hand

MATERIALISED, FUSED, CONVOLUTION = "materialised attention", "fused attention", "convolution"
WINDOWS, LINEAR = "in windows", "linear attention"
# kind of layer -> largest power of the number of tokens with which time and memory grow
GROWTH_POWERS = {MATERIALISED: 2, FUSED: 2, WINDOWS: 1, LINEAR: 1, CONVOLUTION: 1}
SIDES = (8, 12, 16, 24, 32, 48, 64)  # patches along a side of the square grid: 64 to 4,096 tokens
STEP_COUNT = len(SIDES) * len(GROWTH_POWERS)
MOST_BYTES = 1024**3
OWN_BYTES = 400 * 1024**2  # bytes that the process needs before its first step
MOST_PASS_SECONDS = 5.0  # a pass that is expected to take longer is skipped
MOST_SECONDS = 90  # most seconds for the whole series
STATUS = Path("/proc/self/status")
LOOK_EVERY = 0.2  # seconds between two looks at the points so far
REPEATS, ENOUGH_SECONDS = 5, 0.3  # a step is timed five times, or for 0.3 seconds; the fastest counts


@dataclass(frozen=True)
class Point:
    """One kind of layer at one number of tokens. If there is a `skip_reason`, the numbers are only estimates."""

    kind: str
    tokens: int
    seconds: float
    bytes: int | None  # rise of the peak memory during the step; None if the system can't measure it
    skip_reason: str = ""  # "memory" or "time"; "" if the layer was run


def measure(width: int, heads: int, kernel: int, most_bytes: int) -> Iterator[Point]:
    """One point for every kind and side. Once a kind is skipped, its larger sides are skipped too."""
    deadline = time.monotonic() + MOST_SECONDS
    layers = _layers(width, heads, kernel)
    for layer in layers.values():
        layer(SIDES[0])()  # a warm-up, so that what libraries allocate on first use is not counted
    former_points: dict[str, Point] = {}
    for side in SIDES:
        for kind, layer in layers.items():
            point = _expected_point(kind, side**2, former_points.get(kind), most_bytes, deadline)
            if not point.skip_reason:
                try:
                    point = Point(kind, side**2, *_seconds_and_memory(layer(side)))
                except (RuntimeError, MemoryError):  # the process has reached its memory limit
                    point = Point(kind, side**2, point.seconds, point.bytes, "memory")
            former_points[kind] = point
            yield point


WINDOW = 4  # patches along the side of a window


def window_attention(q: Tensor, k: Tensor, v: Tensor, scale: float, mask: Tensor | None = None) -> Tensor:
    """Each token attends to the tokens of its window alone; the tokens are a square grid of patches."""
    side = math.isqrt(q.shape[2]) // WINDOW

    def windows_of(x: Tensor) -> Tensor:
        grid = x.unflatten(2, (side, WINDOW, side, WINDOW)).transpose(3, 4)  # (B, h, side, side, W, W, d)
        return grid.flatten(4, 5).flatten(0, 1).flatten(1, 2)  # (B·h, windows, W², d)

    mixture = F.scaled_dot_product_attention(windows_of(q), windows_of(k), windows_of(v), scale=scale)
    grid = mixture.unflatten(1, (side, side)).unflatten(3, (WINDOW, WINDOW)).transpose(2, 3)
    return grid.flatten(1, 4).view(q.shape)


def linear_attention(q: Tensor, k: Tensor, v: Tensor, scale: float, mask: Tensor | None = None) -> Tensor:
    """Linear attention: φ(q)·φ(k) instead of exp(q·k), with φ = elu + 1. Keys and values are multiplied first."""
    q, k = F.elu(q) + 1, F.elu(k) + 1
    key_values = k.mT @ v  # (B, h, d, d)
    return q @ key_values / (q @ k.sum(2, keepdim=True).mT)


def _layers(width: int, heads: int, kernel: int) -> dict[str, Callable[[int], Callable]]:
    """For each kind of layer, a function that takes a side and returns a function that runs the layer once over
    side × side tokens."""
    convolution = nn.Conv2d(width, width, kernel, padding=kernel // 2)

    def attention_by(mix: Callable) -> Callable[[int], Callable]:
        layer = Attention(Config(width=width, heads=heads))
        layer.mix = mix
        return lambda side: partial(layer, torch.randn(1, side**2, width), None, None)

    return {
        MATERIALISED: attention_by(attention_by_hand),
        FUSED: attention_by(attention),
        WINDOWS: attention_by(window_attention),
        LINEAR: attention_by(linear_attention),
        CONVOLUTION: lambda side: partial(convolution, torch.randn(1, width, side, side)),
    }


def _expected_point(kind: str, tokens: int, former_point: Point | None, most_bytes: int, deadline: float) -> Point:
    """Extrapolates time and memory from the former step of this kind, and decides whether to skip the next one."""
    if former_point is None:
        return Point(kind, tokens, 0.0, 0)
    growth = (tokens / former_point.tokens) ** GROWTH_POWERS[kind]
    seconds = former_point.seconds * growth
    expected_bytes = None if former_point.bytes is None else round(former_point.bytes * growth)
    reason = former_point.skip_reason
    if expected_bytes is not None and expected_bytes > most_bytes:
        reason = reason or "memory"
    if seconds > MOST_PASS_SECONDS or time.monotonic() + 2 * seconds > deadline:
        reason = reason or "time"
    return Point(kind, tokens, seconds, expected_bytes, reason)


def _seconds_and_memory(run: Callable) -> tuple[float, int | None]:
    """The fastest time of a pass, and its peak memory in bytes."""
    peak = _peak_of(run)
    durations: list[float] = []
    while len(durations) < REPEATS and sum(durations) < ENOUGH_SECONDS:
        start = time.perf_counter()
        run()
        durations.append(time.perf_counter() - start)
    return min(durations), peak


def _peak_of(run: Callable) -> int | None:
    """The rise of the process's memory during a run; None off Linux, where no process can reset its recorded peak."""
    try:
        ctypes.CDLL(None).malloc_trim(0)  # returns freed memory to the system; reusing it would not show in the peak
        memory_before = bytes_in(STATUS, "VmRSS")
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):
        memory_before = None
    run()
    peak = bytes_in(STATUS, "VmHWM")
    return None if peak is None or memory_before is None else max(0, peak - memory_before)


def _limit_process(most_bytes: int) -> None:
    """Lowers this process's priority, and limits its memory and time."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(15)
    limit_memory((bytes_in(STATUS, "VmData") or OWN_BYTES) + 3 * most_bytes // 2)
    with contextlib.suppress(ImportError, AttributeError):
        import signal

        signal.alarm(MOST_SECONDS + 30)  # ends the process, whatever it is doing


def main(arguments: list[str]) -> None:
    width, heads, kernel, most_bytes = map(int, arguments)
    torch.set_num_threads(1)  # steadier timings, and the other cores stay free
    torch.set_grad_enabled(False)
    _limit_process(most_bytes)  # after torch's import, so that torch's own memory is not counted
    for point in measure(width, heads, kernel, most_bytes):
        print(json.dumps(asdict(point)), flush=True)


def series(width: int, heads: int, kernel: int) -> Iterator[list[Point]]:
    """Every LOOK_EVERY seconds the points so far, until all are measured; closing the iterator stops the process that
    measures. It may take a quarter of the free memory, at most a gigabyte."""
    spare_bytes = min(MOST_BYTES, max(0, (free_bytes(torch.device("cpu")) or 4 * MOST_BYTES) - OWN_BYTES) // 4)
    command = [sys.executable, "-m", "playground.analysis.benchmark", *map(str, (width, heads, kernel, spare_bytes))]
    points: list[Point] = []
    with subprocess.Popen(
        command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:

        def read() -> None:
            with contextlib.suppress(ValueError):  # half a line of a process that was ended
                points.extend(Point(**json.loads(line)) for line in process.stdout or ())

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            while reader.is_alive():
                reader.join(LOOK_EVERY)
                yield points
        finally:
            process.kill()


if __name__ == "__main__":
    main(sys.argv[1:])
