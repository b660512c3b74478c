"""A thread-safe cache with a limit in bytes; the least recently used entries are dropped first."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any

MB = 2**20


class Cache:
    def __init__(self, most_bytes: int, size: Callable[[Any], int] = len):
        self.most_bytes = most_bytes
        self.size = size
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()  # key -> (value, its bytes)
        self._making: dict[Hashable, threading.Lock] = {}
        self.used = time.monotonic()
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        with self._lock:
            return sum(size for _, size in self._kept.values())

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._kept

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value of this key, made if it is missing. If several threads ask at the same time, it is made once."""
        self.used = time.monotonic()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._kept:
                    return self._kept[key][0]
            try:
                made = make()
                self._keep(key, made)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return made

    def _keep(self, key: Hashable, made: Any) -> None:
        size = self.size(made)
        with self._lock:
            self._kept[key] = (made, size)
            while len(self._kept) > 1 and sum(size for _, size in self._kept.values()) > self.most_bytes:
                self._kept.popitem(last=False)

    def drop_oldest(self) -> None:
        """Drops the least recently used entry."""
        with self._lock:
            if self._kept:
                self._kept.popitem(last=False)


def trim(caches: Iterable[Cache], most_bytes: int) -> None:
    """Limits the total size of many caches: the least recently used cache loses its entries first."""
    caches = sorted(caches, key=lambda cache: cache.used)
    excess = sum(cache.bytes for cache in caches) - most_bytes
    for cache in caches[:-1]:  # the last was used just now, for an answer that somebody waits for
        while excess > 0 and (held := cache.bytes):
            cache.drop_oldest()
            excess -= held - cache.bytes
