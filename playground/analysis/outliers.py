"""Lengths that stand apart. The bound is Tukey's for what is far out; microscope/core/features.js has the same."""

import numpy as np


def bound(values: np.ndarray) -> float:
    """What is longer stands apart: the upper quartile and three times the distance between the quartiles."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high + 3 * (high - low))
