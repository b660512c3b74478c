"""Measures the time and peak memory of one layer as the number of tokens grows, on this machine.

`python -m playground.analysis.benchmark WIDTH HEADS KERNEL BYTES` measures in its own process, so that the measured
peak of memory belongs to the layer alone. For each line of input the process runs one step and prints one line of JSON.
`Series` starts such a process, requests one step after the other and reads the output. The process has hard limits of
memory and time, runs at low priority, and is the first that Linux ends if memory runs out.
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
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

MATERIALISED, FUSED, CONVOLUTION = "materialised attention", "fused attention", "convolution"
WINDOWS, LINEAR = "in windows", "linear attention"
# kind of layer -> largest power of the number of tokens with which time and memory grow
GROWTH_POWERS = {MATERIALISED: 2, FUSED: 2, WINDOWS: 1, LINEAR: 1, CONVOLUTION: 1}
SIDES = (8, 12, 16, 24, 32, 48, 64)  # patches along a side of the square grid: 64 to 4,096 tokens
STEP_COUNT = len(SIDES) * len(GROWTH_POWERS)
MOST_BYTES = 1024**3
OWN_BYTES = 400 * 1024**2  # bytes that the process needs before its first step
CGROUP = Path("/sys/fs/cgroup")  # holds a container's memory limit
MOST_PASS_SECONDS = 5.0  # a pass that is expected to take longer is skipped
MOST_SECONDS = 90  # most seconds for the whole series
LOOK_EVERY = 0.2  # seconds between two checks whether a reader still waits for the series
REPEATS, ENOUGH_SECONDS = 5, 0.3  # a step is timed five times, or for 0.3 seconds; the fastest counts


@dataclass(frozen=True)
class Point:
    """One kind of layer at one number of tokens. If there is a `skip_reason`, the numbers are only estimates."""

    kind: str
    tokens: int
    seconds: float
    bytes: int | None  # rise of the peak memory during the step; None if the system can't measure it
    skip_reason: str = ""  # "memory" or "time"; "" if the layer was run


# In the process that measures -----------------------------------------------------------------------------------------


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
    import torch.nn.functional as F

    side = math.isqrt(q.shape[2]) // WINDOW

    def windows_of(x: Tensor) -> Tensor:
        grid = x.unflatten(2, (side, WINDOW, side, WINDOW)).transpose(3, 4)  # (B, h, side, side, W, W, d)
        return grid.flatten(4, 5).flatten(0, 1).flatten(1, 2)  # (B·h, windows, W², d)

    mixture = F.scaled_dot_product_attention(windows_of(q), windows_of(k), windows_of(v), scale=scale)
    grid = mixture.unflatten(1, (side, side)).unflatten(3, (WINDOW, WINDOW)).transpose(2, 3)
    return grid.flatten(1, 4).view(q.shape)


def linear_attention(q: Tensor, k: Tensor, v: Tensor, scale: float, mask: Tensor | None = None) -> Tensor:
    """Linear attention: φ(q)·φ(k) instead of exp(q·k), with φ = elu + 1. Keys and values are multiplied first."""
    import torch.nn.functional as F

    q, k = F.elu(q) + 1, F.elu(k) + 1
    key_values = k.mT @ v  # (B, h, d, d)
    return q @ key_values / (q @ k.sum(2, keepdim=True).mT)


def _layers(width: int, heads: int, kernel: int) -> dict[str, Callable[[int], Callable]]:
    """For each kind of layer, a function that takes a side and returns a function that runs the layer once over
    side × side tokens."""
    import torch
    from torch import nn

    from playground.vit import Attention, Config, attention, attention_by_hand

    mix_functions = {
        MATERIALISED: attention_by_hand,
        FUSED: attention,
        WINDOWS: window_attention,
        LINEAR: linear_attention,
    }
    attentions = {kind: Attention(Config(width=width, heads=heads)) for kind in mix_functions}
    for kind, mix in mix_functions.items():
        attentions[kind].mix = mix
    convolution = nn.Conv2d(width, width, kernel, padding=kernel // 2)

    def attention_over(layer: Attention) -> Callable[[int], Callable]:
        def runner(side: int) -> Callable:
            x = torch.randn(1, side**2, width)
            return lambda: layer(x, None, None)

        return runner

    def convolution_over(side: int) -> Callable:
        x = torch.randn(1, width, side, side)
        return lambda: convolution(x)

    return {kind: attention_over(layer) for kind, layer in attentions.items()} | {CONVOLUTION: convolution_over}


def _expected_point(kind: str, tokens: int, former_point: Point | None, most_bytes: int, deadline: float) -> Point:
    """Extrapolates time and memory from the former step of this kind, and decides whether to skip the next one."""
    if former_point is None:
        return Point(kind, tokens, 0.0, 0)
    growth = (tokens / former_point.tokens) ** GROWTH_POWERS[kind]
    seconds, expected_bytes = (
        former_point.seconds * growth,
        None if former_point.bytes is None else round(former_point.bytes * growth),
    )
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
        memory_before = _memory("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):
        run()
        return None
    run()
    return max(0, _memory("VmHWM") - memory_before)


def _memory(field: str) -> int:
    """The value of a line of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field}")


