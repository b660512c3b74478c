"""A guess before anything is shown: where will this patch look, in one head?"""

from __future__ import annotations

from playground.samples import start_patch
from playground.ui import guess
from playground.ui.here import Here
from playground.ui.lessons.heads import thumbnail


def paint_a_row(here: Here, seen) -> None:
    """Where will this patch look? In the head that is shown in the microscope, or else in one that is worth a guess."""
    from playground.analysis.heads import far_looking

    rows, columns = seen.grid
    row, column = start_patch(here.picture.name, seen.grid)
    if {"layer", "head"} <= here.view.keys():
        layer, head = min(int(here.view["layer"]), seen.layers - 1), int(here.view["head"]) % seen.heads
    else:
        layer, head = far_looking(seen, (row, column))

    def truth() -> guess.Truth:
        found = seen.on_grid(seen.row(layer, head, (row, column))).flatten()
        share = float(found.topk(max(1, len(found) // 50)).values.sum() / found.sum())
        return guess.Truth(
            [round(float(weight), 6) for weight in found],
            f" The brightest 2 % of the patches hold {share:.0%} of the row. Overlap: what an even coat of your paint "
            "and the row have in common.",
        )

    guess.row(
        "heads_row", f"Paint where the outlined patch will look, in head {head} of layer {layer}.",
        thumbnail(here.picture.jpeg), (rows, columns), row * columns + column, truth,
        context=(here.picture.id, here.wish, layer, head),
    )  # fmt: skip
