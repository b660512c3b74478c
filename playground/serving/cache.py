"""A thread-safe cache with a limit in bytes. The least recently used entries are dropped first, and their memory is
returned to the system."""

from __future__ import annotations

import ctypes
import gc
import platform
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

from playground.serving import queue

MB = 2**20
LOOK_EVERY = 0.5  # seconds between two checks whether the person for whom a thread waits has left


class Cache:
    """A cache that calls `on_drop` with the key of each entry that it evicts."""

    def __init__(
        self, most_bytes: int, size: Callable[[Any], int] = len, on_drop: Callable[[Hashable], None] = lambda key: None
    ):
        self.most_bytes = most_bytes
        self.size = size
        self.on_drop = on_drop
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()  # key -> (value, its bytes)
        self._key_locks: dict[Hashable, threading.Lock] = {}
        self.hits = self.misses = 0  # for /metrics
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        with self._lock:
            return sum(size for _, size in self._entries.values())

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._entries

    def peek(self, key: Hashable) -> Any:
        """The value of this key, or None; nothing is computed."""
        with self._lock:
            return self._entries[key][0] if key in self._entries else None

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value of this key. A missing value is made, and only once even if several threads ask at the same
        time."""
        while True:
            with self._lock:
                if key in self._entries:
                    self._entries.move_to_end(key)
                    self.hits += 1
                    return self._entries[key][0]
                key_lock = self._key_locks.setdefault(key, threading.Lock())
            with _holding_lock(key_lock):
                if self._key_locks.get(key) is not key_lock:  # another thread has made the value, or failed to
                    continue
                self.misses += 1
                try:
                    value = make()
                    self._keep(key, value)
                    return value
                finally:
                    with self._lock:
                        del self._key_locks[key]

    def _keep(self, key: Hashable, value: Any) -> None:
        size = self.size(value)
        self.make_room(size)
        with self._lock:
            self._entries[key] = (value, size)

    def make_room(self, size: int) -> None:
        """Evicts the least recently used entries until `size` bytes fit. Called before a large value is made, so that
        the value and the evicted entries are never in memory together."""
        while self.bytes + size > self.most_bytes and self.drop_oldest():
            pass

    def drop_oldest(self) -> bool:
        """Drops the least recently used entry, if there is one."""
        with self._lock:
            if not self._entries:
                return False
            key, _ = self._entries.popitem(last=False)
        self.on_drop(key)
        return True

    def drop_where(self, is_unwanted: Callable[[Any], bool]) -> None:
        with self._lock:
            for key in [key for key in self._entries if is_unwanted(key)]:
                del self._entries[key]


@contextmanager
def _holding_lock(lock: threading.Lock) -> Iterator[None]:
    """Acquires the lock. The thread stops waiting if the person for whom it works leaves."""
    while not lock.acquire(timeout=LOOK_EVERY):
        queue.current().raise_if_left()
    try:
        yield
    finally:
        lock.release()


# Settings of glibc's allocator and of Python's garbage collector

# glibc's option M_MMAP_THRESHOLD, and its value: most pictures have more bytes
MMAP_THRESHOLD, LARGE_BYTES = -3, 8 * 2**20
GC_THRESHOLDS = (10_000, 10, 25)  # thresholds of the garbage collector's three generations
ARENA_MAX, ARENA_COUNT = -8, 2  # glibc's option M_ARENA_MAX, and its value: the number of arenas


def keep_few_arenas() -> bool:
    """Makes glibc return freed memory to the system; returns False on a system without glibc. By default, glibc keeps
    freed blocks in up to eight arenas per core: twenty people's pictures of 4096² pixels left 1.3 GB of free blocks.
    Threads need few arenas, because computations run one at a time."""
    if platform.libc_ver()[0] != "glibc":
        return False
    libc = ctypes.CDLL(None)
    return libc.mallopt(MMAP_THRESHOLD, LARGE_BYTES) == 1 and libc.mallopt(ARENA_MAX, ARENA_COUNT) == 1


def give_back_free() -> None:
    """Returns free memory between used blocks to the system: 50 to 100 MB after a class has left."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


def freeze_objects() -> None:
    """Excludes all existing objects from garbage collection. Torch and Streamlit have hundreds of thousands: with many
    visitors, a full collection stopped the server for 0.27 s every five seconds."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
