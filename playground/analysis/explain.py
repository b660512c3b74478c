"""Does the map explain? Five maps of what matters for one patch, each scored by what blanking really changes; how good
each relevance is on a picture; and where the class token's map lies on drawn scenes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from playground.analysis import colour_nearness, occlusion
from playground.errors import PlaygroundError
from playground.tracing import METHODS, Query, Trace

# How good each relevance is on a picture.
#
# Of each method: its rank correlation with what blanking blocks of patches moves, and the areas under the curves of
# deletion (the larger the better) and insertion (the smaller the better). What has a sign, gradient × input of a
# label, has to foretell the sign of a move; the others foretell its size. Beside them stand rollout, and a map drawn
# at random, which any method has to beat.

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


# Where the class token's map lies, of our small model on drawn scenes whose things are known: its share on the
# things whose label it names, and the share that their area has. A test computes it again.
ON_THE_NAMED = {"rollout": 0.150, "gradient": 0.367, "area": 0.140}
NAMED_SCENES = 60


@dataclass(frozen=True)
class Explained:
    maps: dict[str, Tensor]  # name -> (rows, columns)
    moved: Tensor  # (rows, columns): how far the patch's feature moves without the block around each patch
    scores: dict[str, float]  # rank correlation with that, over the blocks that do not hold the patch itself
    blocks: int  # that were blanked
    side: int  # of a block, in patches
    top: tuple[int, int]  # the patch to which rollout gives most, outside of the asking one's block
    top_share: float  # what it gives it
    top_moves: float  # how far the feature moves without the block around it
    top_rank: int  # from 1: how many blocks move it at least as far


def maps(seen: Trace, pixels: np.ndarray, query: tuple[int, int]) -> dict[str, Tensor]:
    """(rows, columns) of each: the weights of the last layer, the same times the lengths of the values, rollout,
    gradient × weight through all layers, and what a filter of colours and places says. `pixels` is the picture,
    (H, W, 3)."""
    last = seen.layers - 1
    rows = seen.rows(last, query)  # (heads, tokens)
    colours = colour_nearness.mean_colours(pixels, seen.grid)
    patch = query[0] * seen.grid[1] + query[1]
    found = {
        "weight": rows.mean(0),
        "arrives": (rows * seen.value_norms(last)).mean(0),
        "rollout": seen.rollout(query).flatten(),
        "gradient": seen.relevance(query, method="chefer"),
    }
    drawn = {name: seen.on_grid(row.float().cpu()) for name, row in found.items()}
    drawn["colour"] = torch.from_numpy(colour_nearness.row_of(colours, patch)).float().view(seen.grid)
    return drawn


def explain(
    seen: Trace, pixels: np.ndarray, query: tuple[int, int], side: int, give_way: Callable[[], object] = lambda: None
) -> Explained:
    """`side`: of a block, in patches. `give_way` is called after every few passes: a server lets others come in
    between."""
    found, blocks = maps(seen, pixels, query), occlusion.blocks(seen.grid, side)
    moves = occlusion.Measured(seen, occlusion.Asked(query=query), give_way=give_way).moved(blocks)
    moved = sum(block * move for block, move in zip(blocks, moves, strict=True))
    others = [n for n, block in enumerate(blocks) if not block[query]]
    far = [moves[n] for n in others]
    scores = {
        name: occlusion.spearman([float(drawn[blocks[n]].sum()) for n in others], far) for name, drawn in found.items()
    }
    own = next(block for block in blocks if block[query])
    rolled = found["rollout"].masked_fill(own, 0)
    top = divmod(int(rolled.argmax()), seen.grid[1])
    there = next(move for block, move in zip(blocks, moves, strict=True) if block[top])
    return Explained(
        found, moved, scores, len(blocks), side, top, float(rolled[top]), there, sum(move >= there for move in far)
    )
