"""Compares the browser's engine with Python: python benchmarks/site.py [--times 5]

Under Node, for each model: the difference between rows with 8-bit model weights and Python's on photographs, and
the time of a pass, also of the CPU, because the machine may have other work. The engine uses one thread.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

import harness  # noqa: F401  it puts the package on the path
import numpy as np
from engine_under_node import distance, photographs, rows_in_engine, rows_in_python, run_pass

from playground.models import loading
from playground.pictures.images import fit, open_image
from playground.samples import named
from playground.tracing import trace
from workshop import kernels

GRIDS = {"bundled": ((14, 14), (28, 28)), "dinov2-small": ((16, 16), (28, 28))}
MB = 1e6


def print_differences(name: str, folder: Path) -> None:
    vit, differences, largest_difference = loading.load(name, device="cpu"), [], 0.0
    patch = vit.config.patch_size
    for picture in photographs().values():
        image = open_image(picture)
        model_trace = trace(vit, image, size=fit(image.size, patch, tuple(side * patch for side in GRIDS[name][0])))
        python_rows = rows_in_python(model_trace)
        float_pass, rounded_pass = run_pass(model_trace, folder), run_pass(model_trace, folder, "int8")
        largest_difference = max(
            largest_difference,
            float(np.abs(rows_in_engine(float_pass.q, float_pass.k, model_trace) - python_rows).max()),
        )
        differences.append(distance(rows_in_engine(rounded_pass.q, rounded_pass.k, model_trace), python_rows))
    megabytes = (folder / "weights.bin").stat().st_size / MB
    drift, same_share = (statistics.mean(column) for column in zip(*differences, strict=True))
    print(f"{name}: {', '.join(photographs())}")
    worst_case = max(difference for difference, _ in differences), min(same_share for _, same_share in differences)
    print(f"{name}: 32-bit weights, largest difference of a weight: {largest_difference:.1e} (bar: 1e-4)")
    print(
        f"{name}: 8-bit weights, {megabytes:.1f} MB (24.5), {len(differences)} photographs: total variation {drift:.4f}"
        f" (0.008), worst {worst_case[0]:.4f}; same top patch {same_share:.1%} (97 %), worst {worst_case[1]:.1%}"
    )


def print_speed(name: str, folder: Path, times: int) -> None:
    vit = loading.load(name, device="cpu")
    image = open_image(named("meadow").path).resize((640, 640))
    for grid in GRIDS[name]:
        model_trace = trace(vit, image, size=tuple(n * vit.config.patch_size for n in grid))
        timings = run_pass(model_trace, folder, "int8", runs=times + 1)
        wall_seconds, cpu_seconds = (
            statistics.median(milliseconds[1:]) / 1000 for milliseconds in (timings.wall, timings.cpu)
        )
        title = f"{name}, {grid[0]} × {grid[1]}, under Node"
        print(
            f"{title}: all layers {wall_seconds:.2f} s wall, {cpu_seconds:.2f} s CPU; "
            f"{timings.bytes / MB:.0f} MB of memory"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    engine_bytes = sum(file.stat().st_size for file in (*kernels.ENGINE.glob("*.js"), kernels.MODULE))
    print(
        f"engine and kernels: {engine_bytes / 1000:.1f} kB (40), "
        f"the kernels alone {kernels.MODULE.stat().st_size:,} bytes"
    )
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        for name in GRIDS:
            print_differences(name, folder)
            print_speed(name, folder, times)


if __name__ == "__main__":
    main()
