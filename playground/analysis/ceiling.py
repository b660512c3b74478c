"""Where the colours of weights end, so that pictures of all heads, layers, queries and scales can be compared."""

from __future__ import annotations

import math


def shared_ceiling(tokens: int) -> float:
    """Twenty times what an even row would give each token, made round. The browser has the same rule in
    microscope/core/colours.js, and tests on both sides ask for the same numbers."""
    return min(1.0, nice_number(20 / tokens))


def nice_number(x: float) -> float:
    """The 1-2-5 number nearest to x."""
    power = 10 ** math.floor(math.log10(x))
    rest = x / power
    return (1 if rest < 1.4142 else 2 if rest < 3.1623 else 5 if rest < 7.0711 else 10) * power
