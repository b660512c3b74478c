"""Measures heads with sharper rows: python benchmarks/sharper.py MODEL … --photographs DIR

Prints the table of workshop/TRIALS.md: the share of attention on a patch's own thing and on partner regions, in
percent, if the scale before the softmax is larger. Only the measured rows get the larger scale, not the rows inside the
forward pass. For each scale, the head is chosen on pictures that are not measured. benchmarks/bundled.py defines the
measures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import bundled
import eyes
from trials import mean_words

from playground.models import zoo
from playground.training import evaluate
from workshop.photographs import albums

KINDS = ("near", "far", "unlike")
FACTORS = (1, 2, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--photographs", type=Path, required=True, metavar="DIR")
    options = parser.parse_args()
    torch.set_num_threads(1)
    pictures, grids = bundled.pasted_things(albums(options.photographs)[1])
    print(f"| | scale | {' | '.join(KINDS)} | pairs |\n|{'---|' * (len(KINDS) + 3)}")
    filter_shares = bundled.shares_on_things(pictures, grids, evaluate.rows_of_filter, "filter")
    print_line("the filter", "", filter_shares, eyes.filter_answers())
    for name in options.models:
        vit = zoo.load(name, device="cpu")
        for factor in FACTORS:
            table = bundled.shares_on_things(pictures, grids, sharper_rows(vit, factor), name)
            print_line(f"`{name}`", f"× {factor}", table, eyes.answers(vit, factor))


def sharper_rows(vit, scale: float) -> Callable:
    """A function that returns the rows of all heads at the larger scale."""
    rows_of = evaluate.rows_of_heads(vit)
    return lambda *given: eyes.sharper(rows_of(*given), scale)


def print_line(name: str, scale: str, shares: tuple, tables: list[torch.Tensor]) -> None:
    choice_shares, measured_shares = shares  # see bundled.shares_on_things
    numbers = {
        kind: evaluate.best_candidate(getattr(choice_shares, kind), getattr(measured_shares, kind))[1] for kind in KINDS
    }
    numbers["pairs"] = eyes.best_on_other_photographs(tables)[0][:, 0]
    print(
        f"| {name} | {scale} | {' | '.join(mean_words(kind, values) for kind, values in numbers.items())} |", flush=True
    )


if __name__ == "__main__":
    main()
