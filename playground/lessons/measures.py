"""Measures the numbers that lessons state about a trace, each in one small function. microscope/core/measures.js has a
function of the same name for each: the folder without a server calls it for a visitor's own photograph.
tests/lessons/test_measures.py compares both. On a visitor's photograph the measured query is the middle patch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from playground.samples import start_patch

if TYPE_CHECKING:
    from torch import Tensor

    from playground.analysis.heads import Habits
    from playground.tracing import Trace


@dataclass(frozen=True)
class Measured:
    """A number of the picture on view: the measure's name, its value, and its arguments besides the trace."""

    name: str
    value: float | list[float] | str
    given: Mapping[str, int | str] = field(default_factory=dict)

    def as_plain(self) -> dict[str, object]:
        return {"measure": self.name, **self.given}


def measured(trace: Trace, name: str, **arguments: int | str) -> Measured:
    return Measured(name, MEASURES[name](trace, **arguments), arguments)


# Measured on the rows of all heads ------------------------------------------------------------------------------------


def differing(trace: Trace) -> float:
    """Per cent of all rows in which the patch with the largest weight is not the patch that adds the longest vector."""
    from playground.analysis import heads

    return 100 * heads.disagreement(trace).overall


def rows_asked(trace: Trace) -> int:
    from playground.analysis import heads

    return len(heads.measured_tokens(trace)) * trace.layers * trace.heads


def distances(trace: Trace) -> list[float]:
    """The mean distance, in patches, over which each head attends: all heads of layer 0, then all of layer 1, …"""
    from playground.analysis import heads

    return [float(distance) for distance in heads.measure_heads(trace).distance.ravel()]


def mean_distance(trace: Trace, layer: int) -> float:
    from playground.analysis import heads

    return float(heads.measure_layers(trace, [layer]).distance.mean())


def layer_by_distance(trace: Trace, which: str, what: str) -> float:
    """The number or mean distance (`what`) of the layer whose heads attend "nearest" or "farthest" (`which`)."""
    from playground.analysis import heads

    return layer_of_distances(heads.measure_heads(trace).distance, which, what)


def layer_of_distances(distance: np.ndarray, extreme: str, value: str) -> float:
    """As `layer_by_distance`, from the mean distances of all heads. distance: (layers, heads)"""
    by_layer = distance.mean(axis=1)
    layer = int(by_layer.argmin() if extreme == "nearest" else by_layer.argmax())
    return layer if value == "layer" else float(by_layer[layer])


def by_depth(trace: Trace) -> str:
    from playground.analysis import heads

    return trend(heads.measure_heads(trace).distance)


def trend(distance: np.ndarray) -> str:
    """A word for whether heads attend farther in higher layers. distance: (layers, heads)"""
    by_layer = distance.mean(axis=1)
    slope = float(np.corrcoef(np.arange(len(by_layer)), by_layer)[0, 1]) if len(by_layer) > 2 else 0.0
    return "near first, far later" if slope > 0.5 else "far first, near later" if slope < -0.5 else "no steady trend"


def a_head(trace: Trace, which: str, what: str) -> float:
    """A number of one head. `which`: the head that adds most, or has the sharpest or the evenest rows; `what`: its
    layer, its index, the length of what it adds relative to its layer's average head, or the entropy of its rows."""
    from playground.analysis import heads

    return number_of_head(heads.measure_heads(trace), which, what)


def number_of_head(habits: Habits, extreme: str, value: str) -> float:
    sort_keys = {"most": -habits.effect, "sharpest": habits.entropy, "evenest": -habits.entropy}[extreme]
    layer, head = (int(n) for n in np.unravel_index(np.nanargmin(sort_keys), sort_keys.shape))
    numbers = {"layer": layer, "head": head, "adds": habits.effect[layer, head], "entropy": habits.entropy[layer, head]}
    return float(numbers[value]) if value in ("adds", "entropy") else int(numbers[value])


# Heads whose rows agree, whichever patch asks -------------------------------------------------------------------------

