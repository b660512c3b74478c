"""The phones of classes: how often one may ask, how many of a network may enter, and which gives way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from playground.serving import ledger
from playground.serving.ledger import Visitor

REQUEST_BURST, REQUESTS_A_SECOND = 30, 2.0  # how many requests one phone may send at once, and then per second
ARRIVALS_A_SECOND = 8  # new phones of a household in a class: a lecture hall, often one network, is in within a minute
MOST_ARRIVALS = 1000  # networks of a class whose arrivals are counted
SILENT_SECONDS = 60.0  # seconds without a request, after which a phone's place may go to another one of its network

# why a phone is out of its class: the sentence in classes.REFUSALS, and the status
FULL, SENT_AWAY, NEW_CODE = ("full", 503), ("sentAway", 403), ("newCode", 410)

clock: Callable[[], float] = time.monotonic


class Allowance:
    """What may be done now: at most `burst` times, and `a_second` more with each second."""

    def __init__(self, burst: float, a_second: float):
        self.burst, self.a_second = burst, a_second
        self._left, self._refilled_at = burst, clock()

    def left(self) -> float:
        now = clock()
        self._left = min(self.burst, self._left + (now - self._refilled_at) * self.a_second)
        self._refilled_at = now
        return self._left

    def take(self) -> bool:
        if self.left() < 1:
            return False
        self._left -= 1
        return True


class Arrivals:
    """The new phones that a class lets in, by network."""

    def __init__(self) -> None:
        self._allowances: dict[str, Allowance] = {}

    def take(self, address: str) -> bool:
        if len(self._allowances) > MOST_ARRIVALS:
            self._allowances = {name: some for name, some in self._allowances.items() if some.left() < some.burst}
        allowances = [
            self._allowances.setdefault(name, Allowance(ARRIVALS_A_SECOND * households, ARRIVALS_A_SECOND * households))
            for name, households in ledger.networks_of(address)
        ]
        return all(some.left() >= 1 for some in allowances) and all(some.take() for some in allowances)


class Phone:
    def __init__(self, visitor: Visitor, let_go: Callable[[Phone, tuple[str, int]], None]):
        self.visitor, self.let_go = visitor, let_go
        self.requests = Allowance(REQUEST_BURST, REQUESTS_A_SECOND)
        self.heard_at = clock()
        self.why_out: tuple[str, int] | None = None
        self.wait: asyncio.Future[None] | None = None  # the future that the latest request waits for

    def next_news(self) -> asyncio.Future[None]:
        self.wake()
        self.wait = asyncio.get_running_loop().create_future()
        return self.wait

    def wake(self) -> None:
        wake(self.wait)


def wake(wait: asyncio.Future[None] | None) -> None:
    if wait is not None and not wait.done():
        wait.set_result(None)


class Crowd:
    """Phones that share a bound. `address`: where a phone counts."""

    def __init__(self, capacity: int):
        self.capacity = capacity
        self._addresses: dict[Phone, str] = {}
        self.holdings = ledger.Holdings()

    def __len__(self) -> int:
        return len(self._addresses)

    def add(self, phone: Phone, address: str) -> None:
        self._addresses[phone] = address
        self.holdings.add(address, 1)

    def remove(self, phone: Phone) -> None:
        self.holdings.add(self._addresses.pop(phone), -1)

    def of_fullest_network(self) -> list[Phone]:
        network = self.holdings.fullest_network()
        return [phone for phone, address in self._addresses.items() if ledger.is_within(address, network)]

    def makes_room(self, address: str) -> bool:
        """Whether there is room for a newcomer from this address. In a full crowd, the longest silent phone of the
        network that holds most leaves. A newcomer of that same network gets only the place of one silent for long."""
        if len(self) < self.capacity:
            return True
        self.holdings.add(address, 1)
        phones, is_own = self.of_fullest_network(), ledger.is_within(address, self.holdings.fullest_network())
        self.holdings.add(address, -1)
        leaving = min(phones, key=lambda phone: phone.heard_at, default=None)
        if leaving is None or (is_own and clock() - leaving.heard_at < SILENT_SECONDS):
            return False
        leaving.let_go(leaving, FULL)
        return True
