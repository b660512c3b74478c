"""Measures occlusion: patches are blanked, and the change of the answer is measured. For a patch that is the move of
its feature; for a label the loss of its margin, positive if the blanked patches speak for it. The margin is used
because a probability of 99.9 % hardly moves, whichever patches are blanked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.tracing import Query, Trace, relative_change
from playground.vit_parts import plainly

Filling = Literal["mean", "noise", "neighbours"]  # what fills blanks: mean colour, noise, blurred neighbours
FILLINGS: tuple[Filling, ...] = get_args(Filling)
BLOCK_SIDES = (8, 4, 2, 1)  # sides of the blanked blocks in patches, one size after the other
BATCH_SIZE = 4  # pictures in one pass
FEWEST_BLOCKS = 12  # a rank correlation over fewer blocks says nothing
MOST_BLOCKS = 64  # all blocks of a size are blanked if there are at most this many
MOST_PASSES = 200  # most passes for one map
# The least move that counts: in logits (0.1 changes the odds by a tenth), and as a share of the feature's length.
LEAST_MOVE = {"label": 0.1, "feature": 0.01}
CURVE_STEPS = 12  # number of steps in a curve of deletion or insertion
SACO_GROUPS = 10  # number of groups of patches that are blanked for SaCo
SMALLEST_DIVISOR = 1e-12


@dataclass(frozen=True)
class Target:
    """The answer that may move: a token's feature, or a label's margin."""

    query: Query | None = None
    label: int | str | None = None

    @property
    def least_move(self) -> float:
        return LEAST_MOVE["feature" if self.label is None else "label"]


def margin(logits: Tensor, label: int, multi_label: bool) -> Tensor:
    """The margin of a label, in logits: (…, classes) -> (…). With a softmax, only differences of logits have a meaning,
    so the margin is the difference to the largest other logit. With a sigmoid for each label, the margin is the logit
    itself, the difference of yes and no."""
    if multi_label or logits.shape[-1] == 1:
        return logits[..., label]
    other_logits = logits.clone()
    other_logits[..., label] = -torch.inf
    return logits[..., label] - other_logits.amax(-1)


def blanked_picture(pixels: Tensor, patches: Tensor, patch: int, by: str = "mean", seed: int = 0) -> Tensor:
    """The picture with these patches blanked. pixels: (1, 3, H, W); patches: (rows, columns) bool"""
    if by not in FILLINGS:
        raise PlaygroundError(f"Patches are blanked by {', '.join(FILLINGS)}, not by {by!r}.")
    mask = patches.repeat_interleave(patch, 0).repeat_interleave(patch, 1)  # (H, W)
    mean = pixels.mean((2, 3), keepdim=True)
    if by == "mean":
        filling = mean.expand_as(pixels)
    elif by == "noise":
        generator = torch.Generator().manual_seed(seed)
        filling = mean + pixels.std((2, 3), keepdim=True) * torch.randn(pixels.shape, generator=generator)
    else:
        filling = _filled_from_neighbours(pixels, mask, patch)
    return torch.where(mask, filling, pixels)


def _filled_from_neighbours(pixels: Tensor, mask: Tensor, patch: int) -> Tensor:
    """Replaces each blanked pixel by the mean of the visible pixels in a window around it. The window grows until it
    holds visible pixels."""
    visible = (~mask).to(pixels)[None, None]  # (1, 1, H, W)
    filled, is_filled = pixels * visible, visible
    reach = patch
    while (is_filled == 0).any() and reach < 2 * max(pixels.shape[2:]):
        pool_options: Any = {"kernel_size": 2 * reach + 1, "stride": 1, "padding": reach, "count_include_pad": True}
        pooled_pixels = torch.nn.functional.avg_pool2d(pixels * visible, **pool_options)
        visible_share = torch.nn.functional.avg_pool2d(visible, **pool_options)
        filled = torch.where(is_filled > 0, filled, pooled_pixels / visible_share.clamp(min=SMALLEST_DIVISOR))
        is_filled = torch.maximum(is_filled, (visible_share > SMALLEST_DIVISOR).to(is_filled))
        reach *= 2
    return filled


class Blanking:
    """Runs passes over a trace's picture with patches blanked, and remembers how far the answer moves."""

    def __init__(self, trace: Trace, target: Target, by: str = "mean", give_way: Callable[[], object] = lambda: None):
        self.seen, self.target, self.by, self.give_way = trace, target, by, give_way
        self.known: dict[bytes, float] = {}  # a set of patches as bytes -> how far blanking them moves the answer
        self._before = self._answer_vectors(trace._need_input())[0]

    def moved(self, patch_sets: Sequence[Tensor]) -> list[float]:
        """The move of the answer when each of these sets of patches, (rows, columns) bool, is blanked: ‖x' − x‖ / ‖x‖
        for a feature, the loss of the margin for a label."""
        pixels = self.seen._need_input().detach().cpu()
        keys = [np.packbits(patch_set.numpy()).tobytes() for patch_set in patch_sets]
        new_sets = {key: patch_set for key, patch_set in zip(keys, patch_sets, strict=True) if key not in self.known}
        for start in range(0, len(new_sets), BATCH_SIZE):
            batch_keys = list(new_sets)[start : start + BATCH_SIZE]
            pictures = [blanked_picture(pixels, new_sets[key], self.seen.patch_size, self.by) for key in batch_keys]
            answers = self._answer_vectors(torch.cat(pictures))
            is_label = self.target.label is not None
            moves = self._before[0] - answers[:, 0] if is_label else relative_change(answers, self._before)
            self.known |= zip(batch_keys, moves.tolist(), strict=True)
            self.give_way()
        return [self.known[key] for key in keys]

    @plainly
    def _answer_vectors(self, pixels: Tensor) -> Tensor:
        """(B, D) features, or (B, 1) margins."""
        vit, target = self.seen._need_vit(), self.target
        pixels = pixels.to(vit.patch_embed.proj.weight)
        with torch.no_grad():
            x = vit.features(pixels, self.seen.layers - 1, self.seen.scale, self.seen.intervening())
            if target.label is None:
                return vit.norm(x)[:, self.seen.token(target.query)].float().cpu()  # type: ignore[arg-type]
            logits = vit.classify(x).float().cpu()
        return margin(logits, self.seen.label(target.label), vit.config.multi_label)[:, None]


