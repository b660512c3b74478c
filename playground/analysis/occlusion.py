"""Occlusion: patches of the picture are blanked, and the change of the answer is measured. Relevance predicts it.

For a patch, the change is how far its feature moves. For a label it is what its margin loses: positive where the
patches speak for the label, negative where they speak against it. The margin is used because a probability of 99.9 %
hardly moves whatever is blanked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.tracing import Query, Trace

BLANKS = ("mean", "noise", "neighbours")  # the picture's mean colour; noise of its colours; a blur of the neighbours
SIZES = (8, 4, 2, 1)  # patches: the sides of the blocks that are blanked, one after the other
AT_ONCE = 4  # pictures in one pass
FEW = 12  # blocks: a rank correlation over fewer says nothing
WHOLE = 64  # blocks: if there are no more of a size, all of them are blanked
MOST = 200  # passes for one map
NOTHING = {
    "label": 0.1,
    "feature": 0.01,
}  # logits (a tenth more or less of the odds), and parts of the feature's length:
# where no block moves it so far, nothing here moves it
STEPS = 12  # of a curve of deletion or insertion
SMALLEST = 1e-12


@dataclass(frozen=True)
class Asked:
    """The answer that may move: a token's feature, or a label's margin."""

    query: Query | None = None
    label: int | str | None = None

    @property
    def nothing(self) -> float:
        return NOTHING["feature" if self.label is None else "label"]


def margin(logits: Tensor, label: int, multi_label: bool) -> Tensor:
    """By how much a label leads, in logits: (…, classes) -> (…). With a softmax only differences between logits have a
    meaning, so it is the distance to the largest other logit. With a sigmoid for each label it is the logit itself, the
    distance of yes to no."""
    if multi_label or logits.shape[-1] == 1:
        return logits[..., label]
    others = logits.clone()
    others[..., label] = -torch.inf
    return logits[..., label] - others.amax(-1)


def blanked(pixels: Tensor, patches: Tensor, patch: int, by: str = "mean", seed: int = 0) -> Tensor:
    """The picture with these patches blanked. pixels: (1, 3, H, W); patches: (rows, columns) bool"""
    if by not in BLANKS:
        raise PlaygroundError(f"Patches are blanked by {', '.join(BLANKS)}, not by {by!r}.")
    gone = patches.repeat_interleave(patch, 0).repeat_interleave(patch, 1)  # (H, W)
    mean = pixels.mean((2, 3), keepdim=True)
    if by == "mean":
        instead = mean.expand_as(pixels)
    elif by == "noise":
        random = torch.Generator().manual_seed(seed)
        instead = mean + pixels.std((2, 3), keepdim=True) * torch.randn(pixels.shape, generator=random)
    else:
        instead = _filled(pixels, gone, patch)
    return torch.where(gone, instead, pixels)


def _filled(pixels: Tensor, gone: Tensor, patch: int) -> Tensor:
    """Replaces each blanked pixel by the mean of the pixels around it that are left, in a window that grows until it
    holds some."""
    there = (~gone).to(pixels)[None, None]  # (1, 1, H, W)
    filled, known = pixels * there, there
    reach = patch
    while (known == 0).any() and reach < 2 * max(pixels.shape[2:]):
        window = {"kernel_size": 2 * reach + 1, "stride": 1, "padding": reach, "count_include_pad": True}
        total = torch.nn.functional.avg_pool2d(pixels * there, **window)
        count = torch.nn.functional.avg_pool2d(there, **window)
        filled = torch.where(known > 0, filled, total / count.clamp(min=SMALLEST))
        known = torch.maximum(known, (count > SMALLEST).to(known))
        reach *= 2
    return filled


class Measured:
    """Passes over one trace's picture with patches blanked."""

    def __init__(self, seen: Trace, asked: Asked, by: str = "mean", give_way: Callable[[], object] = lambda: None):
        self.seen, self.asked, self.by, self.give_way = seen, asked, by, give_way
        self.known: dict[bytes, float] = {}  # a set of patches as bytes -> how far blanking them moves the answer
        self._before = self._answers(seen._need_input())[0]

    def moved(self, several: Sequence[Tensor]) -> list[float]:
        """How far blanking each of these sets of patches, (rows, columns) bool, moves the answer: for a feature
        ‖x' − x‖ / ‖x‖; for a label what its margin loses."""
        pixels, keys = self.seen._need_input(), [np.packbits(gone.numpy()).tobytes() for gone in several]
        new = {key: gone for key, gone in zip(keys, several, strict=True) if key not in self.known}
        for start in range(0, len(new), AT_ONCE):
            here = list(new)[start : start + AT_ONCE]
            some = [blanked(pixels, new[key], self.seen.patch_size, self.by) for key in here]
            self.known |= zip(here, map(self._far, self._answers(torch.cat(some))), strict=True)
            self.give_way()
        return [self.known[key] for key in keys]

    def _answers(self, pixels: Tensor) -> Tensor:
        """(B, D) features, or (B, 1) margins."""
        vit, asked = self.seen._need_vit(), self.asked
        device = vit.patch_embed.proj.weight.device
        with torch.no_grad():
            x = vit.features(pixels.to(device), self.seen.layers - 1, self.seen.scale, self.seen.intervening())
            if asked.label is None:
                return vit.norm(x)[:, self.seen.token(asked.query)].float().cpu()  # type: ignore[arg-type]
            logits = vit.classify(x).float().cpu()
        return margin(logits, self.seen.label(asked.label), vit.config.multi_label)[:, None]

    def _far(self, answer: Tensor) -> float:
        if self.asked.label is not None:
            return float(self._before - answer)
        return float((answer - self._before).norm() / self._before.norm().clamp(min=SMALLEST))


