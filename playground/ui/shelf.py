"""A shelf: what has been made once is kept for everybody, up to a bound in bytes; the longest unused goes first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class Shelf:
    def __init__(self, most_bytes: int, size: Callable[[Any], int] = len):
        self.most_bytes = most_bytes
        self.size = size
        self._things: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        with self._lock:
            return sum(size for _, size in self._things.values())

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The thing of this key. Two who ask for it at the same moment have it made once."""
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
