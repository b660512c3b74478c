"""What each network has cost this server lately, in seconds of a processor: the one rule of who comes next, who waits,
and who gives way.

A person is a network: keys and addresses are free to mint, networks are not. What somebody costs is charged to their
network and to the wider ones around it, which may cost more before all in them pay for it; half of it is forgotten
every two minutes. Within one network people are told apart by the keys of browsers that have a page open.

Who has cost least comes next. What runs out (seats, bytes in memory) is shared by one rule too: see `Room`.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from ipaddress import IPv6Network, ip_address, ip_network
from typing import NamedTuple

MB = 2**20
HALF = 120.0  # seconds, in which half of a cost is forgotten
REQUEST = 0.002  # seconds that a request costs beside what it computes
BYTE = 0.05 / MB  # seconds, sent or brought
SEAT = 0.1 / 60  # seconds, for each second of a page that is open
MOST_KNOWN = 50_000  # networks and people; who cost least is forgotten first

# How many households' worth a network may cost before all of it pays: length of the prefix -> households
OLD = {32: 1, 24: 8, 16: 64}
NEW = {64: 1, 56: 1, 48: 1, 32: 64}  # a home has a /56 or a /64, and anybody may have a /48; a provider a /32
CLASS = 50  # a class, and all classes together: whoever starts many gains nothing
OF_PHONE, OF_CLASS = 5.0, 100.0  # seconds, lately: what they cost beyond these is charged to somebody else
START = 5.0  # seconds that starting a class costs who starts it

Path = tuple[tuple[str, int], ...]  # (network, households), the narrowest first


class Visitor(NamedTuple):
    """Who asks; empty where nobody does."""

    person: str = ""  # a key, the same in all tabs of a browser
    address: str = ""  # the network's address, which many people may share: see `network`


NOBODY = Visitor()

refused: Counter[str] = Counter()  # how often there was no room, by what for: /metrics tells the operator


def network(address: str | None) -> str:
    """The key of an address's network: for IPv6 its first half, since one household owns billions of addresses."""
    if not address or ":" not in address:
        return address or ""
    try:
        parts = ip_address(address)
    except ValueError:
        return address
    if parts.ipv4_mapped:
        return str(parts.ipv4_mapped)
    return str(IPv6Network((int(parts), 64), strict=False))


@lru_cache(10_000)
def path(address: str) -> Path:
    """The networks of an address, from the narrowest to the widest. A login is a network of its own, and so is a
    class."""
    try:
        parts = ip_network(address, strict=False)
    except ValueError:
        if address.startswith("class "):
            return (address, CLASS), ("classes", CLASS)
        return ((address, 1),) if address else ()
    prefixes = OLD if parts.version == 4 else NEW
    return tuple(
        (str(ip_network((parts.network_address, length), strict=False)), prefixes[length]) for length in prefixes
    )


