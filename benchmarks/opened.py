"""Compares a visitor's models in the browser and in Python: python benchmarks/opened.py [FAMILY …]

A model of each family is saved by timm or `transformers`, with random weights. The model's queries and keys are scaled
until the median of the rows' largest weights is 20 times an even row's weight. The browser's code opens the files under
Node, in float32 and in 8 bits. The rows of both sides on eight pictures are compared by the total variation of a row,
and by the share of rows with their largest weight at the same token. Prints means, with the worst picture in brackets.
"""

import sys
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

PICTURES = 8
BARS = {"float32": (1e-4, 0.97), "int8": (0.008, 0.97)}


def pictures() -> list:
    """The photographs on this machine, then drawings."""
    from engine_under_node import photographs

    from playground.pictures.images import open_image
    from playground.samples import samples

    files = [*photographs().values(), *(sample.path for sample in samples() if sample.kind != "photograph")]
    return [open_image(file) for file in files[:PICTURES]]


def main() -> None:
    from sharp_models import FAMILIES, compare, make_sharp

    sample_pictures = pictures()
    print("| family | largest weight, × even | float32: apart, same strongest | 8 bits: apart, same strongest | |")
    print("|---|---|---|---|---|", flush=True)
    missed_count = 0
    for family in sys.argv[1:] or FAMILIES:
        with TemporaryDirectory() as folder_name:
            folder = Path(folder_name)
            sharp_model = make_sharp(family, folder / "model", sample_pictures[0])
            table_cells, meets_bars = [], True
            for numbers, (most_apart, least_same) in BARS.items():
                comparisons = compare(sharp_model, sample_pictures, folder, numbers)
                mean_difference, mean_same = (
                    mean(values)
                    for values in (
                        [comparison.difference for comparison in comparisons],
                        [comparison.same_share for comparison in comparisons],
                    )
                )
                meets_bars = meets_bars and mean_difference <= most_apart and mean_same >= least_same
                worst_difference = max(comparison.difference for comparison in comparisons)
                table_cells.append(f"{mean_difference:.1e} ({worst_difference:.1e}), {mean_same:.1%}")
            missed_count += not meets_bars
            print(
                f"| {family} | {sharp_model.times_even:.0f} | {' | '.join(table_cells)} "
                f"| {'' if meets_bars else 'missed'} |",
                flush=True,
            )
    if missed_count:
        raise SystemExit(f"{missed_count} families miss a bar: {BARS}")


if __name__ == "__main__":
    main()