def blocks(grid: tuple[int, int], size: int) -> list[Tensor]:
    """Squares of patches that cover the grid, (rows, columns) bool each; those at its edge may be smaller."""
    every = []
    for row in range(0, grid[0], size):
        for column in range(0, grid[1], size):
            block = torch.zeros(grid, dtype=torch.bool)
            block[row : row + size, column : column + size] = True
            every.append(block)
    return every


@dataclass(frozen=True)
class Step:
    passes: int  # so far
    map: Tensor  # (rows, columns): for each patch, the move by the smallest block that was blanked there
    whole: int  # the side of the smallest blocks of which all were blanked; 0: none
    moves: tuple[float, ...]  # the move by each of these blocks
    sides: tuple[int, ...]  # the sides of all blanked blocks, the largest first
    largest: float  # the largest move by a block, without its sign
    nothing: bool  # whether no block moves the answer


def sides_of(grid: tuple[int, int]) -> list[int]:
    """The sides of the blocks that an occlusion blanks, the largest first."""
    return [side for side in SIZES if side <= max(1, min(grid) // 2)]


def side_of(grid: tuple[int, int], most: float = math.inf) -> int:
    """The side of the blocks with which maps are compared: the smallest of which all are blanked in at most `most`
    passes. There are more than `FEW` blocks of it, for a rank correlation over fewer says nothing."""
    many = {side: len(blocks(grid, side)) for side in reversed(sides_of(grid))}
    sides = [side for side, count in many.items() if FEW < count <= WHOLE] or [1]
    return next((side for side in sides if many[side] <= most), sides[-1])


def occlusion(measured: Measured, most: int = MOST) -> Iterator[Step]:
    """Yields a map that becomes finer. As long as blocks are few, all are blanked; then only the half that moved most
    is divided further, starting with those that moved most. Makes `most` passes in all."""
    grid = measured.seen.grid
    map_so_far, done, whole, moves, largest = torch.zeros(grid), 0, 0, (), 0.0
    sides: list[int] = []
    within = torch.ones(grid, dtype=torch.bool)
    for size in sides_of(grid):
        wanted = [block & within for block in blocks(grid, size) if (block & within).any()]
        all_of_them = bool(within.all())
        order = sorted(range(len(wanted)), key=lambda i: -float(map_so_far[wanted[i]].abs().max()))
        wanted = [wanted[i] for i in order[: most - done]]
        if not wanted:
            return
        moved = measured.moved(wanted)
        for block, move in zip(wanted, moved, strict=True):
            map_so_far[block] = move / int(block.sum())
        done += len(wanted)
        sides.append(size)
        largest = max(largest, *map(abs, moved))
        if all_of_them and len(wanted) == len(order):
            whole = size
            moves = tuple(moved[order.index(i)] for i in range(len(order)))
        nothing = largest < measured.asked.nothing
        yield Step(done, map_so_far.clone(), whole, moves, tuple(sides), largest, nothing)
        if len(blocks(grid, size // 2 or 1)) > WHOLE:
            half = sorted(range(len(wanted)), key=lambda i: -abs(moved[i]))[: max(1, len(wanted) // 2)]
            within = torch.stack([wanted[i] for i in half]).any(0)


def passes_of(grid: tuple[int, int], most: int = MOST) -> int:
    """How many passes `occlusion` makes."""
    done, wanted = 0, 0
    for size in sides_of(grid):
        here = len(blocks(grid, size))
        wanted = here if here <= WHOLE or not wanted else min(here, 4 * max(1, wanted // 2))
        done += wanted
    return min(done, most)


def foretells(relevance: Tensor, size: int, moves: Sequence[float]) -> float:
    """How well a map of relevance, (rows, columns), foretells what blanking moves: Spearman's rank correlation between
    its sum in each block and the move by that block. A map with signs has to foretell the sign too. size: patches along
    a block's side"""
    some = blocks(tuple(relevance.shape), size)  # type: ignore[arg-type]
    alike, signed = equal(some), bool((relevance < 0).any())
    moved = [moves[i] if signed else abs(moves[i]) for i in alike]
    return spearman([float(relevance[some[i]].sum()) for i in alike], moved)


def equal(some: Sequence[Tensor]) -> list[int]:
    """The indices of the blocks to compare: those of full size, or all if fewer than FEW are. A block cut off by the
    edge holds less of any map and moves less, so that even a random map would seem to foretell something."""
    sizes = [int(block.sum()) for block in some]
    whole = [i for i, size in enumerate(sizes) if size == max(sizes)]
    return whole if len(whole) >= FEW else list(range(len(sizes)))


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """Pearson's correlation of the ranks; equal values share their mean rank. 0 if all values of `a` or `b` are
    equal."""
    x, y = (_ranks(np.asarray(values, dtype=np.float64)) for values in (a, b))
    x, y = x - x.mean(), y - y.mean()
    length = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / length if length else 0.0


def _ranks(values: np.ndarray) -> np.ndarray:
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = counts.cumsum()
    return ((ends - counts + ends - 1) / 2)[which]


@dataclass(frozen=True)
class Curve:
    """How far the answer moves by the share of patches that are blanked, the most relevant first (deletion), or that
    are shown while all others are blanked (insertion)."""

    shares: tuple[float, ...]
    moved: tuple[float, ...]

    @property
    def area(self) -> float:
        return float(np.trapezoid(self.moved, self.shares))


def deletion(relevance: Tensor, measured: Measured) -> Curve:
    """A larger area is better: blanking the patches that the map calls relevant moves the answer at once."""
    return _curve(relevance, measured, lambda first: first)


def insertion(relevance: Tensor, measured: Measured) -> Curve:
    """A smaller area is better: the patches that the map calls relevant bring the answer back at once."""
    return _curve(relevance, measured, lambda first: ~first)


def _curve(relevance: Tensor, measured: Measured, gone: Callable[[Tensor], Tensor]) -> Curve:
    order = relevance.flatten().argsort(descending=True, stable=True)
    shares = tuple(step / STEPS for step in range(STEPS + 1))
    sets = []
    for share in shares:
        first = torch.zeros(relevance.numel(), dtype=torch.bool)
        first[order[: round(share * len(order))]] = True
        sets.append(gone(first.view(relevance.shape)))
    return Curve(shares, tuple(measured.moved(sets)))
