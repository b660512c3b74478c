"""Writes shares as text for all pages, figures and files, by the same rule as microscope/core/numbers.js; reads
integers of any library, and sizes that Linux tells."""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from pathlib import Path
from typing import Any


def percent(share: float, digits: int | None = None) -> str:
    """ "64 %", "3.4 %", "0.34 %". A share above 0 never reads "0 %", a share below 1 never "100 %". `digits` fixes the
    number of decimals, for numbers with which a reader computes."""
    if share == 0:
        return "0 %"
    if share < 0.00005:
        return "< 0.01 %"
    if 0.99995 <= share < 1:
        return "> 99.99 %"
    percent_value = math.nextafter(100 * share, math.inf)  # rounds a half up, as JavaScript does
    return f"{percent_value:.{_digits(share) if digits is None else digits}f} %"


def _digits(share: float) -> int:
    if 0.995 <= share < 1:
        return 1 if share < 0.9995 else 2
    return 0 if share >= 0.0995 else 1 if share >= 0.00995 else 2


def bare_share(share: float) -> str:
    """A share without its % sign, short enough to stand inside a patch."""
    return f"{100 * share:.1f}" if share < 0.0995 else f"{100 * share:.0f}"


def index(number: Any) -> int | None:
    """An integer of Python, NumPy or torch as an int; None for anything else, True and False too."""
    if isinstance(number, bool) or str(getattr(number, "dtype", "")) in ("bool", "torch.bool"):
        return None
    try:
        return operator.index(number)
    except TypeError:
        return None


def bytes_in(file: Path, field: str) -> int | None:
    """The bytes that Linux names in a line of a file such as /proc/meminfo; None where it does not."""
    with suppress(OSError):
        lines = file.read_text().splitlines()
        return next((1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:")), None)
    return None