def blocks(grid: tuple[int, int], side: int) -> list[Tensor]:
    """Squares of patches that cover the grid, (rows, columns) bool each; blocks at the edge may be smaller."""
    squares = []
    for row in range(0, grid[0], side):
        for column in range(0, grid[1], side):
            block = torch.zeros(grid, dtype=torch.bool)
            block[row : row + side, column : column + side] = True
            squares.append(block)
    return squares


@dataclass(frozen=True)
class Step:
    passes: int  # passes made so far
    map: Tensor  # (rows, columns): the move by the smallest block blanked at each patch, per patch of the block
    complete_side: int  # the smallest side whose blocks were all blanked; 0: none
    moves: tuple[float, ...]  # the move by each block of that side
    sides: tuple[int, ...]  # the sides of all blanked blocks, the largest first
    largest: float  # the largest move by a block, without its sign
    answer_stays: bool  # whether no block moves the answer


def sides_of(grid: tuple[int, int]) -> list[int]:
    """The sides of the blocks that an occlusion blanks, the largest first."""
    return [side for side in BLOCK_SIDES if side <= max(1, min(grid) // 2)]


def side_of(grid: tuple[int, int], most: float = math.inf) -> int:
    """The side of the blocks with which maps are compared: the smallest side whose blocks can all be blanked in at most
    `most` passes. There are more than FEWEST_BLOCKS blocks, if possible."""
    counts = {side: len(blocks(grid, side)) for side in reversed(sides_of(grid))}
    sides = [side for side, count in counts.items() if FEWEST_BLOCKS < count <= MOST_BLOCKS] or [1]
    return next((side for side in sides if counts[side] <= most), sides[-1])


def occlusion(blanking: Blanking, most: int = MOST_PASSES) -> Iterator[Step]:
    """Yields a map that becomes finer. While there are few blocks, all blocks are blanked. Later, only the half of the
    blocks with the largest moves is divided into smaller blocks. Makes at most `most` passes."""
    grid = blanking.seen.grid
    map_so_far, passes, complete_side, largest_move = torch.zeros(grid), 0, 0, 0.0
    moves: tuple[float, ...] = ()
    sides: list[int] = []
    divided_area = torch.ones(grid, dtype=torch.bool)
    for side in sides_of(grid):
        batch = [block & divided_area for block in blocks(grid, side) if (block & divided_area).any()]
        covers_grid = bool(divided_area.all())
        block_order = sorted(range(len(batch)), key=lambda i: -float(map_so_far[batch[i]].abs().max()))
        batch = [batch[i] for i in block_order[: most - passes]]
        if not batch:
            return
        batch_moves = blanking.moved(batch)
        for block, move in zip(batch, batch_moves, strict=True):
            map_so_far[block] = move / int(block.sum())
        passes += len(batch)
        sides.append(side)
        largest_move = max(largest_move, *map(abs, batch_moves))
        if covers_grid and len(batch) == len(block_order):
            complete_side = side
            moves = tuple(batch_moves[block_order.index(i)] for i in range(len(block_order)))
        answer_stays = largest_move < blanking.target.least_move
        yield Step(passes, map_so_far.clone(), complete_side, moves, tuple(sides), largest_move, answer_stays)
        if len(blocks(grid, side // 2 or 1)) > MOST_BLOCKS:
            divided_indices = sorted(range(len(batch)), key=lambda i: -abs(batch_moves[i]))[: max(1, len(batch) // 2)]
            divided_area = torch.stack([batch[i] for i in divided_indices]).any(0)


def passes_of(grid: tuple[int, int], most: int = MOST_PASSES) -> int:
    """The number of passes that `occlusion` makes."""
    passes, count = 0, 0
    for side in sides_of(grid):
        full_count = len(blocks(grid, side))
        count = full_count if full_count <= MOST_BLOCKS or not count else min(full_count, 4 * max(1, count // 2))
        passes += count
    return min(passes, most)


def foretells(relevance: Tensor, side: int, moves: Sequence[float]) -> float:
    """How well a map of relevance, (rows, columns), predicts the moves by blanking: Spearman's rank correlation between
    the map's sum in each block and the move by that block. A map with signs has to predict the sign too. side: patches
    along a block's side"""
    squares = blocks(tuple(relevance.shape), side)  # type: ignore[arg-type]
    compared_indices, has_signs = comparable(squares), bool((relevance < 0).any())
    block_moves = [moves[i] if has_signs else abs(moves[i]) for i in compared_indices]
    return spearman([float(relevance[squares[i]].sum()) for i in compared_indices], block_moves)


def comparable(squares: Sequence[Tensor]) -> list[int]:
    """The indices of the blocks to compare: the blocks of full size, or all blocks if too few have it. A block cut off
    by the edge holds less of any map and moves less, so that even a random map would seem to predict something."""
    sizes = [int(block.sum()) for block in squares]
    full_squares = [i for i, size in enumerate(sizes) if size == max(sizes)]
    return full_squares if len(full_squares) >= FEWEST_BLOCKS else list(range(len(sizes)))


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """Pearson's correlation of the ranks; equal values share their mean rank. 0 if all values of `a` or `b` are
    equal."""
    x, y = (_ranks(np.asarray(values, dtype=np.float64)) for values in (a, b))
    x, y = x - x.mean(), y - y.mean()
    norm_product = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / norm_product if norm_product else 0.0


def _ranks(values: np.ndarray) -> np.ndarray:
    _, groups, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = counts.cumsum()
    return ((ends - counts + ends - 1) / 2)[groups]


@dataclass(frozen=True)
class Curve:
    """How far the answer moves if a share of the patches, the most relevant first, is blanked (deletion), or is shown
    while all others are blanked (insertion)."""

    shares: tuple[float, ...]
    moved: tuple[float, ...]

    @property
    def area(self) -> float:
        return float(np.trapezoid(self.moved, self.shares))


def deletion(relevance: Tensor, blanking: Blanking) -> Curve:
    """A larger area is better: blanking the patches that the map calls relevant moves the answer at once."""
    return _curve(relevance, blanking, lambda first: first)


def insertion(relevance: Tensor, blanking: Blanking) -> Curve:
    """A smaller area is better: the patches that the map calls relevant bring the answer back at once."""
    return _curve(relevance, blanking, lambda first: ~first)


def _curve(relevance: Tensor, blanking: Blanking, blanked_set: Callable[[Tensor], Tensor]) -> Curve:
    order = relevance.flatten().argsort(descending=True, stable=True)
    shares = tuple(step / CURVE_STEPS for step in range(CURVE_STEPS + 1))
    patch_sets = []
    for share in shares:
        is_first = torch.zeros(relevance.numel(), dtype=torch.bool)
        is_first[order[: round(share * len(order))]] = True
        patch_sets.append(blanked_set(is_first.view(relevance.shape)))
    return Curve(shares, tuple(blanking.moved(patch_sets)))


def saco(relevance: Tensor, blanking: Blanking) -> float:
    """SaCo, salience-guided faithfulness (Wu et al., 2024), from −1 to 1. Patches, sorted by their relevance, are
    blanked in ten groups. Each pair of groups weighs as much as their relevance differs, and counts against the map if
    the group with less relevance moves the answer further. So, unlike a rank correlation, it says whether large
    differences in the map are true; not whether small ones are, nor what two groups do together. 0 for a constant map.
    Groups are of one size, for a larger one moves more; so a few patches between them may be in none.

    The paper measures the probability of the label; here it is what moves in all scores, its margin or a feature."""
    order, values = relevance.flatten().argsort(descending=True, stable=True), relevance.flatten()
    count = min(SACO_GROUPS, len(order))
    size = len(order) // count
    starts = [round(i * (len(order) - size) / max(1, count - 1)) for i in range(count)]
    groups = [order[start : start + size] for start in starts]
    patches = torch.arange(len(order))
    moves = blanking.moved([torch.isin(patches, group).view(relevance.shape) for group in groups])
    relevances = [float(values[group].double().mean()) for group in groups]
    agreed, total = 0.0, 0.0
    for i, j in itertools.combinations(range(len(groups)), 2):
        weight = relevances[i] - relevances[j]
        agreed += weight if moves[i] >= moves[j] else -weight
        total += abs(weight)
    return agreed / total if total > SMALLEST_DIVISOR else 0.0