class Ledger:
    """Costs are kept as if the past had not shrunk but the present grown: then their order needs no clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self.spent: Counter[str] = Counter()  # seconds by kind of work; the operator reads them
        self.phones: dict[str, tuple[str, Visitor]] = {}  # by key: the class that it is in, and who started that
        self._grown: dict[object, float] = {}
        self._began = clock()
        self._lock = threading.Lock()

    def charge(self, visitor: Visitor, seconds: float, kind: str = "") -> None:
        """Less than nothing corrects an estimate."""
        if kind:
            self.spent[kind] += seconds
        if visitor == NOBODY:
            return
        with self._lock:
            grown = seconds * self._growth()
            for name in (*(network for network, _ in path(visitor.address)), visitor):
                self._grown[name] = max(0.0, self._grown.get(name, 0.0) + grown)
            if len(self._grown) > MOST_KNOWN:
                most = sorted(self._grown, key=self._grown.__getitem__)[MOST_KNOWN // 2 :]
                self._grown = {name: self._grown[name] for name in most}

    def cost(self, name: object) -> float:
        """Seconds that a network, or a person in it (a Who), has cost lately."""
        with self._lock:
            growth = self._growth()  # before what has grown: it may begin anew
            return self._grown.get(name, 0.0) / growth

    def payer(self, visitor: Visitor, asks: float = 0.0) -> Visitor:
        """A phone's class pays for it. A phone that costs more than its part, with the seconds that it asks for, pays
        itself: one that is hostile costs its class nothing. And where all phones together cost too much, whoever
        started the class pays."""
        if visitor.person not in self.phones:
            return visitor
        name, starter = self.phones[visitor.person]
        phone = Visitor(visitor.person, name)
        if self.cost(phone) + asks > OF_PHONE:
            return visitor
        return phone if self.cost(name) <= OF_CLASS else starter

    def _growth(self) -> float:
        halves = (self.clock() - self._began) / HALF
        if halves > 500:  # a float ends at 2 ** 1023
            self._began += halves * HALF
            self._grown = {name: shrunk for name, grown in self._grown.items() if (shrunk := grown * 2**-halves) > 1e-6}
            return 1.0
        return 2.0**halves


# Where something runs out ---------------------------------------------------------------------------------------------

REACH = 3  # times what is free yet: so much one network may hold. Alone it gets three quarters of all
KEPT = 0.1  # of everything, for networks that hold nothing yet


class Holdings:
    """How much of one thing each network holds."""

    def __init__(self) -> None:
        self.by_address: Counter[str] = Counter()
        self._by_network: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, address: str, amount: float) -> None:
        with self._lock:
            add(self.by_address, address, amount)
            for name, _ in path(address):
                add(self._by_network, name, amount)

    def above(self, address: str) -> tuple[float, float]:
        """What its fullest network holds per household, then what the address holds itself."""
        fullest = max([self._by_network[name] / households for name, households in path(address)], default=0.0)
        return fullest, self.by_address[address]

    def furthest(self) -> str:
        """The address whose networks exceed their share most."""
        return max(list(self.by_address), key=self.above, default="")


def add(counter: Counter, name: Hashable, amount: float) -> None:
    """What is back at nothing takes no room."""
    counter[name] += amount
    if not counter[name]:
        del counter[name]


class Room:
    """So much of one thing. Nobody may hold more than REACH times what is still free: a network alone gets three
    quarters, two get three sevenths each. The last of it is for networks that hold nothing yet."""

    def __init__(self, kind: str, capacity: float, of_key: float = math.inf):
        self.kind, self.capacity, self.of_key = kind, capacity, of_key
        self.taken = 0.0
        self.by, self._of_key = Holdings(), Counter[Visitor]()
        self._lock = threading.Lock()

    def trouble(self, visitor: Visitor, count: float = 1) -> str:
        """Who has too much for so much more: "everybody", "network", "key", or "" where there is room."""
        free, own = self.capacity - self.taken, self.by.above(visitor.address)[0]
        if visitor.person and self._of_key[visitor] and self._of_key[visitor] + count > self.of_key:
            return "key"
        if count > free - (KEPT * self.capacity if own else 0):
            return "everybody"
        return "network" if own and own + count > REACH * free else ""

    def take(self, visitor: Visitor, count: float = 1) -> str:
        """As `trouble`; where there is none, they hold it from now on."""
        with self._lock:
            if trouble := self.trouble(visitor, count):
                refused[self.kind] += 1
            else:
                self._add(visitor, count)
            return trouble

    def take_beyond(self, visitor: Visitor, count: float) -> None:
        """Where there may be no room for it."""
        with self._lock:
            self._add(visitor, count)

    def give_back(self, visitor: Visitor, count: float = 1) -> None:
        with self._lock:
            self._add(visitor, -count)

    def _add(self, visitor: Visitor, count: float) -> None:
        self.taken += count
        self.by.add(visitor.address, count)
        add(self._of_key, visitor, count)

    @contextmanager
    def holding(self, visitor: Visitor, count: float = 1) -> Iterator[str]:
        """Gives the trouble, if there is one; else they hold it meanwhile."""
        trouble = self.take(visitor, count)
        try:
            yield trouble
        finally:
            if not trouble:
                self.give_back(visitor, count)


# Seats ----------------------------------------------------------------------------------------------------------------

SEATS = 400  # pages that are open: each is a session, and holds about a megabyte
OF_BROWSER = 20  # of them
IDLE = 60.0  # seconds since a person did something: then another of their own network may have the seat
NEW_PAGE = 10.0  # seconds until an open socket has asked for its page


class Seat:
    """An open socket: one page in one browser."""

    def __init__(self, address: str, end: Callable[[], object], now: float):
        self.address, self.end = address, end
        self.counted_for = address  # or the class that its phone is in
        self.used_at = now  # when a person last did something there; heartbeats and timed redraws don't count
        self.session = self.key = ""
        self.asked_for_page = self.closed = False

    def visitor(self) -> Visitor:
        return Visitor(self.key, self.address)


class Seats:
    """Where all are taken, the network furthest above its share gives one, whether or not it is in use: first a page
    without a key, which is no browser's, then the one where nobody did anything for longest. A network that has most
    itself changes only its own idle pages: a hall is not thrown out by itself."""

    def __init__(self, costs: Ledger, capacity: int = SEATS):
        self.costs, self.clock, self.capacity = costs, costs.clock, capacity
        self.open: dict[Seat, None] = {}  # in the order in which they came
        self._charged = self.clock()
        self._by = Holdings()
        self._lock = threading.Lock()  # a page's thread may close one, too

    def enter(self, address: str, end: Callable[[], object]) -> Seat | None:
        if len(self.open) >= self.capacity:
            victim = self._gives_way(address)
            if victim is None:
                refused["seats"] += 1
                return None
            self.close(victim)
        seat = Seat(address, end, self.clock())
        with self._lock:
            self.open[seat] = None
            self._by.add(seat.counted_for, 1)
        return seat

    def has_room(self, address: str) -> bool:
        return len(self.open) < self.capacity or self._gives_way(address) is not None

    def leave(self, seat: Seat) -> None:
        with self._lock:
            if self.open.pop(seat, self) is None:
                self._by.add(seat.counted_for, -1)

    def close(self, seat: Seat) -> None:
        """From here; its browser may try again."""
        if seat.closed:
            return
        refused["seats"] += 1
        seat.closed = True
        self.leave(seat)
        seat.end()

    def asks(self, session: str, key: str, person: bool = True) -> None:
        """A browser asked for something, and says which of the open pages it is. `person`: and somebody is there."""
        for seat in list(self.open):  # a page's thread may ask
            if session and seat.session == session:
                if person:
                    seat.used_at = self.clock()
                if key in ("", seat.key):
                    return
                seat.key = key
                visitor = seat.visitor()
                same = [open_seat for open_seat in list(self.open) if open_seat.key and open_seat.visitor() == visitor]
                if len(same) > OF_BROWSER:
                    self.close(min(same, key=lambda open_seat: open_seat.used_at))
                return

    def charge(self) -> None:
        """For the time since the last call."""
        now = self.clock()
        for seat in list(self.open):
            self.costs.charge(self.costs.payer(seat.visitor()), SEAT * (now - self._charged), "seats")
        self._charged = now

    def address_of(self, session: str) -> str | None:
        """Of the open page with this session; None until it has told the session, and after it has left."""
        return next((seat.address for seat in list(self.open) if session and seat.session == session), None)

    def account(self, visitor: Visitor, asks: float = 0.0) -> Visitor:
        """Who pays: a class, a key that has a page open, or else all of a network who have none, together."""
        if visitor.person in self.costs.phones:
            return self.costs.payer(visitor, asks)
        key = visitor.person
        has_page = any(key in (seat.key, seat.session) for seat in list(self.open)) if key else False
        return visitor if has_page or not visitor.address else Visitor("", visitor.address)

    def people(self) -> int:
        """Tabs of one browser are one person."""
        return len({(seat.address, seat.key or seat) for seat in list(self.open)})

    def _gives_way(self, address: str) -> Seat | None:
        """The seat that one more of this address gets."""
        with self._lock:
            for seat in self.open:  # a phone may have joined a class, or left it
                if (counted := self.costs.phones.get(seat.key, (seat.address,))[0]) != seat.counted_for:
                    self._by.add(seat.counted_for, -1)
                    self._by.add(counted, 1)
                    seat.counted_for = counted
        self._by.add(address, 1)
        most = self._by.furthest()
        is_own = self._by.above(most) == self._by.above(address)
        self._by.add(address, -1)
        now = self.clock()
        if is_own:
            candidates = [seat for seat in list(self.open) if seat.address == address and now - seat.used_at > IDLE]
        else:
            candidates = [seat for seat in list(self.open) if seat.counted_for == most]
        return min(candidates, key=lambda seat: (bool(seat.key), seat.used_at), default=None)


costs = Ledger()
seats = Seats(costs)
requests = Room("requests", 1500, 40)  # in work: each holds a thread; a browser asks for six things at a time
files = Room("files", 400, 20)  # on their way: each holds its connection
uploads = Room("uploads", 68 * MB)  # what has come of them; one of them goes on to its end beyond that
decodes = Room("decodes", 100 * MB, 70 * MB)  # files as they came, until it is their turn
answers = Room("answers", 150 * MB, 100 * MB)  # private ones that are being fetched
PICTURES = 256 * MB  # people's own, decoded: the network with most of them gives way
MODELS = 4  # downloads to the server at a time; of one network at most one less
