"""Turns: so many forward passes at once, the others wait in the order in which they came and are told their place."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 0.4  # seconds: who waits longer hears about it, and again each time that so long has passed


class Turns:
    def __init__(self, at_once: int):
        self.at_once = at_once
        self._line: list[object] = []  # those at work come first
        self._moved = threading.Condition()

    @contextmanager
    def take(self, tell: Callable[[int], None] | None = None) -> Iterator[None]:
        """`tell` hears how many come first, and 0 if it had to wait. What it raises (the page has been left, say) gives
        the place back."""
        ticket, told = object(), False
        with self._moved:
            self._line.append(ticket)
        try:
            while before := self._before(ticket):
                if tell:
                    tell(before)
                    told = True
            if told:
                tell(0)
            yield
        finally:
            with self._moved:
                self._line.remove(ticket)
                self._moved.notify_all()

    def _before(self, ticket: object) -> int:
        """How many have to finish first, after waiting a while for it to be none."""
        with self._moved:
            self._moved.wait_for(lambda: self._line.index(ticket) < self.at_once, PATIENCE)
            return max(0, self._line.index(ticket) - self.at_once + 1)

    @property
    def waiting(self) -> int:
        with self._moved:
            return max(0, len(self._line) - self.at_once)
