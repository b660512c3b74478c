"""The sizes of a figure's files and the times to make them, as a table for docs/pages/numbers.md:
python benchmarks/figure_files.py

The time of tracing the picture does not count. Times are medians of five; `--times 1` suffices for the sizes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import harness  # noqa: F401  it puts the package on the path

import playground
from playground.errors import PlaygroundError

SUBJECTS = (("bundled", "meadow"), ("dinov2-small", "chelsea"))
FILES = {  # title -> (suffix of the file, options of the figure)
    "one head, a slide": (".png", {}),
    "the same": (".svg", {}),
    "the same ": (".pdf", {}),
    "one head, CVPR's column": (".pdf", {"width": 82.6}),
    "all heads, NeurIPS' width": (".pdf", {"layout": "heads", "width": 139.7}),
    "3 layers × 6 heads, NeurIPS' width": (
        ".pdf", {"layout": "grid", "rows": "layers:1,3,5", "columns": "heads:0-5", "width": 139.7},
    ),
    "all heads of all layers, a slide": (".png", {"layout": "wall"}),
    "one head's numbers": (".npz", {}),
    "alive, one layer": (".html", {"layer": 5}),
    "alive, all layers": (".html", {"all_layers": True}),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    columns = []
    for model, sample in SUBJECTS:
        try:
            trace = playground.trace(model, sample)
        except PlaygroundError as error:
            print(f"without {model}: {error}", file=sys.stderr)
            continue
        title = f"{model}, {trace.grid[0]} × {trace.grid[1]}"
        columns.append((title, [size_and_time(trace, *FILES[file_name], times) for file_name in FILES]))
    print(f"| file | {' | '.join(title for title, _ in columns)} |")
    print(f"|---|{'---|' * len(columns)}")
    for row, (file_name, (suffix, _)) in enumerate(FILES.items()):
        print(f"| {file_name.strip()}, {suffix} | {' | '.join(cells[row] for _, cells in columns)} |")


def size_and_time(trace, suffix: str, options: dict, times: int) -> str:
    times_taken = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(times):
            began = time.perf_counter()
            file = playground.save(trace, Path(folder) / f"figure{suffix}", **options)
            times_taken.append(time.perf_counter() - began)
        size = file.stat().st_size
    size_words = f"{size / 1e6:.2f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
    return f"{size_words}, {statistics.median(times_taken):.2f} s"


if __name__ == "__main__":
    main()