def _limit_process(most_bytes: int) -> None:
    """Lowers this process's priority, makes it the first to be ended if memory runs out, and limits memory and time."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(15)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    with contextlib.suppress(OSError, ImportError, ValueError):
        import resource

        limit = _memory("VmData") + 3 * most_bytes // 2
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    with contextlib.suppress(ImportError, AttributeError):
        import signal

        signal.alarm(MOST_SECONDS + 30)  # ends the process, whatever it is doing


def main(arguments: list[str]) -> None:
    width, heads, kernel, most_bytes = (int(text) for text in arguments)
    import torch

    torch.set_num_threads(1)  # steadier timings, and the other cores stay free
    torch.set_grad_enabled(False)
    _limit_process(most_bytes)  # after torch's import, so that torch's own memory is not counted
    points = measure(width, heads, kernel, most_bytes)
    while sys.stdin.readline() and (point := next(points, None)):
        print(json.dumps(asdict(point)), flush=True)


# In the server ------------------------------------------------------------------------------------------------------


class Series:
    """A running or finished measurement; `points` grows while it runs."""

    def __init__(self, width: int, heads: int, kernel: int):
        self.points: list[Point] = []
        spare_bytes = memory_to_spare()
        self.running = spare_bytes > 0  # without spare memory nothing is started: Linux might end the server
        if not self.running:
            return
        arguments = [width, heads, kernel, spare_bytes]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "playground.analysis.benchmark", *map(str, arguments)],
            cwd=Path(__file__).parent.parent.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert self._process.stdin
        assert self._process.stdout
        self._to, self._from = self._process.stdin, self._process.stdout
        self._news = threading.Event()  # set when a step is done or the process has ended
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def each_moment(self, give_way: Callable[[], object]) -> Iterator[None]:
        """Yields every LOOK_EVERY seconds until the series has ended, and calls `give_way` before each step. Closing
        the iterator early stops the series."""
        request_count = 0
        try:
            while self.running:
                if request_count == len(self.points):
                    give_way()
                    self._ask()
                    request_count += 1
                self._news.wait(LOOK_EVERY)
                self._news.clear()
                yield
        finally:
            if self.running:
                self._process.kill()

    def _ask(self) -> None:
        with contextlib.suppress(OSError):  # the process has ended
            self._to.write("\n")
            self._to.flush()

    def _read(self) -> None:
        with contextlib.suppress(OSError), self._process:  # the process may end while it is read
            for line in self._from:
                with contextlib.suppress(ValueError, TypeError):
                    self.points.append(Point(**json.loads(line)))
                    self._news.set()
        self.running = False
        self._news.set()


def memory_to_spare() -> int:
    """The memory limit of a series in bytes: a quarter of what is free once the process has started, at most a
    gigabyte."""
    limits = [OWN_BYTES + 4 * MOST_BYTES]
    with contextlib.suppress(OSError, KeyError):
        limits.append(1024 * _numbers_by_name(Path("/proc/meminfo"))["MemAvailable:"])
    with contextlib.suppress(OSError, KeyError, ValueError):
        # cached files: Linux drops them when memory is short
        cached_bytes = _numbers_by_name(CGROUP / "memory.stat")["inactive_file"]
        limits.append(
            int((CGROUP / "memory.max").read_text()) - int((CGROUP / "memory.current").read_text()) + cached_bytes
        )
    return max(0, min(limits) - OWN_BYTES) // 4


def _numbers_by_name(file: Path) -> dict[str, int]:
    """{name: number}, from a file each of whose lines holds a name and a number."""
    return {words[0]: int(words[1]) for line in file.read_text().splitlines() if len(words := line.split()) > 1}


if __name__ == "__main__":
    main(sys.argv[1:])
