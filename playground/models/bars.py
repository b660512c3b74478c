"""How far something is that takes a while: a bar in a terminal, and in a log a line now and then."""

from __future__ import annotations

import sys

from tqdm import tqdm

EVERY = 10.0  # seconds


class Lines(tqdm):
    """A line in ten seconds, where a bar would be drawn over itself a hundred times."""

    def __init__(self, *given, **options):
        super().__init__(*given, **options | {"mininterval": EVERY, "miniters": 1, "leave": True})

    def display(self, *_, **__) -> None:
        done = f"{self.n / self.total:.0%}" if self.total else f"{self.n:,.0f}"
        if self.n:
            self.fp.write(f"{self.desc.rstrip(': ') or 'done'}: {done}\n")


def bar() -> type[tqdm]:
    return tqdm if sys.stderr.isatty() else Lines
