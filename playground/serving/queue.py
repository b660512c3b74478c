"""Who computes next: whoever has cost least, by the ledger, and would still have with what they ask for now. What one
person asks is answered in the order of asking; what makes finer what somebody already sees comes after all who wait.

What takes long, by its estimate, has one place of its own, so that nobody's short question stands behind it.

`with queue.take(tell): …` blocks the calling thread until its turn. Meanwhile `tell` hears how many people come first;
when it raises, because its person has left, the place is given up.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Protocol

from playground.errors import Busy
from playground.serving import ledger, settings
from playground.serving.ledger import NOBODY, Visitor

SHORT = 0.3  # seconds that a question is thought to take where nobody says
LONG = 1.0  # seconds: above, it goes to the one place for what takes long
TELL_EVERY = 0.4  # seconds between two calls of `tell`; shorter waits are not told
FAR = 50  # with n times as many ahead, somebody is told n times less often: hundreds who look take a core
SLICE = 1.0  # seconds that long work goes on while others wait
MOST_LONG = 2  # pieces of long work that have begun: each keeps in memory what it has found
MOST, OF_KEY = 600, 12  # questions that wait in one queue: of all, and of one person
FEW, FRESH = 40, 0.1  # a longer line is ordered once in so many seconds: it takes milliseconds, and a flood a core
PAGES, PAGE = 2, 1.0  # pages drawn at once; one that takes more seconds goes on beside the next

CROWDED = "So many people wait that there is no place in the line: try again in a minute."


# Who asks, and hears how long they wait -------------------------------------------------------------------------------


class Left(Exception):
    """Nobody waits for this work any more."""


class Asker(Protocol):
    def visitor(self) -> Visitor: ...

    def stays(self) -> None:
        """Raises when the person has left the page."""

    def waits(self, ahead: int) -> None:
        """As `stays`, and tells that `ahead` others have to finish first; 0 ends the wait."""

    def hears(self, sentence: str) -> None:
        """A sentence for the person, such as: the graphics card is full."""


class Nobody:
    """Work that no page waits for: a warm-up, a test, training in the background."""

    def visitor(self) -> Visitor:
        return NOBODY

    def stays(self) -> None:
        pass

    def waits(self, ahead: int) -> None:
        self.stays()

    def hears(self, sentence: str) -> None:
        pass


find: Callable[[], Asker] = Nobody  # the page that the calling thread draws; ui/messages.py sets it when the app starts

_named: ContextVar[Asker | None] = ContextVar("named", default=None)
_draws: ContextVar[bool] = ContextVar("draws", default=False)  # this thread has a page's turn already


def current() -> Asker:
    return _named.get() or find()


@contextmanager
def working_for(asker: Asker) -> Iterator[None]:
    """For a thread in which no page runs."""
    token = _named.set(asker)
    try:
        yield
    finally:
        _named.reset(token)


# The line -------------------------------------------------------------------------------------------------------------


class Ticket:
    """A question that waits or is at work."""

    def __init__(self, visitor: Visitor = NOBODY, finer: bool = False, seconds: float = SHORT):
        self.visitor, self.finer, self.seconds = visitor, finer, seconds
        self.payer = visitor
        self.person: object = self  # the payer; an anonymous ticket is a person of its own
        self.turn = threading.Event()  # set when it is served, or sent away
        self.sent_away = False  # others come first, and too many wait
        self.began = 0.0

    @property
    def is_long(self) -> bool:
        return self.seconds > LONG


class Queue:
    """Serves `at_once` tickets at a time, of which one may be long; `extra_long` more long ones may run too. After
    `counts_for` seconds at work a ticket's place is free for the next, though it goes on, and no more is charged."""

    def __init__(
        self,
        at_once: int = 1,
        extra_long: int = 0,
        kind: str = "",
        charged: ledger.Ledger | None = None,
        capacity: int = MOST,
        of_key: float = OF_KEY,
        counts_for: float = math.inf,
    ):
        self.at_once, self.extra_long, self.counts_for = at_once, extra_long, counts_for
        self.capacity, self.of_key = capacity, of_key
        self.kind, self.costs = kind, charged or ledger.costs  # without a kind, what it takes is charged elsewhere
        self.line: list[Ticket] = []  # who waits, in the order of service
        self.at_work: list[Ticket] = []
        self._ordered = -math.inf  # when
        self._lock = threading.Lock()

    @contextmanager
    def take(
        self,
        tell: Callable[[int], None] | None = None,
        visitor: Visitor | None = None,
        finer: bool = False,
        seconds: float = SHORT,
    ) -> Iterator[None]:
        """Waits for a turn. `tell(n)` hears how many people come first: 0 where only own questions do, and once more at
        the end."""
        ticket = Ticket(current().visitor() if visitor is None else visitor, finer, seconds)
        self.join(ticket)
        ahead, was_told = 0, False
        try:
            while not ticket.turn.wait(TELL_EVERY * max(1, ahead / FAR)):
                ahead, people = self.ahead(ticket)
                if tell and not ticket.turn.is_set():
                    tell(people)
                    was_told = True
            if ticket.sent_away:
                raise Busy(CROWDED)
            if tell and was_told:
                tell(0)
            yield
        finally:
            self.leave(ticket)

    @property
    def waiting(self) -> int:
        return len(self.line)

    def join(self, ticket: Ticket) -> None:
        with self._lock:
            asked = (
                [other.seconds for other in self.line if other.visitor == ticket.visitor]
                if ticket.visitor.person
                else []
            )
            if len(asked) >= self.of_key:
                ledger.refused["questions"] += 1
                raise Busy(f"{OF_KEY} of your questions wait already: wait for an answer, then ask again.")
            ticket.payer = ledger.seats.account(ticket.visitor, sum(asked) + ticket.seconds)
            ticket.person = ticket.payer if ticket.payer != NOBODY else ticket
            self.line.append(ticket)
            self._goes_on()

    def leave(self, ticket: Ticket) -> None:
        with self._lock:
            if ticket in self.line:
                self.line.remove(ticket)
            elif ticket in self.at_work:
                self.at_work.remove(ticket)
                took = min(self.costs.clock() - ticket.began, self.counts_for) if self.kind else 0.0
                self.costs.charge(ticket.payer, took - ticket.seconds)
                self.costs.spent[self.kind] += took
            self._goes_on()

    def ahead(self, ticket: Ticket) -> tuple[int, int]:
        """How many tickets have to finish first, and of how many other people. Questions without a key, for what
        belongs to everybody, are of whoever else asks from that address: nobody who is alone is told to wait for a
        person."""
        with self._lock:
            self._goes_on()  # somebody at work may count no longer
            if ticket not in self.line:
                return 0, 0
            before = [other for other in self.line[: self.line.index(ticket)] if other.is_long == ticket.is_long]
            others = {
                other.person
                for other in (*self._counted(ticket.is_long), *before)
                if other.person != ticket.person
                and (
                    other.visitor.person or not other.visitor.address or other.visitor.address != ticket.visitor.address
                )
            }
            return 1 + len(before), min(len(others), 1 + len(before))

    def _goes_on(self) -> None:
        """Serves as many as there are places for."""
        if len(self.line) <= FEW or self.costs.clock() - self._ordered >= FRESH:
            self._order()
        while ready := self._next():
            self.line.remove(ready)
            self.at_work.append(ready)
            ready.began = self.costs.clock()
            self.costs.charge(ready.payer, ready.seconds)  # as it is thought to cost, until it is known
            ready.turn.set()

    def _next(self) -> Ticket | None:
        free = {is_long: self._free(is_long) > 0 for is_long in (False, True)}
        return next((ticket for ticket in self.line if free[ticket.is_long]), None)

    def _free(self, is_long: bool) -> int:
        """How many more long tickets, or short ones, may be at work."""
        at_work, all_at_work = len(self._counted(is_long)), len(self._counted(True)) + len(self._counted(False))
        return min((1 if is_long else self.at_once) - at_work, self.at_once + self.extra_long - all_at_work)

    def _counted(self, is_long: bool) -> list[Ticket]:
        """Who is at work and keeps others waiting."""
        since = self.costs.clock() - self.counts_for
        return [ticket for ticket in self.at_work if ticket.is_long == is_long and ticket.began > since]

    def _order(self) -> None:
        """By what each person will have cost once this question of theirs is answered, then by what their networks
        will: a household's questions from its many networks all count before one is served. Who comes last is sent
        away where too many wait."""
        self._ordered = self.costs.clock()
        cost: dict[object, float] = {}  # of each person and network, with all their questions before

        def with_this(name: object, seconds: float) -> float:
            if name not in cost:
                cost[name] = self.costs.cost(name)
            cost[name] += seconds
            return cost[name]

        self.line.sort(key=lambda ticket: ticket.finer)
        own = {ticket: with_this(ticket.person, ticket.seconds) for ticket in self.line}
        self.line.sort(key=lambda ticket: (ticket.finer, own[ticket]))
        dearest = {
            ticket: max(
                (with_this(name, ticket.seconds) / many for name, many in ledger.path(ticket.payer.address)),
                default=own[ticket],
            )
            for ticket in self.line
        }
        self.line.sort(key=lambda ticket: (ticket.finer, dearest[ticket]))
        for last in self.line[self.capacity :]:
            ledger.refused["questions"] += 1
            last.sent_away = True
            last.turn.set()
        del self.line[self.capacity :]


