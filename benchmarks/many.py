"""The cost of `trace_many`, compared with timm's batched forward pass of as many pictures in the same run:

python benchmarks/many.py           # DINOv2 S at 16 × 16, random weights, 1,000 pictures; --count N for fewer
"""

import argparse
import statistics
import time
from functools import partial

import harness  # noqa: F401  it puts the package on the path
import timm
import torch

import playground

BATCH = 8
BARS = {  # requested numbers -> most time that they may take, as a multiple of timm's forward pass
    ("features", "weights:8"): 1.1,
    ("entropy", "distance"): 1.6,
    ("relevance",): 4.0,
}


def measure_ratios(rounds: int) -> tuple[float, dict[tuple[str, ...], float]]:
    """(seconds of timm's forward pass, {requested numbers: their time as a multiple of timm's})"""
    timm_vit = timm.create_model("vit_small_patch14_dinov2", img_size=224, num_classes=0).eval()
    vit = playground.load(timm_vit)
    pixels = torch.randn(BATCH, 3, 224, 224)
    tasks = {"timm": partial(timm_vit.forward_features, pixels)}
    for numbers in BARS:
        tasks[numbers] = partial(playground.trace_many([None], vit, numbers, size=(224, 224))._pass, pixels)
    times: dict = {name: [] for name in tasks}
    for _ in range(rounds):  # in turns, so that a busy machine slows all of them
        for name, run in tasks.items():
            began = time.perf_counter()
            with torch.no_grad():
                run()
            times[name].append(time.perf_counter() - began)
    return statistics.median(times["timm"]), {
        numbers: statistics.median(a / b for a, b in zip(times[numbers], times["timm"], strict=True))
        for numbers in BARS
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    rounds = max(1, parser.parse_args().count // BATCH)
    base_seconds, ratios = measure_ratios(rounds)
    print(f"timm's forward of {BATCH} pictures of 257 tokens: {1000 * base_seconds:.0f} ms, median of {rounds}")
    for numbers, bar in BARS.items():
        print(f"{', '.join(numbers):20} {ratios[numbers]:.2f} ×, bar {bar} ×")


if __name__ == "__main__":
    main()
