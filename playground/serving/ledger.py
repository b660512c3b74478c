"""Records each network's recent cost in processor seconds, and decides by it who is served next and who gives way.

Networks are treated equally, because anybody can make many keys and addresses, but not many networks. A cost is
charged to the visitor's network and to the wider networks around it, which have higher limits; every two minutes half
is forgotten. Within one network, people are distinguished by the keys of their browsers.

Whoever has cost least is served next. Limited resources (requests, bytes in memory) are shared by one rule too: see
`Room`.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from ipaddress import ip_network
from typing import Any, NamedTuple

from playground.serving import app

MB = 2**20
HALF_LIFE = 120.0  # seconds in which half of a cost is forgotten
REQUEST_SECONDS = 0.002  # seconds charged for a request besides its computation
SECONDS_PER_BYTE = 0.05 / MB  # seconds charged for a byte sent or received
MOST_KNOWN = 50_000  # networks and people whose costs are kept; the cheapest are forgotten first

# length of a network's prefix -> number of households that share the network and its cost
IPV4_HOUSEHOLDS = {32: 1, 24: 8, 16: 64}
# IPv6: a home has a /56 or /64, anybody may get a /48, a provider has a /32
IPV6_HOUSEHOLDS = {64: 1, 56: 1, 48: 1, 32: 64}
CLASS_HOUSEHOLDS = 50  # one class counts as this number of households, and so do all classes together
# largest recent cost that a class pays for one phone, and for all: see Ledger.payer
MOST_PHONE_COST, MOST_CLASS_COST = 5.0, 100.0
CLASS_START_SECONDS = 5.0  # seconds charged for starting a class

Networks = tuple[tuple[str, int], ...]  # (network, households), the narrowest first


class Visitor(NamedTuple):
    """The person for whom a request or a computation runs; both fields are empty if there is no such person."""

    person: str = ""  # a key, the same in all tabs of a browser
    address: str = ""  # the network's address, which many people may share: see `network`


NOBODY = Visitor()


@app.part
def refusals() -> Counter[str]:
    """Resource -> number of refusals, for /metrics."""
    return Counter()


@lru_cache(10_000)
def networks_of(address: str) -> Networks:
    """The networks of an address, from the narrowest to the widest. A household owns billions of IPv6 addresses, so its
    narrowest network is a /64. A login or a class counts as a network."""
    try:
        ip = ip_network(address.partition("%")[0], strict=False).network_address
    except ValueError:
        if address.startswith("class "):
            return (address, CLASS_HOUSEHOLDS), ("classes", CLASS_HOUSEHOLDS)
        return ((address, 1),) if address else ()
    ip = getattr(ip, "ipv4_mapped", None) or ip
    households = IPV4_HOUSEHOLDS if ip.version == 4 else IPV6_HOUSEHOLDS
    return tuple((str(ip_network((ip, length), strict=False)), households[length]) for length in households)


def network(address: str | None) -> str:
    """The narrowest network of an address, by which a visitor is known."""
    return next((name for name, _ in networks_of(address or "")), "")


def household(address: str) -> str:
    """The widest network of an address that counts as one household."""
    return [address, *(name for name, households in networks_of(address) if households == 1)][-1]


def is_within(address: str, network_name: str) -> bool:
    return address == network_name or any(name == network_name for name, _ in networks_of(address))


class Ledger:
    """Recent costs, of which half is forgotten every HALF_LIFE seconds. Stored costs stay as they are: each new cost is
    multiplied by a factor that grows with time, and `cost` divides by the present factor."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self.spent: defaultdict[str, float] = defaultdict(float)  # seconds by kind of work, for /metrics
        self.phones: dict[str, tuple[str, Visitor]] = {}  # key of a phone -> its class, and who started that class
        self._scaled_costs: dict[object, float] = {}
        self._began_at = clock()
        self._lock = threading.Lock()

    def charge(self, visitor: Visitor, seconds: float, kind: str = "") -> None:
        """Adds a cost; a negative one corrects an estimate."""
        if kind:
            self.spent[kind] += seconds
        if visitor == NOBODY:
            return
        with self._lock:
            scaled_cost = seconds * self._growth()
            for name in (*(network for network, _ in networks_of(visitor.address)), visitor):
                self._scaled_costs[name] = max(0.0, self._scaled_costs.get(name, 0.0) + scaled_cost)
            if len(self._scaled_costs) > MOST_KNOWN:
                costliest = sorted(self._scaled_costs, key=self._scaled_costs.__getitem__)[MOST_KNOWN // 2 :]
                self._scaled_costs = {name: self._scaled_costs[name] for name in costliest}

    def cost(self, name: object) -> float:
        """Seconds that a network, or a person in it (a Visitor), has cost lately."""
        with self._lock:
            growth = self._growth()  # called first, because it may rescale `_scaled_costs`
            return self._scaled_costs.get(name, 0.0) / growth

    def payer(self, visitor: Visitor, seconds_asked: float = 0.0) -> Visitor:
        """Who pays for a visitor. A class pays for its phones. A phone that would exceed MOST_PHONE_COST with
        `seconds_asked` pays for itself, so that a hostile phone costs the class nothing. If all phones of a class
        together exceed MOST_CLASS_COST, the person who started the class pays."""
        if visitor.person not in self.phones:
            return visitor
        name, starter = self.phones[visitor.person]
        phone = Visitor(visitor.person, name)
        if self.cost(phone) + seconds_asked > MOST_PHONE_COST:
            return visitor
        return phone if self.cost(name) <= MOST_CLASS_COST else starter

    def _growth(self) -> float:
        half_lives = (self.clock() - self._began_at) / HALF_LIFE
        if half_lives > 500:  # the largest float is near 2 ** 1024
            self._began_at += half_lives * HALF_LIFE
            self._scaled_costs = {
                name: new_cost
                for name, old_cost in self._scaled_costs.items()
                if (new_cost := old_cost * 2**-half_lives) > 1e-6
            }
            return 1.0
        return 2.0**half_lives


# Limited resources ----------------------------------------------------------------------------------------------------

REACH = 3  # one network may hold this many times the free amount: a single network gets three quarters of all
RESERVED_SHARE = 0.1  # share of the capacity that is reserved for networks that hold nothing


class Holdings:
    """The amount of one resource that each network holds."""

    def __init__(self) -> None:
        self.by_address: Counter[str] = Counter()
        self._by_network: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, address: str, amount: int) -> None:
        with self._lock:
            add(self.by_address, address, amount)
            for name, _ in networks_of(address):
                add(self._by_network, name, amount)

    def rank_of(self, address: str) -> tuple[float, float]:
        """(the largest holding per household among the address's networks, the holding of the address itself)"""
        largest_holding = max(
            [self._by_network[name] / households for name, households in networks_of(address)], default=0.0
        )
        return largest_holding, self.by_address[address]

    def fullest_address(self) -> str:
        """The address whose networks hold most per household."""
        return max(list(self.by_address), key=self.rank_of, default="")

    def fullest_network(self) -> str:
        """The narrowest of the networks that hold most per household."""
        networks = networks_of(self.fullest_address())
        return max(networks, key=lambda pair: self._by_network[pair[0]] / pair[1], default=("", 1))[0]