# The queues of this server, and how to take a turn in them ------------------------------------------------------------


@cache
def passes() -> Queue:
    """What computes for a page: forward passes, measurements of heads."""
    return Queue(settings.now().at_once, extra_long=1, kind="passes")


@cache
def figures() -> Queue:
    """matplotlib draws for one person at a time, and a wall of maps takes seconds."""
    return Queue(kind="figures", capacity=60)


@cache
def pages() -> Queue:
    return Queue(PAGES, kind="pages", of_key=math.inf, counts_for=PAGE)  # a browser may have many tabs


@cache
def decodings() -> Queue:
    return Queue(2, kind="decodings")


@cache
def _long() -> Queue:
    return Queue(MOST_LONG)


@cache
def _packings() -> Queue:
    return Queue(kind="packs")


def turn(finer: bool = False, seconds: float = SHORT) -> AbstractContextManager[None]:
    """Acquire before computing: `with queue.turn(): …`. Meanwhile the page shows how many come first."""
    return passes().take(current().waits, finer=finer, seconds=seconds)


@contextmanager
def page() -> Iterator[None]:
    """Take it before Streamlit draws a page, or a fragment of one; in a whole page's run a fragment has its turn."""
    if _draws.get():
        yield
        return
    token = _draws.set(True)
    try:
        with pages().take(current().waits):
            yield
    finally:
        _draws.reset(token)


