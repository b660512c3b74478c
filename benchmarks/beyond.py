"""The cost of cuts and relevance, as multiples of a forward pass: python benchmarks/beyond.py [--times 5]

Times are CPU times of one thread, so that other programs on the machine change little. Memory of relevance is read
from /proc and compared with that of a trace. The script also prints how well each method of relevance predicts the
effect of blanking a block of 4 × 4 patches of a sample photograph, as a rank correlation over the blocks. For
comparison, it prints the same for rollout, for a layer's mean weights, and for the nearness of the patches.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import playground  # noqa: E402
from playground import relevance, tracing  # noqa: E402
from playground.analysis import occlusion  # noqa: E402
from playground.samples import PHOTOGRAPHS  # noqa: E402

SIZES = {"dinov2-small": (23 * 14, 34 * 14), "bundled": None}
BLOCK = 4  # patches along a block's side


def median_seconds(task: Callable[[], object], times: int) -> float:
    def time_once() -> float:
        began = time.thread_time()
        task()
        return time.thread_time() - began

    return statistics.median(time_once() for _ in range(times))


def print_costs(name: str, times: int) -> None:
    vit = playground.load(name)
    image = playground.open_image(PHOTOGRAPHS[0].path)
    size = SIZES[name]
    trace = tracing.trace(vit, image, size=size)
    last_patch = ",".join(str(side - 1) for side in trace.grid)
    measurements = {
        "an edge cut in all layers": (lambda: tracing.trace(vit, image, size=size, cut=f"0,0>{last_patch}"), 1.3),
        "every patch hears its 3 × 3 alone": (lambda: tracing.trace(vit, image, size=size, cut="*>3x3"), 1.3),
        **{f"relevance: {m}": (lambda m=m: trace.relevance((1, 1), method=m), 3.5) for m in relevance.METHODS},
    }
    # Each round measures a pass and the work in turn, so that other load affects both alike.
    for title, (task, bar) in measurements.items():
        ratios = []
        for _ in range(times):
            one_pass = median_seconds(lambda: tracing.trace(vit, image, size=size), 1)
            ratios.append(median_seconds(task, 1) / one_pass)
        print(f"| {name}, {trace.tokens} tokens | {title} | {statistics.median(ratios):.2f} × a pass | ≤ {bar} × |")


def print_memory() -> None:
    """Prints the additional peak memory of a trace and of relevance, for DINOv2 S at 32 × 32 patches."""
    vit = playground.load("dinov2-small")
    image = playground.open_image(PHOTOGRAPHS[0].path)
    model_trace = None

    def trace() -> None:
        nonlocal model_trace
        model_trace = tracing.trace(vit, image, size=(32 * 14, 32 * 14))

    trace()
    for method in relevance.METHODS:  # the first calls fill caches
        model_trace.relevance((1, 1), method=method)
    model_trace = None
    trace_bytes = peak_increase(trace)
    for method in relevance.METHODS:
        relevance_bytes = peak_increase(lambda method=method: model_trace.relevance((1, 1), method=method))
        print(
            f"| dinov2-small, {model_trace.tokens} tokens | memory of relevance: {method} | "
            f"{relevance_bytes / 2**20:.0f} MB, {relevance_bytes / trace_bytes:.2f} × a trace "
            f"({trace_bytes / 2**20:.0f} MB) | ≤ 2 × |"
        )


def peak_increase(task: Callable[[], object]) -> int:
    def status_bytes(name: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))

    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # resets the recorded peak
    memory_before = status_bytes("VmRSS")
    task()
    return status_bytes("VmHWM") - memory_before


def print_correlations(times: int) -> None:
    vit = playground.load("dinov2-small")
    correlations: dict[str, list[float]] = {}
    for sample in PHOTOGRAPHS[:times]:
        image = playground.open_image(sample.path)
        trace = tracing.trace(vit, image, size=tracing.images.fit(image.size, 14, (20 * 14, 20 * 14)))
        rows, columns = trace.grid
        query = (int(sample.start[0] * rows), int(sample.start[1] * columns))
        effects = occlusion.Blanking(trace, occlusion.Target(query=query))
        blocks = occlusion.blocks(trace.grid, BLOCK)
        blocks = [blocks[i] for i in occlusion.comparable(blocks)]
        movements = [abs(move) for move in effects.moved(blocks)]
        r, c = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
        distances = ((r - query[0]) ** 2 + (c - query[1]) ** 2).float().sqrt()
        maps = {f"relevance: {m}": trace.on_grid(trace.relevance(query, method=m)) for m in relevance.METHODS}
        maps |= {
            "rollout": trace.on_grid(trace.rollout(query)),
            "weights of layer 6, mean of heads": trace.on_grid(trace.rows(6, query).mean(0)),
            "nearness alone": distances.max() - distances,
        }
        for name, map_ in maps.items():
            sums = [float(map_[block].sum()) for block in blocks]
            correlations.setdefault(name, []).append(occlusion.spearman(sums, movements))
    for name, values in correlations.items():
        numbers = " ".join(f"{value:.2f}" for value in values)
        print(f"| {name} | {statistics.mean(values):.2f} | {numbers} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--costs-only", action="store_true")
    options = parser.parse_args()
    times = options.times
    torch.set_num_threads(1)
    print("| where | what | time | bar |\n|---|---|---|---|")
    for name in SIZES:
        print_costs(name, times)
    print_memory()
    torch.set_num_threads(os.cpu_count() or 1)
    if options.costs_only:
        return
    print("\n| of DINOv2 S, 20 × 20 and the like | rank correlation with what blanking moves | each photograph |")
    print("|---|---|---|")
    print_correlations(times)
    print(f"\n{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")


if __name__ == "__main__":
    main()
