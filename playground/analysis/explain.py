"""Does the map explain? Five maps of what matters for one patch, each scored by what blanking really changes; how good
each relevance is on a picture; where the class token's map lies on drawn scenes; and which patches are like a text."""

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
        drawn = _map(seen, asked, method)
        yield Score(
            method,
            occlusion.foretells(drawn, side, moves),
            occlusion.deletion(drawn, measured).area,
            occlusion.insertion(drawn, measured).area,
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
    maps: dict[str, Tensor]  # name -> (rows, columns); nothing where the asking patch's own block lies
    moved: Tensor  # (rows, columns): how far the patch's feature moves without the block around each patch; likewise
    scores: dict[str, float]  # rank correlation with that, over equal blocks that do not hold the patch itself
    blocks: int  # that were blanked
    compared: int  # of them
    side: int  # of a block, in patches
    top: tuple[int, int]  # the patch to which rollout gives most, outside of the asking one's block
    top_share: float  # what it gives it
    top_moves: float  # how far the feature moves without the block around it
    top_rank: int  # from 1: how many blocks move it at least as far


CHANCE = ("random", "constant")  # maps that know nothing: a score that praises one of them measures something else

# Of our small model: how well each map ranks blocks by what blanking them moves (Spearman), averaged over three patches
# of each drawing. A test computes one drawing again.
FORETOLD = {
    "meadow": {
        "weight": 0.6,
        "arrives": 0.67,
        "rollout": 0.81,
        "gradient": 0.6,
        "colour": 0.52,
        "random": 0.05,
        "constant": 0.0,
    },
    "flock": {
        "weight": 0.52,
        "arrives": 0.57,
        "rollout": 0.78,
        "gradient": 0.53,
        "colour": 0.56,
        "random": -0.08,
        "constant": 0.0,
    },
    "still-life": {
        "weight": 0.66,
        "arrives": 0.66,
        "rollout": 0.85,
        "gradient": 0.54,
        "colour": 0.48,
        "random": -0.11,
        "constant": 0.0,
    },
    "portrait": {
        "weight": 0.77,
        "arrives": 0.79,
        "rollout": 0.82,
        "gradient": 0.74,
        "colour": 0.58,
        "random": 0.08,
        "constant": 0.0,
    },
}
ASKERS = ((0.62, 0.4), (0.3, 0.7), (0.85, 0.25))  # shares of height and width


def maps(seen: Trace, pixels: np.ndarray, query: tuple[int, int]) -> dict[str, Tensor]:
    """(rows, columns) of each: the weights of the last layer, the same times the lengths of the values, rollout,
    gradient × weight through all layers, what a filter of colours and places says, and two that know nothing. `pixels`
    is the picture, (H, W, 3)."""
    last = seen.layers - 1
    rows = seen.rows(last, query)  # (heads, tokens)
    colours = colour_nearness.mean_colours(pixels, seen.grid)
    patch = query[0] * seen.grid[1] + query[1]
    rows_of = {
        "weight": rows.mean(0),
        "arrives": (rows * seen.value_norms(last)).mean(0),
        "rollout": seen.rollout(query).flatten(),
        "gradient": seen.relevance(query, method="chefer"),
    }
    drawn = {name: seen.on_grid(row.float().cpu()) for name, row in rows_of.items()}
    drawn["colour"] = torch.from_numpy(colour_nearness.row_of(colours, patch)).float().view(seen.grid)
    drawn["random"] = _map(seen, occlusion.Asked(query=query), "random")
    drawn["constant"] = torch.ones(seen.grid)
    return drawn


def own_block(grid: tuple[int, int], side: int, query: tuple[int, int]) -> Tensor:
    """(rows, columns) bool: every map knows this one, so it is left out."""
    return next(block for block in occlusion.blocks(grid, side) if block[query])


def moves_of(
    seen: Trace, query: tuple[int, int], side: int, give_way: Callable[[], object] = lambda: None
) -> Iterator[list[float]]:
    """How far the feature moves without each block, so far: it grows by a few passes at a time."""
    measured = occlusion.Measured(seen, occlusion.Asked(query=query), give_way=give_way)
    blocks, moves = occlusion.blocks(seen.grid, side), []
    for start in range(0, len(blocks), occlusion.AT_ONCE):
        moves = [*moves, *measured.moved(blocks[start : start + occlusion.AT_ONCE])]
        yield moves


def explain(found: dict[str, Tensor], query: tuple[int, int], side: int, moves: Sequence[float]) -> Explained:
    """`side`: of a block, in patches; `moves`: how far the patch's feature moves without each block. A block has the
    mean of a map, and only blocks of one size are compared: a larger one moves more and has more of every map, so that
    a map which is the same everywhere would seem to know which blocks matter."""
    grid = tuple(found["constant"].shape)
    blocks, own = occlusion.blocks(grid, side), own_block(grid, side, query)  # type: ignore[arg-type]
    moved = sum(block * move for block, move in zip(blocks, moves, strict=True)) * ~own
    far = [move for block, move in zip(blocks, moves, strict=True) if not block[query]]
    elsewhere = [n for n, block in enumerate(blocks) if not block[query]]
    alike = [elsewhere[n] for n in occlusion.equal([blocks[n] for n in elsewhere])]
    scores = {
        name: occlusion.spearman([float(drawn[blocks[n]].mean()) for n in alike], [moves[n] for n in alike])
        for name, drawn in found.items()
    }
    rolled = found["rollout"].masked_fill(own, 0)
    top = divmod(int(rolled.argmax()), grid[1])
    there = next(move for block, move in zip(blocks, moves, strict=True) if block[top])
    shown = {name: drawn.masked_fill(own, 0) for name, drawn in found.items()}
    rank = sum(move >= there for move in far)
    return Explained(shown, moved, scores, len(blocks), len(alike), side, top, float(rolled[top]), there, rank)


def foretold(seen: Trace, pixels: np.ndarray) -> dict[str, float]:
    """Of each map its mean score over the ASKERS."""
    side, several = occlusion.side_of(seen.grid), []
    for down, across in ASKERS:
        query = (int(down * seen.grid[0]), int(across * seen.grid[1]))
        *_, moves = moves_of(seen, query, side)
        several.append(explain(maps(seen, pixels, query), query, side, moves).scores)
    return {name: sum(one[name] for one in several) / len(several) for name in several[0]}


# Of a text


def likeness(seen: Trace, direction: Tensor, layer: int | None = None) -> Tensor:
    """(tokens,): what the model would read of each token if that were all there is, as it leaves a layer, beside the
    direction of a text (models/text_tower.py). The model was trained to read its class token, or all patches together,
    after the last layer: of one patch it is what it would say."""
    read = seen.alone(layer)
    if read.shape[1] != len(direction):
        raise PlaygroundError(
            f"{seen.model} reads pictures into {read.shape[1]} numbers and its text tower texts into {len(direction)}: "
            "they do not belong together. Of CLIP, save the whole model, with both projections."
        )
    return torch.cosine_similarity(read, direction[None], dim=-1)
