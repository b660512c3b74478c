"""A thread-safe cache with a limit in bytes: the least recently used entries are dropped first, and the memory that
they took is given back."""

from __future__ import annotations

import ctypes
import gc
import platform
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from playground.serving import queue

MB = 2**20
LOOK_EVERY = 0.5  # seconds


class Cache:
    """Calls `dropped` with the key of each entry that it evicts."""

    def __init__(
        self, most_bytes: int, size: Callable[[Any], int] = len, dropped: Callable[[Hashable], None] = lambda key: None
    ):
        self.most_bytes = most_bytes
        self.size = size
        self.dropped = dropped
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()  # key -> (value, its bytes)
        self._making: dict[Hashable, threading.Lock] = {}
        self.used = time.monotonic()
        self.hits = self.misses = 0  # the operator reads them
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        with self._lock:
            return sum(size for _, size in self._kept.values())

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._kept

    def held(self, key: Hashable) -> Any:
        """The value of this key, or None; nothing is computed."""
        with self._lock:
            return self._kept[key][0] if key in self._kept else None

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value of this key, made if it is missing. If several threads ask at the same time, it is made once."""
        self.used = time.monotonic()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                self.hits += 1
                return self._kept[key][0]
            making = self._making.setdefault(key, threading.Lock())
        with _locked(making):
            with self._lock:
                if key in self._kept:
                    return self._kept[key][0]
            self.misses += 1
            try:
                value = make()
                self._keep(key, value)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return value

    def _keep(self, key: Hashable, value: Any) -> None:
        size = self.size(value)
        self.make_room(size)
        with self._lock:
            self._kept[key] = (value, size)

    def make_room(self, size: int) -> None:
        """Evicts the least recently used entries until `size` bytes fit. Done before a large value is made, so that old
        and new are never in memory together."""
        while self.bytes + size > self.most_bytes and self.drop_oldest():
            pass

    def drop_oldest(self) -> bool:
        """Drops the least recently used entry, if there is one."""
        with self._lock:
            if not self._kept:
                return False
            key, _ = self._kept.popitem(last=False)
        self.dropped(key)
        return True

    def drop_where(self, unwanted: Callable[[Hashable], bool]) -> None:
        with self._lock:
            for key in [key for key in self._kept if unwanted(key)]:
                del self._kept[key]


@contextmanager
def _locked(lock: threading.Lock) -> Iterator[None]:
    """Acquires the lock. A thread that waits for it may leave when its person leaves."""
    while not lock.acquire(timeout=LOOK_EVERY):
        queue.current().stays()
    try:
        yield
    finally:
        lock.release()


class Caches:
    """The caches of all people; together they share one limit in bytes. One that nobody refers to is forgotten."""

    def __init__(self) -> None:
        self._all: WeakSet[Cache] = WeakSet()
        self._lock = threading.Lock()

    def add(self, cache: Cache) -> Cache:
        with self._lock:
            self._all.add(cache)
        return cache

    def __iter__(self) -> Iterator[Cache]:
        with self._lock:  # while others come, a WeakSet would raise
            return iter(list(self._all))

    def trim(self, most_bytes: int) -> None:
        """The least recently used cache loses its entries first."""
        caches = sorted(self, key=lambda cache: cache.used)
        excess = sum(cache.bytes for cache in caches) - most_bytes
        for cache in caches[:-1]:  # the last was used just now: somebody waits for its answer
            while excess > 0 and (size_before := cache.bytes):
                cache.drop_oldest()
                excess -= size_before - cache.bytes


# Free memory goes back to the operating system, or to the next person, at once.

THRESHOLD, LARGE = -3, 8 * 2**20  # glibc's M_MMAP_THRESHOLD: pictures are larger, most tensors of a pass smaller
LOOKS = (10_000, 10, 25)  # thresholds of the garbage collector's three generations
ARENA_MAX, ARENAS = -8, 2  # M_ARENA_MAX


def keep_few_arenas() -> bool:
    """glibc learns from the first large block that is freed to keep such blocks, and what a thread frees stays in one
    of eight arenas to a core, for threads of the same one. Twenty people's pictures of 4096² left 1.3 GB of free blocks
    behind so. A fixed threshold and few arenas stop that: what computes stands in one queue, so that nobody waits for
    an arena. False where there is no glibc: others give back by themselves."""
    if platform.libc_ver()[0] != "glibc":
        return False
    libc = ctypes.CDLL(None)
    return libc.mallopt(THRESHOLD, LARGE) == 1 and libc.mallopt(ARENA_MAX, ARENAS) == 1


def give_back_free() -> None:
    """Returns free blocks between used ones to the system: 50 to 100 MB after a class has left."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


def settle() -> None:
    """Takes the objects that exist now out of garbage collection: torch and Streamlit have hundreds of thousands. Each
    full collection stopped the server for 0.27 s, every five seconds while many people came and went."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*LOOKS)
