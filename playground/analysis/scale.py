"""Measures the effect of the scale 1/√d_k on a row of the softmax. A score q·k is a sum of d_k products. If the numbers
in q and k are independent, with mean 0 and variance 1, the score's standard deviation is √d_k, and a softmax of widely
spread scores puts nearly all weight on one key. `experiment` draws such rows. All arrays are numpy's, so that a page
with random rows needn't import torch. The last axis is a row's keys."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from playground.tracing import Trace


WIDTHS = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)  # values of d_k
KEY_COUNT = 64  # number of keys in a row
ROW_COUNT = 200  # number of rows that a reader can look at one by one
CURVE_ROW_COUNT = 20_000  # number of rows behind a curve; with 200, the quantiles would depend on the seed
ROWS_AT_ONCE = 1000  # rows in memory at one time
BAND = (0.1, 0.9)  # quantiles between which eight of ten rows lie


def scale_of(width: int, power: float) -> float:
    """1/d_k^power: ½ is the paper's 1/√d_k, 0 is no scale at all."""
    return width**-power


def softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def deviation(scores: np.ndarray) -> np.ndarray:
    """The standard deviation of a row's scores."""
    return scores.std(-1)


def entropy(weights: np.ndarray) -> np.ndarray:
    """A row's entropy in bits, from 0 (one key gets all) to log₂ of the number of keys (all get the same)."""
    return -(weights * np.log2(np.maximum(weights, 1e-30))).sum(-1)


def peak(weights: np.ndarray) -> np.ndarray:
    """The largest weight."""
    return weights.max(-1)


def gradient(weights: np.ndarray) -> np.ndarray:
    """How strongly the weights react to the scores that enter the softmax: the Frobenius norm of ∂a_i/∂s_j =
    a_i (δ_ij − a_j), whose square is Σa² − 2Σa³ + (Σa²)². If one key has all the weight, the norm is 0, and no gradient
    passes through this row."""
    squares = weights * weights
    sum_of_squares, sum_of_cubes = squares.sum(-1), (squares * weights).sum(-1)
    return np.sqrt(np.maximum(sum_of_squares - 2 * sum_of_cubes + sum_of_squares**2, 0))


def measured(scores: np.ndarray, scale: float | np.ndarray) -> dict[str, np.ndarray]:
    """Four numbers for each row of scores q·k at a scale. "gradient" is how strongly the weights react to q·k: by the
    chain rule, `gradient` times the scale. Unlike `gradient`, it can be compared between rows with different scales."""
    scaled_scores = scores * scale
    weights = softmax(scaled_scores)
    return {
        "deviation": deviation(scaled_scores),
        "entropy": entropy(weights),
        "peak": peak(weights),
        "gradient": gradient(weights) * np.reshape(scale, np.shape(scale)[:-1]),
    }


@lru_cache(maxsize=2)
def experiment(rows: int = ROW_COUNT, seed: int = 0) -> np.ndarray:
    """(rows, widths, keys): q·k of a random q and 64 random k. All widths of a row use the same vectors, cut off
    after d_k coordinates."""
    random = np.random.default_rng(seed)
    scores = np.empty((rows, len(WIDTHS), KEY_COUNT))
    for row in scores:
        q = random.standard_normal(WIDTHS[-1], np.float32)
        k = random.standard_normal((KEY_COUNT, WIDTHS[-1]), np.float32)
        increments = [k[:, start:stop] @ q[start:stop] for start, stop in pairwise((0, *WIDTHS))]
        row[:] = np.cumsum(increments, axis=0)
    scores.flags.writeable = False  # the cache gives all callers the same array
    return scores


def scales(power: float) -> np.ndarray:
    """(widths, 1): the scale of every width."""
    return np.array([scale_of(width, power) for width in WIDTHS])[:, None]


@dataclass(frozen=True)
class Curve:
    """The distribution of one quantity over many random rows, at every width; each (widths,)."""

    median: np.ndarray
    low: np.ndarray
    high: np.ndarray


def curve(quantity: str, power: float) -> Curve:
    """The curve of a quantity over CURVE_ROW_COUNT rows."""
    return _curves(power)[quantity]


@lru_cache(maxsize=32)
def _curves(power: float) -> dict[str, Curve]:
    scale = scales(power).astype(np.float32)
    blocks = [measured(scores, scale) for scores in many_rows()]  # name -> (ROWS_AT_ONCE, widths)
    curves = {}
    for name in blocks[0]:
        values = np.concatenate([block[name] for block in blocks])
        low, median, high = np.quantile(values, [BAND[0], 0.5, BAND[1]], axis=0)
        curves[name] = Curve(median, low, high)
    return curves


def many_rows(rows: int = CURVE_ROW_COUNT, seed: int = 0) -> Iterator[np.ndarray]:
    """Yields arrays (ROWS_AT_ONCE, widths, keys) of scores distributed as in `experiment`, drawn without vectors. For a
    given q, q·k of a random k is normal with standard deviation ‖q‖. For n coordinates, ‖q‖² is chi-square with
    n degrees of freedom."""
    random, added_widths = np.random.default_rng(seed), np.diff((0, *WIDTHS))
    for _ in range(0, rows, ROWS_AT_ONCE):
        lengths = np.sqrt(random.chisquare(added_widths, (ROWS_AT_ONCE, len(WIDTHS)))).astype(np.float32)
        increments = random.standard_normal((ROWS_AT_ONCE, len(WIDTHS), KEY_COUNT), np.float32) * lengths[..., None]
        yield increments.cumsum(axis=1)


def expected_deviation(power: float) -> np.ndarray:
    """(widths,): the expected standard deviation of the scores, √d_k · scale. The other quantities have no formula."""
    return np.array([math.sqrt(width) * scale_of(width, power) for width in WIDTHS])


@dataclass(frozen=True)
class Verdict:
    """A label's probabilities in a pass with the scale and in a pass without."""

    label: str
    scaled_share: float
    unscaled_share: float


def verdicts(scaled_trace: Trace, unscaled_trace: Trace, top: int = 5) -> list[Verdict]:
    """The likeliest labels of both passes, sorted by probability with the scale; empty without a classifier."""
    if scaled_trace.logits is None:
        return []
    scaled, unscaled = (_probabilities(trace) for trace in (scaled_trace, unscaled_trace))
    likeliest = {i for shares in (scaled, unscaled) for i in np.argsort(-shares, kind="stable")[:top].tolist()}
    ranked = sorted(likeliest, key=lambda i: (-scaled[i], i))
    return [Verdict(_label(scaled_trace, i), float(scaled[i]), float(unscaled[i])) for i in ranked]


def changed_verdicts(scaled_trace: Trace, unscaled_trace: Trace, least: float = 0.02) -> list[Verdict]:
    """The labels whose probability changes by at least `least`, the largest change first; else the likeliest label."""
    if scaled_trace.logits is None:
        return []
    scaled, unscaled = (_probabilities(trace) for trace in (scaled_trace, unscaled_trace))
    changes = np.abs(unscaled - scaled)
    changed = [i for i in np.argsort(-changes, kind="stable").tolist() if changes[i] >= least]
    chosen = changed or [int(scaled.argmax())]
    return [Verdict(_label(scaled_trace, i), float(scaled[i]), float(unscaled[i])) for i in chosen]


def _probabilities(trace: Trace) -> np.ndarray:
    """(classes,)"""
    return trace.vit.config.shares(trace.logits).numpy()  # type: ignore[union-attr]


def _label(trace: Trace, number: int) -> str:
    labels = trace.vit.config.labels if trace.vit is not None else ()
    return labels[number] if labels else f"class {number}"