def drawing() -> AbstractContextManager[None]:
    """Take it before matplotlib draws."""
    return figures().take(current().waits)


def packing() -> AbstractContextManager[None]:
    """Take it before packing numbers for a browser: a layer may take 20 MB, and a whole class asks at once."""
    return _packings().take(current().waits)


def decoding(seconds: float) -> AbstractContextManager[None]:
    """Take it before decoding a costly picture: 16 megapixels take 100 MB meanwhile, and a class drops thirty at once.
    Of two at a time one may be costly."""
    return decodings().take(current().waits, seconds=seconds)


@contextmanager
def turns(queue: Queue | None = None) -> Iterator[Callable[[], None]]:
    """Turns for long work that a page waits for: `with queue.turns() as give_way: …`. The work calls `give_way()`
    between its pieces: then those who wait come first, and the work ends if its asker has left."""
    asker, turn, begun = current(), ExitStack(), 0.0
    line, place = queue, nullcontext()
    if line is None:
        line, place = passes(), _long().take(asker.waits)

    def begin() -> None:
        nonlocal begun
        turn.close()
        turn.enter_context(line.take(asker.waits))
        begun = time.monotonic()

    def give_way() -> None:
        asker.stays()
        if time.monotonic() - begun >= SLICE and line.waiting:
            begin()

    with place, turn:
        begin()
        yield give_way
