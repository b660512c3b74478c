"""Decides who computes next: the person whose cost in the ledger, plus that of the waiting question, is lowest. The
questions of one person are answered in order. What no picture waits for comes `last`.

Questions that are estimated to take long have a place of their own, so that no short question waits for a long one.

`with queue.take(): …` blocks the calling thread until its turn. If the person for whom the thread works leaves, the
place in the line is given up.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar

from playground.errors import Busy
from playground.serving import app, ledger, settings
from playground.serving.ledger import NOBODY, Visitor

DEFAULT_SECONDS = 0.3  # seconds assumed for a question without an estimate
LONG_SECONDS = 1.0  # seconds above which a question counts as long
LOOK_EVERY = 0.4  # seconds between two looks whether the person who waits has left
SLICE_SECONDS = 1.0  # seconds after which long work lets other people's work come in between
MOST_LONG = 2  # most pieces of long work at once: each keeps its results in memory
MOST_WAITING, MOST_OF_KEY = 600, 12  # most waiting questions in one queue: of all people, and of one person
# A line of more than SHORT_LINE tickets is sorted only every SORT_EVERY seconds: sorting would take a core in a flood.
SHORT_LINE, SORT_EVERY = 40, 0.1

CROWDED = "So many people wait that there is no place in the line: try again in a minute."


# People who ask -------------------------------------------------------------------------------------------------------


class Left(Exception):
    """Raised when nobody waits for this work any more."""


class Asker:
    """Who waits for a piece of work. Nobody waits for a warm-up or a test."""

    def __init__(self, visitor: Visitor = NOBODY):
        self.visitor = visitor
        self.has_left = False  # whether the person has left the page
        self.sentences: list[str] = []  # what the person is told, such as that the graphics card is full

    def raise_if_left(self) -> None:
        if self.has_left:
            raise Left


_asker: ContextVar[Asker | None] = ContextVar("asker", default=None)


def current() -> Asker:
    return _asker.get() or Asker()


@contextmanager
def working_for(asker: Asker) -> Iterator[None]:
    """Makes the calling thread work for this asker during the `with` block."""
    token = _asker.set(asker)
    try:
        yield
    finally:
        _asker.reset(token)


# The line -------------------------------------------------------------------------------------------------------------


class Ticket:
    """A question that waits or is at work."""

    def __init__(self, visitor: Visitor = NOBODY, last: bool = False, seconds: float = DEFAULT_SECONDS):
        self.visitor, self.last, self.seconds = visitor, last, seconds
        self.payer = visitor
        self.person: object = self  # the payer; a ticket without a payer counts as a person of its own
        self.turn = threading.Event()  # set when the ticket is served or sent away
        self.sent_away = False  # whether the ticket was refused because too many wait
        self.began_at = 0.0

    @property
    def is_long(self) -> bool:
        return self.seconds > LONG_SECONDS


class Queue:
    """Serves up to `at_once` short tickets and one long ticket at a time, and at most `at_once + extra_long` of
    both."""

    def __init__(
        self,
        at_once: int = 1,
        extra_long: int = 0,
        kind: str = "",
        costs: ledger.Ledger | None = None,
        capacity: int = MOST_WAITING,
    ):
        self.at_once, self.extra_long, self.capacity = at_once, extra_long, capacity
        self.kind, self.costs = kind, costs or ledger.costs()  # without a kind, `leave` charges no time
        self.line: list[Ticket] = []  # the waiting tickets, in the order of service
        self.at_work: list[Ticket] = []
        self._sorted_at = -math.inf  # the time at which `line` was last sorted
        self._lock = threading.Lock()

    @contextmanager
    def take(
        self, visitor: Visitor | None = None, last: bool = False, seconds: float = DEFAULT_SECONDS
    ) -> Iterator[None]:
        """Waits for a turn of the person for whom this thread works, or of `visitor`."""
        asker = current()
        ticket = Ticket(asker.visitor if visitor is None else visitor, last, seconds)
        self.join(ticket)
        try:
            while not ticket.turn.wait(LOOK_EVERY):
                asker.raise_if_left()
            if ticket.sent_away:
                raise Busy(CROWDED)
            yield
        finally:
            self.leave(ticket)

    @property
    def waiting_count(self) -> int:
        return len(self.line)

    def join(self, ticket: Ticket) -> None:
        with self._lock:
            waiting_seconds = (
                [other.seconds for other in self.line if other.visitor == ticket.visitor]
                if ticket.visitor.person
                else []
            )
            if len(waiting_seconds) >= MOST_OF_KEY:
                ledger.refusals()["questions"] += 1
                raise Busy(f"{MOST_OF_KEY} of your questions wait already: wait for an answer, then ask again.")
            ticket.payer = ledger.present().account(ticket.visitor, sum(waiting_seconds) + ticket.seconds)
            ticket.person = ticket.payer if ticket.payer != NOBODY else ticket
            self.line.append(ticket)
            self._serve_next()

    def leave(self, ticket: Ticket) -> None:
        with self._lock:
            if ticket in self.line:
                self.line.remove(ticket)
            elif ticket in self.at_work:
                self.at_work.remove(ticket)
                seconds_taken = self.costs.clock() - ticket.began_at if self.kind else 0.0
                self.costs.charge(ticket.payer, seconds_taken - ticket.seconds)
                self.costs.spent[self.kind] += seconds_taken
            self._serve_next()

    def _serve_next(self) -> None:
        """Serves tickets while there are free places."""
        if len(self.line) <= SHORT_LINE or self.costs.clock() - self._sorted_at >= SORT_EVERY:
            self._order()
        while ticket := self._next():
            self.line.remove(ticket)
            self.at_work.append(ticket)
            ticket.began_at = self.costs.clock()
            self.costs.charge(ticket.payer, ticket.seconds)  # the estimate, until the cost is known
            ticket.turn.set()

    def _next(self) -> Ticket | None:
        long_count = sum(ticket.is_long for ticket in self.at_work)
        has_any = len(self.at_work) < self.at_once + self.extra_long
        has_place = {True: has_any and not long_count, False: has_any and len(self.at_work) - long_count < self.at_once}
        return next((ticket for ticket in self.line if has_place[ticket.is_long]), None)

    def _order(self) -> None:
        """Sorts the line by the cost of each ticket's person, including this question, then by the costs of the
        networks, in which all questions of a household count together. Sends the last tickets away if too many wait."""
        self._sorted_at = self.costs.clock()
        cost: dict[object, float] = {}  # person or network -> cost, including all questions counted so far

        def add_cost(name: object, seconds: float) -> float:
            if name not in cost:
                cost[name] = self.costs.cost(name)
            cost[name] += seconds
            return cost[name]

        self.line.sort(key=lambda ticket: ticket.last)
        own_cost = {ticket: add_cost(ticket.person, ticket.seconds) for ticket in self.line}
        self.line.sort(key=lambda ticket: (ticket.last, own_cost[ticket]))
        cost_of_ticket = {
            ticket: max(
                (
                    add_cost(name, ticket.seconds) / households
                    for name, households in ledger.networks_of(ticket.payer.address)
                ),
                default=own_cost[ticket],
            )
            for ticket in self.line
        }
        self.line.sort(key=lambda ticket: (ticket.last, cost_of_ticket[ticket]))
        for surplus_ticket in self.line[self.capacity :]:
            ledger.refusals()["questions"] += 1
            surplus_ticket.sent_away = True
            surplus_ticket.turn.set()
        del self.line[self.capacity :]


# The queues of this server --------------------------------------------------------------------------------------------


@app.part
def passes() -> Queue:
    """The queue for computations of a page: forward passes, measurements of heads."""
    return Queue(settings.now().at_once, extra_long=1, kind="passes")


@app.part
def figures() -> Queue:
    """The queue for figures: matplotlib draws one at a time, and a figure of many maps takes seconds."""
    return Queue(kind="figures", capacity=60)


@app.part
def decodings() -> Queue:
    """The queue for decoding. Two pictures are decoded at a time, only one of them costly: 16 megapixels take 100 MB,
    and a class uploads thirty pictures at once."""
    return Queue(2, kind="decodings")


@app.part
def _long_queue() -> Queue:
    return Queue(MOST_LONG)


@app.part
def packings() -> Queue:
    """The queue for packing numbers for a browser: a layer may take 20 MB, and a whole class asks at once."""
    return Queue(kind="packs")


def turn(last: bool = False, seconds: float = DEFAULT_SECONDS) -> AbstractContextManager[None]:
    """A turn to compute: `with queue.turn(): …`."""
    return passes().take(last=last, seconds=seconds)


@contextmanager
def turns() -> Iterator[Callable[[], None]]:
    """Turns for long work that a page waits for: `with queue.turns() as give_way: …`. Between its pieces the work calls
    `give_way()`, which lets other people's work run, and raises if the asker has left."""
    asker, turn, slice_start = current(), ExitStack(), 0.0

    def begin() -> None:
        nonlocal slice_start
        turn.close()
        turn.enter_context(passes().take())
        slice_start = time.monotonic()

    def give_way() -> None:
        asker.raise_if_left()
        if time.monotonic() - slice_start >= SLICE_SECONDS and passes().waiting_count:
            begin()

    with _long_queue().take(), turn:
        begin()
        yield give_way