LOCKED_SHARE = 0.3  # a head with a larger mean share on one place is locked; the habit ONE has the same bound


def agreeing(trace: Trace, which: str, what: str) -> float:
    """A number of one head. `which`: the head that on average gives most, or least, to one place; `what`: its layer,
    its index, or the share of that place."""
    from playground.analysis import heads

    return number_of_agreeing_head(shares_of_one_place(heads.measure_heads(trace)), which, what)


def shares_of_one_place(habits: Habits) -> np.ndarray:
    """Each head's mean share for its strongest patch or for all prefix tokens, whichever is larger: (layers, heads)"""
    return np.maximum(habits.to_one, habits.to_class + habits.to_registers)


def number_of_agreeing_head(share: np.ndarray, extreme: str, value: str) -> float:
    layer, head = (
        int(n) for n in np.unravel_index(share.argmax() if extreme == "most" else share.argmin(), share.shape)
    )
    return {"layer": layer, "head": head, "share": float(share[layer, head])}[value]


def agreeing_percent(trace: Trace) -> float:
    return 100 * agreeing(trace, "most", "share")


def all_heads(trace: Trace) -> int:
    return trace.layers * trace.heads


def locked_heads(trace: Trace) -> int:
    """The number of heads that on average give more than LOCKED_SHARE to one place."""
    from playground.analysis import heads

    return int((shares_of_one_place(heads.measure_heads(trace)) > LOCKED_SHARE).sum())


def agreed_place(trace: Trace) -> str:
    """In words, the place that gets most from the head whose rows agree most."""
    from playground.analysis import heads

    return place_of_agreeing(trace, heads.measure_heads(trace))


def place_of_agreeing(trace: Trace, habits: Habits) -> str:
    token = token_of_agreeing(trace, habits)
    prefix_count = len(trace.prefix)
    if token < prefix_count:
        return " and ".join(trace.prefix)
    row, column = divmod(token - prefix_count, trace.grid[1])
    return f"one patch, at ({row}, {column})"


def token_of_agreeing(trace: Trace, habits: Habits) -> int:
    """The patch, or the prefix token if the prefix gets more, with most weight in the head whose rows agree most."""
    share = shares_of_one_place(habits)
    layer, head = (int(number_of_agreeing_head(share, "most", axis)) for axis in ("layer", "head"))
    prefix_count = len(trace.prefix)
    is_patch = habits.to_one[layer, head] >= share[layer, head]
    row = mean_row(trace, layer, head)
    return int(row[prefix_count:].argmax()) + prefix_count if is_patch else int(row[:prefix_count].argmax())


def mean_row(trace: Trace, layer: int, head: int) -> Tensor:
    """The mean of a head's rows: (tokens,). Averages the same rows as the numbers in Habits."""
    from playground.analysis import heads

    return trace.weights(layer, heads.measured_tokens(trace))[head].mean(dim=0)


def key_length(trace: Trace) -> float:
    """In the head whose rows agree most: the length of the key of the token that gets most, divided by the median
    length of the patches' keys."""
    from playground.analysis import heads

    return key_of_agreeing(trace, heads.measure_heads(trace))


def key_of_agreeing(trace: Trace, habits: Habits) -> float:
    layer, head = (
        int(number_of_agreeing_head(shares_of_one_place(habits), "most", axis)) for axis in ("layer", "head")
    )
    key_lengths = trace.record[layer].k[head].float().norm(dim=-1)  # (tokens,)
    return float(key_lengths[token_of_agreeing(trace, habits)] / key_lengths[len(trace.prefix) :].median())


def carried(trace: Trace) -> float:
    """In the head whose rows agree most: the length of what the token that gets most carries (its value after W_O),
    divided by the median of all tokens. Less than 1: the head rests where little is handed over. More: it sends one
    vector to everybody. carriedBy in microscope/core/kinds.js is the same for any head."""
    from playground.analysis import heads

    return carried_by_agreeing(trace, heads.measure_heads(trace))


