"""Scores maps of relevance: a good map predicts how far the answer moves when parts of the picture are blanked.
Also measures where the class token's maps lie on drawn scenes, and which patches resemble a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from playground.analysis import colour_nearness, occlusion
from playground.errors import PlaygroundError
from playground.tracing import Query, Trace


def answer_of(trace: Trace, query: Query | None, label: str | int | None) -> occlusion.Target:
    """The answer to explain. The default is the likeliest label or, in a model without labels, the middle patch."""
    if query is not None and label is not None:
        raise PlaygroundError("Relevance is of a patch or of a label: give one of the two.")
    if label is not None:
        return occlusion.Target(label=trace.label(label))
    if query is not None:
        return occlusion.Target(query=query)
    if trace.logits is not None:
        return occlusion.Target(label=int(trace.logits.argmax()))
    return occlusion.Target(query=(trace.grid[0] // 2, trace.grid[1] // 2))


# For our small model's class token on drawn scenes: the shares of two maps that lie on the things that the model names,
# and the share of the picture that these things cover ("area"). A test computes these numbers again.
SHARES_ON_NAMED = {"rollout": 0.150, "gradient": 0.367, "area": 0.140}
NAMED_SCENES = 60  # the number of drawn scenes that SHARES_ON_NAMED was measured on


@dataclass(frozen=True)
class Explanation:
    maps: dict[str, Tensor]  # name -> (rows, columns); 0 in the query's own block
    moved: Tensor  # (rows, columns): how far the query's feature moves without each block; 0 in the query's block
    scores: dict[str, float]  # rank correlation of each map with `moved`, over blocks of equal size but the query's
    blocks: int  # number of blanked blocks
    compared: int  # number of blocks in the scores
    side: int  # the side of a block in patches
    top: tuple[int, int]  # the patch with the largest share of rollout, outside the query's block
    top_share: float  # the share of rollout at `top`
    top_move: float  # how far the feature moves without the block around `top`
    top_rank: int  # the rank of `top_move`, from 1, among the moves by all blocks but the query's


# For our small model: each map's rank correlation (Spearman) with how far blanking moves the feature, averaged over
# three queries of each drawing. A test computes one drawing again.
_MAPS = ("weight", "arrives", "rollout", "gradient", "colour", "random", "constant")
RANK_CORRELATIONS = {
    "meadow": dict(zip(_MAPS, (0.6, 0.67, 0.81, 0.6, 0.52, 0.05, 0.0), strict=True)),
    "flock": dict(zip(_MAPS, (0.52, 0.57, 0.78, 0.53, 0.56, -0.08, 0.0), strict=True)),
    "still-life": dict(zip(_MAPS, (0.66, 0.66, 0.85, 0.54, 0.48, -0.11, 0.0), strict=True)),
    "portrait": dict(zip(_MAPS, (0.77, 0.79, 0.82, 0.74, 0.58, 0.08, 0.0), strict=True)),
}
QUERY_PLACES = ((0.62, 0.4), (0.3, 0.7), (0.85, 0.25))  # places of query patches, as shares of height and width


def maps(seen: Trace, pixels: np.ndarray, query: tuple[int, int]) -> dict[str, Tensor]:
    """{name: map (rows, columns)}: the last layer's weights; these weights times the lengths of the values; rollout;
    gradient × weight through all layers; the filter by colour and nearness; a random and an even one, whose good score
    would mean that the score is flawed. pixels: (H, W, 3)"""
    last_layer = seen.layers - 1
    rows = seen.rows(last_layer, query)  # (heads, tokens)
    colours = colour_nearness.mean_colours(pixels, seen.grid)
    patch = query[0] * seen.grid[1] + query[1]
    row_by_name = {
        "weight": rows.mean(0),
        "arrives": (rows * seen.value_norms(last_layer)).mean(0),
        "rollout": seen.rollout(query).flatten(),
        "gradient": seen.relevance(query, method="chefer"),
    }
    patch_maps = {name: seen.on_grid(row.float().cpu()) for name, row in row_by_name.items()}
    patch_maps["colour"] = torch.from_numpy(colour_nearness.row_of(colours, patch)).float().view(seen.grid)
    patch_maps["random"] = torch.rand(seen.grid, generator=torch.Generator().manual_seed(0))
    patch_maps["constant"] = torch.ones(seen.grid)
    return patch_maps


def block_of_query(grid: tuple[int, int], side: int, query: tuple[int, int]) -> Tensor:
    """The block that holds the query, (rows, columns) bool. Scores leave this block out, because every map
    has a large value there."""
    return next(block for block in occlusion.blocks(grid, side) if block[query])


def moves_of(
    trace: Trace, query: tuple[int, int], side: int, give_way: Callable[[], object] = lambda: None
) -> list[float]:
    """How far the query's feature moves when each block is blanked."""
    blanking = occlusion.Blanking(trace, occlusion.Target(query=query), give_way=give_way)
    return list(blanking.moved(occlusion.blocks(trace.grid, side)))


def explain(patch_maps: dict[str, Tensor], query: tuple[int, int], side: int, moves: Sequence[float]) -> Explanation:
    """Scores the maps, whose value for a block is the mean over it. `moves`: how far the query's feature moves without
    each block. Only blocks of one size are compared, because larger ones move it further."""
    grid = tuple(patch_maps["constant"].shape)
    blocks, query_block = occlusion.blocks(grid, side), block_of_query(grid, side, query)  # type: ignore[arg-type]
    elsewhere = [(block, move) for block, move in zip(blocks, moves, strict=True) if not block[query]]
    compared = [elsewhere[number] for number in occlusion.comparable([block for block, _ in elsewhere])]
    compared_moves = [move for _, move in compared]
    masked_maps = {name: patch_map.masked_fill(query_block, 0) for name, patch_map in patch_maps.items()}
    top_patch = divmod(int(masked_maps["rollout"].argmax()), grid[1])
    top_move = next(move for block, move in elsewhere if block[top_patch])
    return Explanation(
        masked_maps,
        sum((block * move for block, move in elsewhere), torch.zeros(grid)),
        {
            name: occlusion.spearman([float(patch_map[block].mean()) for block, _ in compared], compared_moves)
            for name, patch_map in patch_maps.items()
        },
        len(blocks),
        len(compared),
        side,
        top_patch,
        float(masked_maps["rollout"][top_patch]),
        top_move,
        top_rank=sum(move >= top_move for _, move in elsewhere),
    )


# Likeness to a text


def likeness(trace: Trace, direction: Tensor, layer: int | None = None) -> Tensor:
    """(tokens,): the cosine between each token, read alone after a layer, and the direction of a text
    (models/text_tower.py). In training the model reads only its class token, or all patches together, after the last
    layer."""
    vectors = trace.alone(layer)
    if vectors.shape[1] != len(direction):
        raise PlaygroundError(
            f"{trace.model} reads pictures into {vectors.shape[1]} numbers and its text tower texts into "
            f"{len(direction)}: they do not belong together. Of CLIP, save the whole model, with both projections."
        )
    return torch.cosine_similarity(vectors, direction[None], dim=-1)
