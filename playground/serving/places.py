"""Places for work that coroutines wait for. The next one goes to the network that holds the fewest, or had none for the
longest time: one person who asks for hundreds of things keeps nobody elsewhere from theirs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Places:
    def __init__(self, count: int):
        self._free = count
        self._held: Counter[str] = Counter()  # by network
        self._served: dict[str, int] = {}  # how many had been served when a network last was
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []  # in the order in which they came

    @asynccontextmanager
    async def one(self, network: str) -> AsyncIterator[None]:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((network, turn))
        self._give()
        await turn
        try:
            yield
        finally:
            self._free += 1
            self._held[network] -= 1
            self._give()

    def _give(self) -> None:
        self._waiting = [(network, turn) for network, turn in self._waiting if not turn.cancelled()]
        while self._free and self._waiting:
            first = min(self._waiting, key=lambda waits: (self._held[waits[0]], self._served.get(waits[0], 0)))
            self._waiting.remove(first)
            network, turn = first
            self._free -= 1
            self._held[network] += 1
            self._served[network] = max(self._served.values(), default=0) + 1
            turn.set_result(None)
        if not any(self._held.values()):
            self._served.clear()