def add(counter: Counter[Any], name: Hashable, amount: int) -> None:
    """Adds to a counter; an entry of zero is removed."""
    counter[name] += amount
    if not counter[name]:
        del counter[name]


class Room:
    """A limited amount of one resource. A network may hold at most REACH times the free amount: as REACH is 3, a single
    network gets three quarters, two get three sevenths each. RESERVED_SHARE of the capacity is for networks that hold
    nothing."""

    def __init__(self, kind: str, capacity: float, key_limit: float = math.inf):
        self.kind, self.capacity, self.key_limit = kind, capacity, key_limit
        self.taken = 0.0
        self.holdings, self._taken_by_key = Holdings(), Counter[Visitor]()
        self._lock = threading.Lock()

    def trouble(self, visitor: Visitor, count: int = 1) -> str:
        """Whose limit prevents taking `count` more: "everybody", "network" or "key"; "" if there is room."""
        free_amount, own_holding = self.capacity - self.taken, self.holdings.rank_of(visitor.address)[0]
        if visitor.person and self._taken_by_key[visitor] and self._taken_by_key[visitor] + count > self.key_limit:
            return "key"
        if count > free_amount - (RESERVED_SHARE * self.capacity if own_holding else 0):
            return "everybody"
        return "network" if own_holding and own_holding + count > REACH * free_amount else ""

    def take(self, visitor: Visitor, count: int = 1) -> str:
        """Takes `count` for the visitor if there is room. Returns the same text as `trouble`."""
        with self._lock:
            if trouble := self.trouble(visitor, count):
                refusals()[self.kind] += 1
            else:
                self._add(visitor, count)
            return trouble

    def take_beyond(self, visitor: Visitor, count: int) -> None:
        """Takes `count` for the visitor even without room."""
        with self._lock:
            self._add(visitor, count)

    def give_back(self, visitor: Visitor, count: int = 1) -> None:
        with self._lock:
            self._add(visitor, -count)

    def _add(self, visitor: Visitor, count: int) -> None:
        self.taken += count
        self.holdings.add(visitor.address, count)
        add(self._taken_by_key, visitor, count)

    @contextmanager
    def holding(self, visitor: Visitor, count: int = 1) -> Iterator[str]:
        """Takes `count` for the time of the `with` block if there is room. Yields the same text as `trouble`."""
        trouble = self.take(visitor, count)
        try:
            yield trouble
        finally:
            if not trouble:
                self.give_back(visitor, count)


