"""How good each relevance is on a picture.

Of each method: its rank correlation with what blanking blocks of patches moves, and the areas under the curves of
deletion (the larger the better) and insertion (the smaller the better). What has a sign, gradient × input of a label,
has to foretell the sign of a move; the others foretell its size. Beside them stand rollout, and a map drawn at random,
which any method has to beat.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.analysis import occlusion
from playground.errors import PlaygroundError
from playground.tracing import METHODS, Query, Trace

CONTROLS = ("rollout", "random")


@dataclass(frozen=True)
class Score:
    method: str
    rank_correlation: float  # with what blanking moves
    deletion: float
    insertion: float


def scores(seen: Trace, asked: occlusion.Asked, by: str = "mean", methods: Sequence[str] = METHODS) -> Iterator[Score]:
    """Of each method, and of the controls: each takes some thirty passes."""
    measured = occlusion.Measured(seen, asked, by)
    side = occlusion.side_of(seen.grid)
    moves = measured.moved(occlusion.blocks(seen.grid, side))
    for method in (*methods, *CONTROLS):
        found = _map(seen, asked, method)
        yield Score(
            method,
            occlusion.foretells(found, side, moves),
            occlusion.deletion(found, measured).area,
            occlusion.insertion(found, measured).area,
        )


def _map(seen: Trace, asked: occlusion.Asked, method: str) -> Tensor:
    """(rows, columns)"""
    if method == "random":
        return torch.rand(seen.grid, generator=torch.Generator().manual_seed(0))
    if method == "rollout":
        return seen.on_grid(seen.rollout(_reads(seen) if asked.query is None else asked.query))
    return seen.on_grid(seen.relevance(asked.query, asked.label, method))


def _reads(seen: Trace) -> Query:
    """The token whose rollout is compared with a label's relevance: the class token, or the patch in the middle."""
    return "cls" if "cls" in seen.prefix else (seen.grid[0] // 2, seen.grid[1] // 2)


def answer_of(seen: Trace, query: Query | None, label: str | int | None) -> occlusion.Asked:
    """What is explained by default: the likeliest label, or the patch in the middle."""
    if query is not None and label is not None:
        raise PlaygroundError("Relevance is of a patch or of a label: give one of the two.")
    if label is not None:
        return occlusion.Asked(label=seen.label(label))
    if query is not None:
        return occlusion.Asked(query=query)
    if seen.logits is not None:
        return occlusion.Asked(label=int(seen.logits.argmax()))
    return occlusion.Asked(query=(seen.grid[0] // 2, seen.grid[1] // 2))


def words(seen: Trace, asked: occlusion.Asked) -> str:
    if asked.label is None:
        return asked.query if isinstance(asked.query, str) else "{},{}".format(*asked.query)  # type: ignore[misc]
    named = seen.vit.config.labels  # type: ignore[union-attr]
    return named[int(asked.label)] if named else f"class {asked.label}"
