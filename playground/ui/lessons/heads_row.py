"""A guess before anything is shown: where will this patch look, in one head?"""

from __future__ import annotations

from playground.lessons.questions import Photo
from playground.lessons.words import heads as said
from playground.samples import start_patch
from playground.serving.here import Here
from playground.ui import guess
from playground.ui.lessons import beside
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
    shown = Photo(
        photo(here.picture.jpeg), (rows, columns), columns / rows, mark=row * columns + column,
        heat=tuple(round(float(weight), 6) for weight in found), paints=True, height=400,
        beside=beside.around(here.picture.jpeg, seen.grid, (row, column), said.ASKS),
    )  # fmt: skip
    question = said.row(layer, head, share, float(found.max()), shown)
    guess.ask(question, (here.picture.id, here.wish, layer, head), afresh=True)