# People ---------------------------------------------------------------------------------------------------------------

KNOWN_AFTER = 10.0  # seconds after its first request, from which a browser has an account of its own
GONE_AFTER = 120.0  # seconds after its last request, from which a browser counts as gone
MOST_PRESENT = 2000  # browsers that have an account of their own


class Present:
    """The browsers that asked lately, by their keys."""

    def __init__(self, costs: Ledger):
        self.costs, self.clock = costs, costs.clock
        self._times: dict[Visitor, tuple[float, float]] = {}  # (first request, last one); the latest browser is last
        self._by_household: Counter[str] = Counter()
        self._lock = threading.Lock()

    def note(self, visitor: Visitor) -> None:
        """Notes a request of this browser."""
        now = self.clock()
        with self._lock:
            if visitor not in self._times:
                add(self._by_household, household(visitor.address), 1)
            first, _ = self._times.pop(visitor, (now, now))
            self._times[visitor] = (first, now)
            while self._times[oldest := next(iter(self._times))][1] < now - GONE_AFTER:
                self._forget(oldest)
            if len(self._times) > MOST_PRESENT:  # those of the household that has most are forgotten first
                fullest = max(self._by_household, key=self._by_household.__getitem__)
                self._forget(next(other for other in self._times if household(other.address) == fullest))

    def _forget(self, visitor: Visitor) -> None:
        del self._times[visitor]
        add(self._by_household, household(visitor.address), -1)

    def account(self, visitor: Visitor, seconds_asked: float = 0.0) -> Visitor:
        """Who pays: a class, or a browser that has been here for a while. All others of a network pay together: else
        somebody who makes a key for each request would always come first."""
        if visitor.person in self.costs.phones:
            return self.costs.payer(visitor, seconds_asked)
        now = self.clock()
        first, last = self._times.get(visitor, (now, now))
        is_known = now - first >= KNOWN_AFTER and now - last < GONE_AFTER
        return visitor if is_known or not visitor.address else Visitor("", visitor.address)

    def count(self) -> int:
        now = self.clock()
        with self._lock:
            return sum(now - last < GONE_AFTER for _, last in self._times.values())


@app.part
def costs() -> Ledger:
    return Ledger()


@app.part
def present() -> Present:
    return Present(costs())


@app.part
def requests() -> Room:
    """Requests in progress: each holds a thread; a browser sends six at a time."""
    return Room("requests", 1500, 40)


@app.part
def files() -> Room:
    """Uploads in progress: each holds a connection."""
    return Room("files", 400, 20)


@app.part
def uploads() -> Room:
    """Received bytes of unfinished uploads; one upload at a time may exceed the limit."""
    return Room("uploads", 68 * MB)


@app.part
def decodes() -> Room:
    """Bytes of files that wait to be decoded."""
    return Room("decodes", 100 * MB, 70 * MB)


@app.part
def classes() -> Room:
    """Classes that guess together."""
    return Room("classes", 64)


@app.part
def answers() -> Room:
    """Bytes of private answers that are being sent."""
    return Room("answers", 150 * MB, 100 * MB)


PICTURE_BYTES = 256 * MB  # bytes of people's own decoded pictures; above it, the fullest network's are reduced
MOST_DOWNLOADS = 4  # models downloaded at a time; the visitors of one IP network may take all of these places but one
