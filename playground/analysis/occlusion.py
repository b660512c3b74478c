"""Occlusion: some patches of the picture are blanked, and what moves is measured. It is what a relevance predicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.tracing import Query, Trace

BLANKS = ("mean", "noise", "neighbours")  # the picture's mean colour; noise of its colours; a blur of what is around
SIZES = (8, 4, 2, 1)  # patches: the sides of the blocks that are blanked, one after the other
AT_ONCE = 4  # pictures in one pass
STEPS = 12  # of a curve of deletion or insertion
SMALLEST = 1e-12


@dataclass(frozen=True)
class Asked:
    """What may move: a token's feature, or a label's probability."""

    query: Query | None = None
    label: int | None = None


def blanked(pixels: Tensor, patches: Tensor, patch: int, by: str = "mean", seed: int = 0) -> Tensor:
    """(1, 3, H, W), (rows, columns) bool -> the same picture without these patches."""
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
    """Each pixel that is gone is the mean of what is still there around it, in a window that grows until there is
    something."""
    there = (~gone).to(pixels)[None, None]  # (1, 1, H, W)
    found, known = pixels * there, there
    reach = patch
    while (known == 0).any() and reach < 2 * max(pixels.shape[2:]):
        window = {"kernel_size": 2 * reach + 1, "stride": 1, "padding": reach, "count_include_pad": True}
        total = torch.nn.functional.avg_pool2d(pixels * there, **window)
        count = torch.nn.functional.avg_pool2d(there, **window)
        found = torch.where(known > 0, found, total / count.clamp(min=SMALLEST))
        known = torch.maximum(known, (count > SMALLEST).to(known))
        reach *= 2
    return found


class Measured:
    """Passes over one trace's picture with patches blanked."""

    def __init__(self, seen: Trace, asked: Asked, by: str = "mean", give_way: Callable[[], object] = lambda: None):
        self.seen, self.asked, self.by, self.give_way = seen, asked, by, give_way
        self._before = self._answers(seen._need_input())[0]

    def moved(self, several: Sequence[Tensor]) -> list[float]:
        """For each of these sets of patches, (rows, columns) bool: what moves when it is blanked. Of a feature
        ‖x' − x‖ / ‖x‖; of a label what its probability loses."""
        pixels, found = self.seen._need_input(), []
        for start in range(0, len(several), AT_ONCE):
            some = [blanked(pixels, gone, self.seen.patch_size, self.by) for gone in several[start : start + AT_ONCE]]
            found += [self._far(answer) for answer in self._answers(torch.cat(some))]
            self.give_way()
        return found

    def _answers(self, pixels: Tensor) -> Tensor:
        """(B, D) features, or (B, 1) probabilities."""
        vit, asked = self.seen._need_vit(), self.asked
        device = vit.patch_embed.proj.weight.device
        with torch.no_grad():
            heard = self.seen.heard_on(device)
            x = vit.features(pixels.to(device), self.seen.layers - 1, self.seen.scale, heard)
            if asked.label is None:
                return vit.norm(x)[:, self.seen.token(asked.query)].float().cpu()  # type: ignore[arg-type]
            logits = vit.classify(x).float().cpu()
        shares = logits.sigmoid() if vit.config.multi_label else logits.softmax(-1)
        return shares[:, asked.label, None]

    def _far(self, answer: Tensor) -> float:
        if self.asked.label is not None:
            return float(self._before - answer)
        return float((answer - self._before).norm() / self._before.norm().clamp(min=SMALLEST))


def blocks(grid: tuple[int, int], size: int) -> list[Tensor]:
    """Squares of patches that cover the grid, (rows, columns) bool each; those at its edge may be smaller."""
    found = []
    for row in range(0, grid[0], size):
        for column in range(0, grid[1], size):
            block = torch.zeros(grid, dtype=torch.bool)
            block[row : row + size, column : column + size] = True
            found.append(block)
    return found


def occlusion(measured: Measured, most: int = 200) -> Iterator[tuple[int, Tensor]]:
    """A map that becomes finer: (passes so far, (rows, columns) what moves, for each patch of the smallest block that
    was blanked there). After each size only the half that moved most is cut further; `most` passes are made in all."""
    grid = measured.seen.grid
    sizes = [size for size in SIZES if size <= max(1, min(grid) // 2)]
    found, done = torch.zeros(grid), 0
    within = torch.ones(grid, dtype=torch.bool)
    for size in sizes:
        wanted = [block & within for block in blocks(grid, size) if (block & within).any()]
        if done and done + len(wanted) > most:
            return
        moves = measured.moved(wanted)
        for block, move in zip(wanted, moves, strict=True):
            found[block] = move / int(block.sum())
        done += len(wanted)
        yield done, found.clone()
        half = sorted(range(len(wanted)), key=lambda i: -abs(moves[i]))[: max(1, len(wanted) // 2)]
        within = torch.stack([wanted[i] for i in half]).any(0)


def predicts(relevance: Tensor, measured: Measured, size: int) -> float:
    """How well a map of relevance, (rows, columns), foretells what blanking moves: the rank correlation (Spearman's)
    between its sum in each block and what moves without that block."""
    wanted = blocks(measured.seen.grid, size)
    said = [float(relevance[block].sum()) for block in wanted]
    return spearman(said, [abs(move) for move in measured.moved(wanted)])


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """Pearson's correlation of the ranks; equal values share the mean of theirs. 0 where one of them says nothing."""
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
    """What has moved when so large a share of the patches is blanked, the most relevant first (deletion), or is shown
    alone (insertion: all others are blanked)."""

    shares: tuple[float, ...]
    moved: tuple[float, ...]

    @property
    def area(self) -> float:
        return float(np.trapezoid(self.moved, self.shares))


def deletion(relevance: Tensor, measured: Measured) -> Curve:
    """The larger the area, the better: what is said to matter moves the answer at once."""
    return _curve(relevance, measured, lambda first: first)


def insertion(relevance: Tensor, measured: Measured) -> Curve:
    """The smaller the area, the better: with what is said to matter the answer is soon where it was."""
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
