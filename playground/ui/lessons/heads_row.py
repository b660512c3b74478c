"""A guess before anything is shown: where will this patch look, in one head?"""

from __future__ import annotations

from playground.lessons.questions import Painting, Photo, Question
from playground.samples import start_patch
from playground.ui import guess
from playground.ui.here import Here
from playground.ui.lessons.drawings import photo


def paint_a_row(here: Here, seen) -> None:
    """Where will this patch look? In the head that is shown in the microscope, or else in one that is worth a guess."""
    from playground.analysis.heads import far_looking

    rows, columns = seen.grid
    row, column = start_patch(here.picture.name, seen.grid)
    if {"layer", "head"} <= here.view.keys():
        layer, head = min(int(here.view["layer"]), seen.layers - 1), int(here.view["head"]) % seen.heads
    else:
        layer, head = far_looking(seen, (row, column))

    found = seen.on_grid(seen.row(layer, head, (row, column))).flatten()
    share = float(found.topk(max(1, len(found) // 50)).values.sum() / found.sum())
    guess.ask(
        Question(
            "heads_row", f"Paint where the outlined patch will look, in head {head} of layer {layer}.", Painting(),
            None,
            f"The brightest 2 % of the patches hold {share:.0%} of the row, its largest weight is "
            f"{float(found.max()):.1%}. "
            "Overlap: what an even coat of your paint and the row have in common.",
            Photo(
                photo(here.picture.jpeg), (rows, columns), columns / rows, mark=row * columns + column,
                heat=tuple(round(float(weight), 6) for weight in found), paints=True, height=400,
            ),
        ),
        (here.picture.id, here.wish, layer, head), afresh=True,
    )  # fmt: skip
