"""Numbers of a trace that lessons say, each a small function with a name. microscope/core/measures.js has one of the
same name, which the folder without a server asks about somebody's own photograph; tests/lessons/test_measures.py holds
both together. There a picture opens in its middle, as any that is no sample does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imports torch
    from playground.tracing import Trace


@dataclass(frozen=True)
class Measured:
    """What a measure gave of the picture that is on show; `given` is what it was asked besides the trace."""

    name: str
    value: float | list[float]
    given: Mapping[str, int] = field(default_factory=dict)

    def told(self) -> dict[str, object]:
        return {"measure": self.name, **self.given}


def measured(seen: Trace, name: str, **given: int) -> Measured:
    return Measured(name, MEASURES[name](seen, **given), given)


def middle(seen: Trace) -> tuple[int, int]:
    rows, columns = seen.grid
    return rows // 2, columns // 2


# Rows of all heads ----------------------------------------------------------------------------------------------------


def differing(seen: Trace) -> float:
    """In per cent of all rows: the patch with the largest weight does not add the longest vector."""
    from playground.analysis import heads

    return 100 * heads.differing(seen).overall


def rows_asked(seen: Trace) -> int:
    from playground.analysis import heads

    return len(heads.asking(seen)) * seen.layers * seen.heads


def distances(seen: Trace) -> list[float]:
    """Head by head, layer after layer: how many patches away the places lie that patches listen to, on average."""
    from playground.analysis import heads

    return [float(one) for one in heads.look(seen).distance.ravel()]


def mean_distance(seen: Trace, layer: int) -> float:
    from playground.analysis import heads

    return float(heads.look_at(seen, [layer]).distance.mean())


# The grid alone -------------------------------------------------------------------------------------------------------


def even_distance(seen: Trace) -> float:
    from playground.analysis import heads

    return heads.even_distance(*seen.grid)


def patches(seen: Trace) -> int:
    return seen.grid[0] * seen.grid[1]


def longer_side(seen: Trace) -> int:
    return max(seen.grid)


def layers_needed(seen: Trace, kernel: int) -> int:
    """Of k × k convolutions, until one edge of the picture can hear of the other."""
    from playground.analysis import two_ways

    return two_ways.layers_needed(max(seen.grid), kernel)


def reaches(seen: Trace, kernel: int) -> list[float]:
    """How far a stack of convolutions can look, after each layer: at most as far as the picture is long."""
    from playground.analysis import two_ways

    return [min(max(seen.grid), two_ways.field(kernel, layer + 1) // 2) for layer in range(seen.layers)]


# The head that is worth a guess, of the row of the patch at which a picture opens -------------------------------------


def far_layer(seen: Trace, spot: tuple[int, int] | None = None) -> int:
    return far_head_of(seen, spot)[0]


def far_head(seen: Trace, spot: tuple[int, int] | None = None) -> int:
    return far_head_of(seen, spot)[1]


def far_head_of(seen: Trace, spot: tuple[int, int] | None) -> tuple[int, int]:
    from playground.analysis import heads

    return heads.far_looking(seen, spot or middle(seen))


def far_share(seen: Trace, spot: tuple[int, int] | None = None) -> float:
    """What the brightest 2 % of the patches hold of what patches get."""
    weights = seen.on_grid(seen.row(*far_head_of(seen, spot), spot or middle(seen))).flatten()  # (patches,)
    return brightest_share(weights)


def far_peak(seen: Trace, spot: tuple[int, int] | None = None) -> float:
    return float(seen.on_grid(seen.row(*far_head_of(seen, spot), spot or middle(seen))).max())


def brightest_share(weights) -> float:
    return float(weights.topk(max(1, len(weights) // 50)).values.sum() / weights.sum())


MEASURES: Mapping[str, Callable] = {
    measure.__name__: measure
    for measure in (
        differing, rows_asked, distances, mean_distance, even_distance, patches, longer_side, layers_needed, reaches,
        far_layer, far_head, far_share, far_peak,
    )
}  # fmt: skip
