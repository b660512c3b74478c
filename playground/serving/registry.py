"""A set with one thing of every session. A session that ends takes its own out of it."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakSet

T = TypeVar("T")


class Registry(Generic[T]):
    """As a WeakSet; but while one thread goes through it, another may add to it. A WeakSet would raise then."""

    def __init__(self) -> None:
        self._all: WeakSet[T] = WeakSet()
        self._lock = Lock()

    def add(self, one: T) -> None:
        with self._lock:
            self._all.add(one)

    def __iter__(self) -> Iterator[T]:
        with self._lock:
            return iter(list(self._all))