def carried_by_agreeing(trace: Trace, habits: Habits) -> float:
    layer, head = (
        int(number_of_agreeing_head(shares_of_one_place(habits), "most", axis)) for axis in ("layer", "head")
    )
    lengths = trace.value_norms(layer)[head]
    return float(lengths[token_of_agreeing(trace, habits)] / lengths.median())


def even_share(trace: Trace) -> float:
    return 1 / trace.tokens


# The softmax's scale --------------------------------------------------------------------------------------------------


def spread_of_scores(trace: Trace, what: str) -> float:
    """A number about the spread of the heads' scaled scores (their standard deviation in a row). `what`: "first" or
    "last" for the largest spread in the first or last layer; "least" or "most" for the smallest or largest of all
    heads; "layer" or "head" for the position of the head with the largest."""
    from playground.analysis.scale import sharpness

    return number_of_spreads(sharpness(trace, trace.native_scale)[2], what)


def number_of_spreads(spreads: np.ndarray, value: str) -> float:
    """spreads: (layers, heads)"""
    layer, head = (int(n) for n in np.unravel_index(spreads.argmax(), spreads.shape))
    widest = spreads.max(axis=1)
    if value in ("layer", "head"):
        return layer if value == "layer" else head
    return float({"first": widest[0], "last": widest[-1], "least": spreads.min(), "most": spreads.max()}[value])


# Computed from the grid alone -----------------------------------------------------------------------------------------


def even_distance(trace: Trace) -> float:
    from playground.analysis import heads

    return heads.even_distance(*trace.grid)


def patches(trace: Trace) -> int:
    return trace.grid[0] * trace.grid[1]


def longer_side(trace: Trace) -> int:
    return max(trace.grid)


def layers_needed(trace: Trace, kernel: int) -> int:
    """The number of k × k convolutions after which one edge of the picture depends on the other."""
    from playground.analysis import two_ways

    return two_ways.layers_needed(max(trace.grid), kernel)


def reaches(trace: Trace, kernel: int) -> list[float]:
    """The receptive field's radius in patches after each layer of k × k convolutions, at most the picture's length."""
    from playground.analysis import two_ways

    return [min(max(trace.grid), two_ways.receptive_field(kernel, layer + 1) // 2) for layer in range(trace.layers)]


# The row to guess: the row of the first query, in the head that gives most to far patches -----------------------------


def far_layer(trace: Trace, spot: tuple[int, int] | None = None) -> int:
    return far_head_of(trace, spot)[0]


def far_head(trace: Trace, spot: tuple[int, int] | None = None) -> int:
    return far_head_of(trace, spot)[1]


def far_head_of(trace: Trace, spot: tuple[int, int] | None) -> tuple[int, int]:
    from playground.analysis import heads

    return heads.far_looking_head(trace, spot or start_patch("", trace.grid))


def far_share(trace: Trace, spot: tuple[int, int] | None = None) -> float:
    """The part of the row's weight on patches that the brightest 2 % of the patches hold."""
    return brightest_share(far_row(trace, spot).flatten())


def far_peak(trace: Trace, spot: tuple[int, int] | None = None) -> float:
    return float(far_row(trace, spot).max())


def far_row(trace: Trace, spot: tuple[int, int] | None) -> Tensor:  # (rows, columns)
    return trace.on_grid(trace.row(*far_head_of(trace, spot), spot or start_patch("", trace.grid)))


def brightest_share(weights: Tensor) -> float:
    return float(weights.topk(max(1, len(weights) // 50)).values.sum() / weights.sum())


MEASURES: Mapping[str, Callable] = {
    measure.__name__: measure
    for measure in (
        differing, rows_asked, distances, mean_distance, layer_by_distance, by_depth, a_head, agreeing,
        agreeing_percent, all_heads, locked_heads, agreed_place, key_length, carried, even_share, spread_of_scores,
        even_distance, patches, longer_side, layers_needed, reaches, far_layer, far_head, far_share, far_peak,
    )
}  # fmt: skip
