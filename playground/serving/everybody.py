"""What all sessions have of one kind, each as long as its session lasts."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakSet

T = TypeVar("T")


class Everybody(Generic[T]):
    """Somebody may come in another thread while one looks through all: a WeakSet alone would break off there."""

    def __init__(self) -> None:
        self._all: WeakSet[T] = WeakSet()
        self._lock = Lock()

    def add(self, one: T) -> None:
        with self._lock:
            self._all.add(one)

    def __iter__(self) -> Iterator[T]:
        with self._lock:
            return iter(list(self._all))
