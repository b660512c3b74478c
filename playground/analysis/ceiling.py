"""The weight at which the colours end: one for all heads, layers, queries and scales, so that maps can be compared."""

from __future__ import annotations

import math


def shared_ceiling(tokens: int) -> float:
    """Twenty times the weight of an even row, 20/N, rounded to 1, 2 or 5 · 10ⁿ. The same rule stands in
    microscope/core/colours.js; tests on both sides check the same numbers."""
    return min(1.0, nice_number(20 / tokens))


def nice_number(x: float) -> float:
    """The 1-2-5 number nearest to x."""
    power = 10 ** math.floor(math.log10(x))
    rest = x / power
    return (1 if rest < 1.4142 else 2 if rest < 3.1623 else 5 if rest < 7.0711 else 10) * power
