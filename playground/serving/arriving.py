"""What is on its way to the server: it lies here, in memory or in /tmp, until all of it has come."""

from __future__ import annotations

import time
from collections.abc import Callable

STEP = 2**18  # bytes that somebody brings to be taken for brisk


class Arriving:
    """Things of one kind, of which `most` bytes may lie here together."""

    def __init__(self, most: int):
        self.most = most
        self._all: set[Delivery] = set()

    @property
    def bytes(self) -> int:
        return sum(delivery.bytes for delivery in self._all)

    def begin(self, end: Callable[[], None]) -> Delivery:
        """Somebody begins to bring something; `end` breaks it off."""
        delivery = Delivery(end)
        self._all.add(delivery)
        return delivery

    def over(self, delivery: Delivery) -> None:
        self._all.discard(delivery)

    def has_room(self, count: int) -> bool:
        return self.bytes + count <= self.most

    def slowest(self) -> Delivery | None:
        """Of those who bring something and don't wait themselves. Bytes that trickle make nobody brisk."""
        return min((one for one in self._all if not one.waits), key=lambda one: one.brisk, default=None)


class Delivery:
    def __init__(self, end: Callable[[], None]):
        self.end = end
        self.bytes = 0
        self.brisk = time.monotonic()  # when the last STEP was complete
        self.waits = False  # for room

    def came(self, count: int) -> None:
        if self.bytes // STEP != (self.bytes + count) // STEP:
            self.brisk = time.monotonic()
        self.bytes += count
