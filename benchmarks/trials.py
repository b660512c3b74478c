"""Prints the table of workshop/TRIALS.md: python benchmarks/trials.py RUN … --photographs DIR

Each run of `python -m workshop.trials` gets a line: the running mean of the run's weights is measured as in
benchmarks/bundled.py. A second line gives the difference from the first run. This difference is taken picture by
picture, so its error is smaller than the errors of the two numbers. A run with another seed shows the effect of chance.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from torch import Tensor

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import bundled  # noqa: E402
import eyes  # noqa: E402

from playground.scenes import generate  # noqa: E402
from playground.training import evaluate  # noqa: E402
from workshop.photographs import albums  # noqa: E402

COLUMNS = ("near", "far", "unlike", "pairs", "cosine")  # each has one number per picture or pair


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--photographs", type=Path, required=True, metavar="DIR")
    parser.add_argument("--views", type=Path, required=True, metavar="DIR", help="where DINOv2's features stay")
    parser.add_argument("--scenes", type=int, default=300, help="for F1 and the class token (default: %(default)s)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    held_album = albums(options.photographs)[1]
    pictures, grids = bundled.pasted_things(held_album)
    scenes = [generate.scene(generate.FIRST_HELD_OUT + i) for i in range(options.scenes)]
    print(f"| | steps | {' | '.join(COLUMNS)} | F1 | class token |\n|{'---|' * (len(COLUMNS) + 4)}")
    first_result = None
    for folder in options.runs:
        vit, read_out, step = bundled.load_run(folder)
        result = numbers_per_picture(vit, pictures, grids)
        result["cosine"] = torch.tensor(bundled.cosines(held_album, options.views, read_out))
        f1, attention_ratio = f1_and_attention_ratio(vit, scenes)
        cells = [mean_words(name, result[name]) for name in COLUMNS]
        print(f"| {folder.name} | {step} | {' | '.join(cells)} | {f1:.3f} | {attention_ratio:.2f} × |", flush=True)
        if first_result is not None:
            cells = [mean_words(name, result[name] - first_result[name], "+") for name in COLUMNS]
            print(f"| … less the first | | {' | '.join(cells)} | | |", flush=True)
        first_result = first_result or result


def numbers_per_picture(vit, pictures: list, grids: list) -> dict[str, Tensor]:
    rows_of = evaluate.rows_of_heads(vit)
    choice_shares, measured_shares = bundled.shares_on_things(pictures, grids, rows_of, "this model")
    kinds = {
        kind: evaluate.best_candidate(getattr(choice_shares, kind), getattr(measured_shares, kind))[1]
        for kind in COLUMNS[:3]
    }
    return {**kinds, "pairs": eyes.best_on_other_photographs(eyes.answers(vit))[0][:, 0]}


def f1_and_attention_ratio(vit, scenes: list) -> tuple[float, float]:
    """(macro-F1 with the learned thresholds, the class token's attention on objects divided by their area)"""
    sums = evaluate.Sums(vit, scenes)
    scores = evaluate.f1(torch.stack(sums.predicted), torch.stack(sums.labels))
    return float(scores.mean()), sum(sums.class_mass) / sum(sums.object_area)


def mean_words(name: str, values: Tensor, sign: str = "") -> str:
    """The mean and its error as text, in percent except for a cosine."""
    mean, error = evaluate.mean_and_error(values)
    number = f"{mean:{sign}.3f} ± {error:.3f}" if name == "cosine" else f"{100 * mean:{sign}.1f} ± {100 * error:.1f}"
    return number.replace("-", "−")


if __name__ == "__main__":
    main()
