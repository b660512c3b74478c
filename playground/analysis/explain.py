"""Do maps explain? Five maps of what matters for one patch, scored by what blanking changes; scores of each method of
relevance on a picture; where the class token's maps lie on drawn scenes; and which patches are like a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from playground.analysis import colour_nearness, occlusion
from playground.errors import PlaygroundError
from playground.tracing import METHODS, Query, Trace

# Scores of each method of relevance on a picture: its rank correlation with what blanking blocks of patches moves, and
# the areas under the curves of deletion (the larger the better) and insertion (the smaller the better). A map with
# signs, gradient × input of a label, has to foretell the sign of a move; the other maps foretell its size. Rollout and
# a random map are scored too, as baselines.

CONTROLS = ("rollout", "random")


@dataclass(frozen=True)
class Score:
    method: str
    rank_correlation: float  # with what blanking moves
    deletion: float
    insertion: float


def scores(seen: Trace, asked: occlusion.Asked, by: str = "mean", methods: Sequence[str] = METHODS) -> Iterator[Score]:
    """The scores of each method and of the controls. Each takes about thirty passes."""
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
    """The answer to explain, by default the likeliest label, or in a model without labels the patch in the middle."""
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


# On drawn scenes, where our small model's class token looks: the share of its map on the things that the model names,
# and the share of the picture that they cover. A test computes it again.
ON_THE_NAMED = {"rollout": 0.150, "gradient": 0.367, "area": 0.140}
NAMED_SCENES = 60


@dataclass(frozen=True)
class Explained:
    maps: dict[str, Tensor]  # name -> (rows, columns); 0 in the query's own block
    moved: Tensor  # (rows, columns): how far the query's feature moves without the block around each patch; 0 likewise
    scores: dict[str, float]  # rank correlation of each map with `moved`, over equal blocks without the query
    blocks: int  # number of blanked blocks
    compared: int  # number of blocks in the scores
    side: int  # of a block, in patches
    top: tuple[int, int]  # the patch to which rollout gives most, outside the query's block
    top_share: float  # what rollout gives to `top`
    top_moves: float  # how far the feature moves without the block around `top`
    top_rank: int  # rank of that block by how far it moves the feature, from 1


CHANCE = ("random", "constant")  # maps that know nothing: a score that praises one of them measures something else

# For our small model: each map's rank correlation (Spearman) with what blanking blocks moves, averaged over three
# queries of each drawing. A test computes one drawing again.
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
    """The maps, (rows, columns) each: weights of the last layer, the same times the lengths of the values, rollout,
    gradient × weight through all layers, the filter by colour and nearness, and the two of CHANCE. pixels: (H, W, 3)"""
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
    """The block that holds the query, (rows, columns) bool. It is left out of scores, because every map knows it."""
    return next(block for block in occlusion.blocks(grid, side) if block[query])


def moves_of(
    seen: Trace, query: tuple[int, int], side: int, give_way: Callable[[], object] = lambda: None
) -> Iterator[list[float]]:
    """Yields, every few passes, how far the feature moves without each block that was blanked so far."""
    measured = occlusion.Measured(seen, occlusion.Asked(query=query), give_way=give_way)
    blocks, moves = occlusion.blocks(seen.grid, side), []
    for start in range(0, len(blocks), occlusion.AT_ONCE):
        moves = [*moves, *measured.moved(blocks[start : start + occlusion.AT_ONCE])]
        yield moves


def explain(found: dict[str, Tensor], query: tuple[int, int], side: int, moves: Sequence[float]) -> Explained:
    """Scores the maps. `side`: of a block, in patches; `moves`: how far the query's feature moves without each block. A
    map's value for a block is its mean. Only blocks of one size are compared: else a constant map would seem to know
    which blocks matter, because larger ones move more."""
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
    """The mean score of each map over the query patches in ASKERS."""
    side, several = occlusion.side_of(seen.grid), []
    for down, across in ASKERS:
        query = (int(down * seen.grid[0]), int(across * seen.grid[1]))
        *_, moves = moves_of(seen, query, side)
        several.append(explain(maps(seen, pixels, query), query, side, moves).scores)
    return {name: sum(one[name] for one in several) / len(several) for name in several[0]}


# Of a text


def likeness(seen: Trace, direction: Tensor, layer: int | None = None) -> Tensor:
    """The cosine of each token, read by itself after a layer, with the direction of a text (models/text_tower.py):
    (tokens,). The model was trained to read only its class token, or all patches together, after the last layer."""
    read = seen.alone(layer)
    if read.shape[1] != len(direction):
        raise PlaygroundError(
            f"{seen.model} reads pictures into {read.shape[1]} numbers and its text tower texts into {len(direction)}: "
            "they do not belong together. Of CLIP, save the whole model, with both projections."
        )
    return torch.cosine_similarity(read, direction[None], dim=-1)
