"""The numbers that lessons state about a trace, one small function each. microscope/core/measures.js has a function of
the same name: the folder without a server calls it for a visitor's own photograph. tests/lessons/test_measures.py
compares both. A visitor's photograph opens at its middle patch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from playground.samples import start_patch

if TYPE_CHECKING:  # imports torch
    from torch import Tensor

    from playground.tracing import Trace


@dataclass(frozen=True)
class Measured:
    """A number of the picture on view: the measure's name, its value, and its arguments besides the trace."""

    name: str
    value: float | list[float]
    given: Mapping[str, int] = field(default_factory=dict)

    def told(self) -> dict[str, object]:
        return {"measure": self.name, **self.given}


def measured(seen: Trace, name: str, **given: int) -> Measured:
    return Measured(name, MEASURES[name](seen, **given), given)


# Measured on the rows of all heads ------------------------------------------------------------------------------------


def differing(seen: Trace) -> float:
    """Per cent of all rows in which the patch with the largest weight is not the patch that adds the longest vector."""
    from playground.analysis import heads

    return 100 * heads.differing(seen).overall


def rows_asked(seen: Trace) -> int:
    from playground.analysis import heads

    return len(heads.asking(seen)) * seen.layers * seen.heads


def distances(seen: Trace) -> list[float]:
    """The mean distance, in patches, over which each head attends: all heads of layer 0, then those of layer 1, …"""
    from playground.analysis import heads

    return [float(one) for one in heads.look(seen).distance.ravel()]


def mean_distance(seen: Trace, layer: int) -> float:
    from playground.analysis import heads

    return float(heads.look_at(seen, [layer]).distance.mean())


# Computed from the grid alone -----------------------------------------------------------------------------------------


def even_distance(seen: Trace) -> float:
    from playground.analysis import heads

    return heads.even_distance(*seen.grid)


def patches(seen: Trace) -> int:
    return seen.grid[0] * seen.grid[1]


def longer_side(seen: Trace) -> int:
    return max(seen.grid)


def layers_needed(seen: Trace, kernel: int) -> int:
    """The number of k × k convolutions after which one edge of the picture depends on the other."""
    from playground.analysis import two_ways

    return two_ways.layers_needed(max(seen.grid), kernel)


def reaches(seen: Trace, kernel: int) -> list[float]:
    """The receptive field's radius in patches after each layer of k × k convolutions, at most the picture's length."""
    from playground.analysis import two_ways

    return [min(max(seen.grid), two_ways.field(kernel, layer + 1) // 2) for layer in range(seen.layers)]


# The row to guess: of the patch at which the picture opens, in the head that gives far patches most -------------------


def far_layer(seen: Trace, spot: tuple[int, int] | None = None) -> int:
    return far_head_of(seen, spot)[0]


def far_head(seen: Trace, spot: tuple[int, int] | None = None) -> int:
    return far_head_of(seen, spot)[1]


def far_head_of(seen: Trace, spot: tuple[int, int] | None) -> tuple[int, int]:
    from playground.analysis import heads

    return heads.far_looking(seen, spot or start_patch("", seen.grid))


def far_share(seen: Trace, spot: tuple[int, int] | None = None) -> float:
    """The share of the row's weight on patches that its brightest 2 % of patches hold."""
    return brightest_share(far_row(seen, spot).flatten())


def far_peak(seen: Trace, spot: tuple[int, int] | None = None) -> float:
    return float(far_row(seen, spot).max())


def far_row(seen: Trace, spot: tuple[int, int] | None) -> Tensor:  # (rows, columns)
    return seen.on_grid(seen.row(*far_head_of(seen, spot), spot or start_patch("", seen.grid)))


def brightest_share(weights: Tensor) -> float:
    return float(weights.topk(max(1, len(weights) // 50)).values.sum() / weights.sum())


MEASURES: Mapping[str, Callable] = {
    measure.__name__: measure
    for measure in (
        differing, rows_asked, distances, mean_distance, even_distance, patches, longer_side, layers_needed, reaches,
        far_layer, far_head, far_share, far_peak,
    )
}  # fmt: skip
