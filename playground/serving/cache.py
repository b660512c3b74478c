"""A shelf: what has been made once is kept for everybody, up to a bound in bytes; the longest unused goes first."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any


class Shelf:
    def __init__(self, most_bytes: int, size: Callable[[Any], int] = len):
        self.most_bytes = most_bytes
        self.size = size
        self._things: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self.used = time.monotonic()
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        with self._lock:
            return sum(size for _, size in self._things.values())

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The thing of this key. Two who ask for it at the same moment have it made once."""
        self.used = time.monotonic()
        with self._lock:
            if key in self._things:
                self._things.move_to_end(key)
                return self._things[key][0]
            turn = self._making.setdefault(key, threading.Lock())
        with turn:
            with self._lock:
                if key in self._things:
                    return self._things[key][0]
            try:
                thing = make()
                self._put(key, thing)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return thing

    def _put(self, key: Hashable, thing: Any) -> None:
        size = self.size(thing)
        with self._lock:
            self._things[key] = (thing, size)
            while len(self._things) > 1 and sum(size for _, size in self._things.values()) > self.most_bytes:
                self._things.popitem(last=False)

    def drop(self) -> None:
        """The longest unused thing goes."""
        with self._lock:
            if self._things:
                self._things.popitem(last=False)


def trim(shelves: Iterable[Shelf], most_bytes: int) -> None:
    """Many shelves with one bound: those go first that belong to whoever has been away for longest."""
    shelves = sorted(shelves, key=lambda shelf: shelf.used)
    excess = sum(shelf.bytes for shelf in shelves) - most_bytes
    for shelf in shelves[:-1]:  # whoever asks now keeps what was just made
        while excess > 0 and (held := shelf.bytes):
            shelf.drop()
            excess -= held - shelf.bytes
