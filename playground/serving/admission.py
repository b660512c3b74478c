"""Who may hold how much of the server: the one rule of admission, for everything that it can run out of.

Who asks is a network and a key (asker.Who). Keys are free to mint, so shares go by network, within it by key: of each
thing there is so much in all, so much for one network, so much for one key. The network that holds most waits or gives
way first. deploy/README.md shows the table.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playground.serving.asker import Who
from playground.serving.cache import MB
from playground.serving.lateness import Habits, Lag, Turns


@dataclass(frozen=True)
class Bound:
    everybody: float
    network: float  # behind which there may be a class of 300
    key: float = float("inf")


BOUNDS = {
    "connections": Bound(3000, 2000),  # over which anything comes; a proxy's are of no network
    "sockets": Bound(400, 360, 20),  # pages that are open; each is a session, and holds about a megabyte
    "turns": Bound(3000, 2000, 200),  # requests that wait for one, where the server is late; each has its connection
    "requests": Bound(600, 450, 40),  # in work: each holds a thread; a browser asks for six things at a time
    "questions": Bound(600, 400, 12),  # that wait for their turn in one queue
    "files": Bound(400, 360, 20),  # on their way: each holds its connection, and a little that is not counted yet
    "uploads": Bound(68 * MB, 50 * MB),  # what has come of them; one of them goes on to its end beyond that
    "decodes": Bound(100 * MB, 70 * MB),  # files as they came, until it is their turn
    "pictures": Bound(256 * MB, 256 * MB),  # people's own, decoded: the network with most of them gives way
    "answers": Bound(150 * MB, 100 * MB),  # sent, and not fetched yet
    "models": Bound(4, 3, 1),  # on their way to the server
}
refused: Counter[str] = Counter()  # how often each thing was, or was taken from somebody; the operator reads it


class Shares:
    """How much of one thing each network and each key holds."""

    def __init__(self, kind: str):
        self.kind = kind
        self.of_networks: Counter[str] = Counter()
        self.of_keys: Counter[tuple[str, str]] = Counter()
        self.held: float = 0  # by all
        self._lock = threading.Lock()

    def trouble(self, who: Who, cost: float = 1) -> str:
        """Who has too much for so much more: "everybody", "network", "key", or "" where there is room."""
        bound = BOUNDS[self.kind]
        if who.person and self.of_keys[who.address, who.person] + cost > bound.key:
            return "key"
        if who.address and self.of_networks[who.address] + cost > bound.network:
            return "network"
        return "everybody" if self.held + cost > bound.everybody else ""

    def take(self, who: Who, cost: float = 1) -> str:
        """As `trouble`; where there is none, they hold it from now on."""
        with self._lock:
            if trouble := self.trouble(who, cost):
                refused[self.kind] += 1
            else:
                self._add(who, cost)
            return trouble

    def take_beyond(self, who: Who, cost: float) -> None:
        """Where there may be no room for it."""
        with self._lock:
            self._add(who, cost)

    def give_back(self, who: Who, cost: float = 1) -> None:
        with self._lock:
            self._add(who, -cost)

    def _add(self, who: Who, cost: float) -> None:
        self.held += cost
        for counter, one in ((self.of_networks, who.address), (self.of_keys, (who.address, who.person))):
            counter[one] += cost
            if not counter[one]:
                del counter[one]

    @contextmanager
    def holding(self, who: Who, cost: float = 1) -> Iterator[str]:
        """Gives the trouble, if there is one; else they hold it meanwhile."""
        trouble = self.take(who, cost)
        try:
            yield trouble
        finally:
            if not trouble:
                self.give_back(who, cost)


def greediest(held: Counter[str]) -> str:
    return max(held, key=held.__getitem__)


# Sockets --------------------------------------------------------------------------------------------------------------

IDLE = 60.0  # seconds since a person asked for anything: then another one may have the place, where all are taken
NEW = 10.0  # seconds until an open socket has asked for its page, and its browser for anything with its key


@dataclass(eq=False)
class Place:
    """An open socket: one page in one browser."""

    network: str
    end: Callable[[], object]
    asked: float  # the latest time
    opened: float
    session: str = ""
    key: str = ""  # as soon as the browser has sent it
    asked_for_page: bool = False
    over: bool = False

    def is_idle(self, now: float) -> bool:
        return now - self.asked > (IDLE if self.key else NEW)


class Places:
    """All open sockets. Where all are taken, an idle one gives way: first one without a key, which is no browser's,
    then one of the network that has most. From people who listen nobody of their own network takes a place, nor of one
    that has more: a hall is not thrown out by itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self.open: dict[Place, None] = {}  # in the order in which they came

    def enter(self, network: str, end: Callable[[], object]) -> Place | None:
        if not self.has_room(network):
            refused["sockets"] += 1
            return None
        if self._is_full(network):
            self.close(self._idle(network))
        now = self.clock()
        place = Place(network, end, now, now)
        self.open[place] = None
        return place

    def has_room(self, network: str) -> bool:
        return not self._is_full(network) or self._idle(network) is not None

    def leave(self, place: Place) -> None:
        self.open.pop(place, None)

    def close(self, place: Place) -> None:
        """From here; its browser may try again."""
        refused["sockets"] += 1
        place.over = True
        self.leave(place)
        place.end()

    def asks(self, session: str, key: str) -> None:
        """A browser asked for something, and says which of the open pages it is."""
        for place in list(self.open):  # a page's thread may ask
            if session and place.session == session:
                place.key, place.asked = key or place.key, self.clock()
                return self._bound_of_key(place)

    def _bound_of_key(self, place: Place) -> None:
        mine = place.network, place.key
        same = [other for other in list(self.open) if (other.network, other.key) == mine]
        if place.key and len(same) > BOUNDS["sockets"].key:
            self.close(min(same, key=lambda other: other.asked))

    def network_of(self, session: str) -> str | None:
        """Of the open page with this session; None until it has told the session, and after it has left."""
        return next((place.network for place in list(self.open) if session and place.session == session), None)

    def is_open_for(self, who: Who) -> bool:
        """Whether they have a page open; a page's own run is named by its session until there is a key."""
        return any(who.person in (place.key, place.session) for place in list(self.open) if who.person)

    def people(self) -> int:
        """Tabs of one browser are one person."""
        return len({(place.network, place.key or place) for place in list(self.open)})

    def _is_full(self, network: str) -> bool:
        bound = BOUNDS["sockets"]
        return len(self.open) >= bound.everybody or self._held()[network] >= bound.network

    def _held(self) -> Counter[str]:
        return Counter(place.network for place in self.open)

    def _idle(self, network: str) -> Place | None:
        """The socket that gives way to one more of this network."""
        now, held = self.clock(), self._held()
        own_only = held[network] >= BOUNDS["sockets"].network
        idle = [
            place
            for place in self.open
            if place.is_idle(now)
            and (place.network == network or not own_only)
            and (not place.key or held[place.network] > held[network])
        ]
        return min(idle, key=lambda place: (bool(place.key), -held[place.network], place.asked), default=None)


# Where the server is late -------------------------------------------------------------------------------------------

RUNS_AT_ONCE, RUN_SECONDS = 2, 1.0  # of pages
ANSWERS_AT_ONCE, ANSWER_SECONDS = 4, 0.05  # requests
A_REQUEST = 0.01  # of a page's run: one takes a millisecond of a core, a run a tenth of a second or more

sockets, lag, habits = Places(), Lag(), Habits()
runs = Turns(lag, habits, RUNS_AT_ONCE, RUN_SECONDS, cost=1.0)
answers = Turns(lag, habits, ANSWERS_AT_ONCE, ANSWER_SECONDS, cost=A_REQUEST)
turns, requests, decodes = Shares("turns"), Shares("requests"), Shares("decodes")
files, uploads = Shares("files"), Shares("uploads")
