"""From a trace to what a panel shows: numbers on the patch grid, the range of their colours, and the words for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from PIL import Image

from playground.analysis.ceiling import nice_number, shared_ceiling
from playground.errors import PlaygroundError
from playground.figures.spec import Spec

if TYPE_CHECKING:
    from torch import Tensor

    from playground.tracing import Trace

DUSK = np.array([9, 7, 16]) / 255  # what the picture is dimmed with
DIM, DARK = 0.6, 0.80  # how much, under a map, and around what a convolution reads
OPACITY = 0.92


@dataclass(frozen=True)
class Map:
    """What one head (or one rollout) says about one query."""

    grid: np.ndarray  # (rows, columns)
    prefix: tuple[tuple[str, float], ...]  # what the tokens get that have no place in the picture
    breadth: float | None  # 2^entropy of a row: it listens to about so many tokens


@dataclass(frozen=True)
class Domain:
    low: float
    high: float
    words: str  # beside the colour bar
    percent: bool
    open_end: bool = False  # larger numbers have the last colour too


def look(seen: Trace, spec: Spec, layer: int, head: int, scale: str | None) -> Map:
    """The numbers that `spec` asks of one head. A scale of None is that of the pass."""
    numbers = _numbers(seen, spec, layer, head, scale)
    breadth = None
    if spec.what == "weight" and spec.direction == "row":
        from playground.tracing import entropy

        breadth = 2 ** float(entropy(numbers))
    return Map(
        seen.on_grid(numbers).numpy(),
        tuple(zip(seen.prefix, numbers.tolist(), strict=False)),
        breadth,
    )


def _numbers(seen: Trace, spec: Spec, layer: int, head: int, scale: str | None) -> Tensor:
    """(tokens,)"""
    if spec.what == "similarity":
        return seen.similarity(spec.query, layer)
    if spec.what == "rollout":
        return seen.rollout(spec.query)
    row, token = spec.direction == "row", seen.token(spec.query)
    if spec.what == "score":
        return (seen.scores if row else seen.column_scores)(layer, head, spec.query, scale)
    weights = (seen.row if row else seen.column)(layer, head, spec.query, scale)
    if spec.what == "weight":
        return weights
    norms = seen.value_norms(layer)[head]
    return weights * (norms if row else norms[token])


def domain(spec: Spec, seen: Trace, maps: list[Map]) -> Domain:
    """The range of colours that all these maps share; with each its own contrast, only the words."""
    words = {
        "weight": "share of the query’s attention"
        if spec.direction == "row"
        else "share that each patch takes from it",
        "value": "weight × length of the value",
        "score": "score before the softmax",
        "similarity": "likeness of features (cosine)",
        "rollout": "rollout: attention through all layers",
    }[spec.what]
    if spec.colours == "own":
        return Domain(0, 1, f"{words}; each map up to its own largest", False)
    if spec.what in ("score", "similarity"):
        low, high = min(float(m.grid.min()) for m in maps), max(float(m.grid.max()) for m in maps)
        return Domain(low, max(high, low + 1e-6), words, False)
    ceiling = spec.ceiling or shared_ceiling(seen.tokens)
    if spec.what == "value":
        return Domain(0, nice_number(ceiling * float(seen.value_norms(spec.layer).mean())), words, False, True)
    return Domain(0, ceiling, words, True, ceiling < 1)


# Colours --------------------------------------------------------------------------------------------------------------


def _places(grid: np.ndarray, spec: Spec, span: Domain) -> np.ndarray:
    """Each number's place on the colour map, 0 … 1."""
    if spec.smooth:
        rows, columns = grid.shape
        soft = Image.fromarray(grid.astype(np.float32)).resize((16 * columns, 16 * rows), Image.Resampling.BICUBIC)
        grid = np.asarray(soft)
    if spec.colours == "own":
        low = float(grid.min()) if spec.what in ("score", "similarity") else 0.0
        return np.clip((grid - low) / max(float(grid.max()) - low, 1e-12), 0, 1)
    return np.clip((grid - span.low) / (span.high - span.low), 0, 1)


def solid(grid: np.ndarray, spec: Spec, span: Domain) -> np.ndarray:
    """(rows, columns, 4) bytes: the map alone."""
    return matplotlib.colormaps[spec.colour_map](_places(grid, spec, span), bytes=True)


def veil(grid: np.ndarray, spec: Spec, span: Domain) -> np.ndarray:
    """(rows, columns, 4) bytes to lay over the picture: it is dimmed under faint weights and covered by strong ones."""
    t = _places(grid, spec, span)
    colour = matplotlib.colormaps[spec.colour_map](t)[..., :3]
    return _over(colour, OPACITY * (1 - (1 - t) ** 3), DIM)


def window(rows: int, columns: int, cells: list[tuple[int, int]]) -> np.ndarray:
    """(rows, columns, 4) bytes: dark but for these cells."""
    dark = np.full((rows, columns), DARK)
    for row, column in cells:
        dark[row, column] = 0
    return _over(np.zeros((rows, columns, 3)), np.zeros((rows, columns)), dark)


def _over(colour: np.ndarray, alpha: np.ndarray, dim: float | np.ndarray) -> np.ndarray:
    """A colour upon the dimming, as one layer."""
    behind = dim * (1 - alpha)
    both = alpha + behind
    mixed = (colour * alpha[..., None] + DUSK * behind[..., None]) / np.maximum(both, 1e-9)[..., None]
    return np.rint(np.concatenate([mixed, both[..., None]], axis=-1) * 255).astype(np.uint8)


def neighbourhood(query_row: int, query_column: int, grid: tuple[int, int], kernel: int) -> list[tuple[int, int]]:
    """The patches that a kernel centred on this one reads; fewer at the edges."""
    reach = kernel // 2
    return [
        (row, column)
        for row in range(max(0, query_row - reach), min(grid[0], query_row + reach + 1))
        for column in range(max(0, query_column - reach), min(grid[1], query_column + reach + 1))
    ]


# Places ---------------------------------------------------------------------------------------------------------------


def patch_of(seen: Trace, query) -> tuple[int, int] | None:
    """(row, column) of the patch that a query means; None for a prefix token."""
    patch = seen.token(query) - len(seen.prefix)
    return None if patch < 0 else divmod(patch, seen.grid[1])


def same_place(query, seen: Trace, other: Trace):
    """The same place in another picture, whose grid may be finer or of another shape."""
    patch = patch_of(seen, query)
    if patch is None:
        if query not in other.prefix:
            raise PlaygroundError(f"{other.model} has no token called {query!r} to compare with; choose a patch.")
        return query
    return tuple(min(n - 1, int((i + 0.5) / m * n)) for i, m, n in zip(patch, seen.grid, other.grid, strict=True))


def same_layer(layer: int, seen: Trace, other: Trace) -> int:
    """The same height in another network: layer 8 of 12 stands beside layer 16 of 24."""
    if seen.layers == other.layers:
        return layer
    return round(layer / max(1, seen.layers - 1) * (other.layers - 1))
