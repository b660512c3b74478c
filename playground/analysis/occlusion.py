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
FEW = 12  # blocks: of fewer a rank correlation says nothing
WHOLE = 64  # blocks: so many of one size are all blanked
STEPS = 12  # of a curve of deletion or insertion
SMALLEST = 1e-12


@dataclass(frozen=True)
class Asked:
    """What may move: a token's feature, or a label's probability."""

    query: Query | None = None
    label: int | str | None = None


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
        self.known: dict[bytes, float] = {}  # what was blanked -> what moved
        self._before = self._answers(seen._need_input())[0]

    def moved(self, several: Sequence[Tensor]) -> list[float]:
        """For each of these sets of patches, (rows, columns) bool: what moves when it is blanked. Of a feature
        ‖x' − x‖ / ‖x‖; of a label what its probability loses."""
        pixels, keys = self.seen._need_input(), [np.packbits(gone.numpy()).tobytes() for gone in several]
        new = {key: gone for key, gone in zip(keys, several, strict=True) if key not in self.known}
        for start in range(0, len(new), AT_ONCE):
            here = list(new)[start : start + AT_ONCE]
            some = [blanked(pixels, new[key], self.seen.patch_size, self.by) for key in here]
            self.known |= zip(here, map(self._far, self._answers(torch.cat(some))), strict=True)
            self.give_way()
        return [self.known[key] for key in keys]

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
        return shares[:, self.seen.label(asked.label), None]

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


@dataclass(frozen=True)
class Step:
    passes: int  # so far
    map: Tensor  # (rows, columns): what moves, for each patch of the smallest block that was blanked there
    whole: int  # the side of the smallest blocks of which all were blanked; 0: of none
    moves: tuple[float, ...]  # what moves without each of these


def occlusion(measured: Measured, most: int = 200) -> Iterator[Step]:
    """A map that becomes finer. While blocks are few all are blanked, then only the half that moved most is cut
    further, those that moved most first; `most` passes are made in all."""
    grid = measured.seen.grid
    found, done, whole, moves = torch.zeros(grid), 0, 0, ()
    within = torch.ones(grid, dtype=torch.bool)
    for size in [size for size in SIZES if size <= max(1, min(grid) // 2)]:
        wanted = [block & within for block in blocks(grid, size) if (block & within).any()]
        all_of_them = bool(within.all())
        order = sorted(range(len(wanted)), key=lambda i: -float(found[wanted[i]].abs().max()))
        wanted = [wanted[i] for i in order[: most - done]]
        if not wanted:
            return
        moved = measured.moved(wanted)
        for block, move in zip(wanted, moved, strict=True):
            found[block] = move / int(block.sum())
        done += len(wanted)
        if all_of_them and len(wanted) == len(order):
            whole = size
            moves = tuple(moved[order.index(i)] for i in range(len(order)))
        yield Step(done, found.clone(), whole, moves)
        if len(blocks(grid, size // 2 or 1)) > WHOLE:
            half = sorted(range(len(wanted)), key=lambda i: -abs(moved[i]))[: max(1, len(wanted) // 2)]
            within = torch.stack([wanted[i] for i in half]).any(0)


def passes_of(grid: tuple[int, int], most: int = 200) -> int:
    """How many passes that takes."""
    done, wanted = 0, 0
    for size in [size for size in SIZES if size <= max(1, min(grid) // 2)]:
        here = len(blocks(grid, size))
        wanted = here if here <= WHOLE or not wanted else min(here, 4 * max(1, wanted // 2))
        done += wanted
    return min(done, most)


def predicts(relevance: Tensor, measured: Measured, size: int) -> float:
    """How well a map of relevance, (rows, columns), foretells what blanking moves: the rank correlation (Spearman's)
    between its sum in each block and what moves without that block."""
    return foretells(relevance, size, measured.moved(blocks(measured.seen.grid, size)))


def foretells(relevance: Tensor, size: int, moves: Sequence[float]) -> float:
    """The same, of blocks that were blanked already."""
    some = blocks(tuple(relevance.shape), size)  # type: ignore[arg-type]
    alike = equal(some)
    return spearman([float(relevance[some[i]].sum()) for i in alike], [abs(moves[i]) for i in alike])


def equal(some: Sequence[Tensor]) -> list[int]:
    """Which of these blocks are compared: those that the edge does not cut off. A smaller one holds less of any map and
    moves less, so that even a map drawn at random would seem to foretell something. All, where few are whole."""
    sizes = [int(block.sum()) for block in some]
    whole = [i for i, size in enumerate(sizes) if size == max(sizes)]
    return whole if len(whole) >= FEW else list(range(len(sizes)))


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
