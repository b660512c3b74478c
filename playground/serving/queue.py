"""Who computes next: whoever has cost least, by the ledger, and would still have with what they ask for now. What one
person asks is answered in the order of asking; what makes finer what somebody already sees comes after all who wait.

What takes long, by its estimate, has one place of its own, so that nobody's short question stands behind it.

There are two ways to wait. `with queue.take(tell): …` blocks the calling thread, such as a page's. `queue.run(work)`
returns a ticket at once and does the work in a thread of its own, while the page polls the ticket. People who leave
lose their place: `tell` may raise, and a ticket that isn't polled for a while is dropped.
"""

from __future__ import annotations

import math
import threading
import time
from bisect import insort
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache

from playground.errors import Busy
from playground.serving import asker, ledger, settings

SHORT = 0.3  # seconds that a question is thought to take where nobody says
LONG = 1.0  # seconds: above, it goes to the one place for what takes long
TELL_EVERY = 0.4  # seconds between two calls of `tell`; shorter waits are not told
FAR = 50  # with n times as many ahead, somebody looks n times less often: hundreds of looks at the line take a core
PATIENCE = 12.0  # seconds; a page looks at its ticket every second, but a busy server or a hidden tab makes it late
SLICE = 1.0  # seconds that long work goes on while others wait
MOST_LONG = 2  # pieces of long work that have begun: each keeps in memory what it has found
MOST, OF_KEY = 600, 12  # questions that wait in one queue: of all, and of one person
FEW, FRESH = 40, 0.1  # a line of more is ordered so many seconds apart: each time takes milliseconds, a flood a core

WAITING, SERVED, OVER = "waiting", "served", "over"
CROWDED = "So many people wait that there is no place in the line: try again in a minute."


class Ticket:
    """A place in the queue. With `patience`, it is dropped if it isn't polled for that many seconds."""

    def __init__(
        self, patience: float | None = None, who: asker.Who = asker.NOBODY, finer: bool = False, seconds: float = SHORT
    ):
        self.state = WAITING
        self.sent_away = False  # others come first, and too many wait
        self.who, self.finer, self.seconds = who, finer, seconds
        self.payer: asker.Who = who
        self.person: Hashable = self  # an anonymous ticket counts as a person of its own
        self.networks: tuple[tuple[Hashable, int], ...] = ()  # of the payer, as ledger.path gives them
        self.trouble: Exception | None = None  # the exception that ended the work
        self.began = 0.0
        self.own = self.place = False, 0.0  # rank within their network, and in the line; the lowest is first
        self._patience = patience
        self._looked = time.monotonic()
        self._stop = threading.Event()
        self.turn = threading.Event()  # set when it may have come
        self.hears_again = TELL_EVERY

    @property
    def is_long(self) -> bool:
        return self.seconds > LONG

    def stop(self) -> None:
        """Gives up the place. Work that has begun ends when it next calls `stopped`."""
        self._stop.set()
        self.turn.set()

    def stopped(self) -> bool:
        deserted = self._patience is not None and time.monotonic() - self._looked > self._patience
        return deserted or self._stop.is_set()

    def look(self) -> None:
        """Notes that somebody still waits for it."""
        self._looked = time.monotonic()


class Queue:
    """Runs `at_once` tickets at a time, of which one may be long; `beside` more long ones may run besides."""

    def __init__(
        self,
        at_once: int = 1,
        patience: float = PATIENCE,
        beside: int = 0,
        kind: str = "",
        charged: ledger.Ledger = ledger.costs,
        most: int = MOST,
    ):
        self.at_once, self.beside, self.patience = at_once, beside, patience
        self.kind, self.costs = kind, charged  # without a kind, what it takes is charged elsewhere
        self.most = most
        self._line: list[Ticket] = []  # in the order of service; a ticket stays until its work is done
        self._ordered = -math.inf  # when
        self._would_cost: dict[Hashable, float] = {}  # each network, after all that it asks for
        self._lock = threading.Lock()

    @contextmanager
    def take(
        self,
        tell: Callable[[int], None] | None = None,
        who: asker.Who | None = None,
        finer: bool = False,
        seconds: float = SHORT,
    ) -> Iterator[None]:
        """Waits for a turn. `tell(n)` gets the number of people who come first (0: only this person's own questions),
        and 0 when the wait is over. If it raises, the place is given up."""
        ticket = Ticket(who=asker.current().who() if who is None else who, finer=finer, seconds=seconds)
        was_told = False
        self._join(ticket)
        try:
            while self._wait(ticket) or ticket.sent_away:
                if ticket.sent_away:
                    raise Busy(CROWDED)
                if tell:
                    tell(self._people(ticket))
                    was_told = True
            if was_told:
                tell(0)
            yield
        finally:
            self._leave(ticket)

    def run(self, work: Callable[[Ticket], None]) -> Ticket:
        """Runs `work(ticket)` in a thread when it is its turn; it should end soon after `ticket.stopped()` is true."""
        ticket = Ticket(self.patience, asker.current().who())
        self._join(ticket)
        threading.Thread(target=self._serve, args=(ticket, work), name="queue", daemon=True).start()
        return ticket

    @property
    def waiting(self) -> int:
        """How many tickets wait."""
        with self._lock:
            return len(self._waiting())

    def before(self, ticket: Ticket) -> int:
        """How many have to finish before this ticket is served. Calling it also notes that somebody still waits."""
        ticket.look()
        with self._lock:
            return self._ahead_of(ticket)

    def _serve(self, ticket: Ticket, work: Callable[[Ticket], None]) -> None:
        try:
            while ticket.state == WAITING and not ticket.stopped():
                self._wait(ticket)
            if ticket.sent_away:
                raise Busy(CROWDED)
            if ticket.state == SERVED:
                work(ticket)
        except Exception as error:  # the ticket carries the error; the queue must go on
            ticket.trouble = error
        finally:
            self._leave(ticket)

    def _join(self, ticket: Ticket) -> None:
        """Where too many wait, drops the last in line, so that whoever has cost least always finds a place."""
        with self._lock:
            waiting = self._waiting()
            seconds = [other.seconds for other in waiting if other.who == ticket.who] if ticket.who.person else []
            ticket.payer = ledger.seats.account(ticket.who, sum(seconds) + ticket.seconds)
            ticket.person = ticket.payer if ticket.payer != asker.NOBODY else ticket
            ticket.networks = ledger.path(ticket.payer.address) or ((ticket.person, 1),)
            if len(seconds) >= OF_KEY:
                ledger.refused["questions"] += 1
                raise Busy(f"{OF_KEY} of your questions wait already: wait for an answer, then ask again.")
            too_many = len(waiting) >= self.most
            self._enter(ticket, waiting, too_many)
            if too_many:
                ledger.refused["questions"] += 1
                last = next(ahead for ahead in reversed(self._line) if ahead.state == WAITING and not ahead.stopped())
                last.sent_away = True
                last.stop()
            self._wake()
        if ticket.sent_away:
            self._leave(ticket)
            raise Busy(CROWDED)

    def _waiting(self) -> list[Ticket]:
        return [ticket for ticket in self._line if ticket.state == WAITING and not ticket.stopped()]

    def _enter(self, ticket: Ticket, waiting: list[Ticket], too_many: bool) -> None:
        """In a long line a new ticket stands behind all tickets of its networks until the line is sorted; but nobody is
        sent away while one of those has cost more."""
        waiting_seconds = sum(other.seconds for other in waiting if other.person == ticket.person)
        ticket.own = ticket.finer, self.costs.cost(ticket.payer) + waiting_seconds + ticket.seconds
        names = {name for name, _ in ticket.networks}
        is_first = too_many and any(
            ticket.own < other.own and any(name in names for name, _ in other.networks) for other in waiting
        )
        if is_first or len(self._line) < FEW or self._is_stale():
            self._line.append(ticket)
            return self._order()
        self._place(ticket)
        insort(self._line, ticket, key=lambda other: other.place)

    def _place(self, ticket: Ticket) -> None:
        """Inserts a ticket behind those of the same networks that are already in line."""
        share = 0.0
        for name, households in ticket.networks:
            if name not in self._would_cost:
                self._would_cost[name] = self.costs.cost(name)
            self._would_cost[name] += ticket.seconds
            share = max(share, self._would_cost[name] / households)
        ticket.place = ticket.finer, share

    def _is_stale(self) -> bool:
        return self.costs.clock() - self._ordered >= FRESH

    def _order(self) -> None:
        """Sorts by each person's cost including their question, then by each of their networks' cost: a household's
        questions from its many networks all count before one is served."""
        at_work = [ticket for ticket in self._line if ticket.state == SERVED]
        waiting = [ticket for ticket in self._line if ticket.state == WAITING]
        waiting.sort(key=lambda ticket: ticket.finer)
        would_cost: dict[Hashable, float] = {}  # by person
        for ticket in waiting:
            if ticket.person not in would_cost:
                would_cost[ticket.person] = self.costs.cost(ticket.payer)
            would_cost[ticket.person] += ticket.seconds
            ticket.own = ticket.finer, would_cost[ticket.person]
        waiting.sort(key=lambda ticket: ticket.own)
        self._would_cost.clear()
        for ticket in waiting:
            self._place(ticket)
        waiting.sort(key=lambda ticket: ticket.place)
        for ticket in at_work:
            ticket.place = (False, 0.0)
        self._line = at_work + waiting
        self._ordered = self.costs.clock()

    def _wait(self, ticket: Ticket) -> int:
        """Waits a while for a turn; returns how many still have to finish first."""
        ticket.turn.wait(ticket.hears_again)
        with self._lock:
            ticket.turn.clear()
            ahead = self._ahead_of(ticket)
            ticket.hears_again = TELL_EVERY * max(1, ahead / FAR)
            if ahead == 0 and not ticket.stopped() and ticket.state == WAITING:
                ticket.state, ticket.began = SERVED, self.costs.clock()
                self.costs.charge(ticket.payer, ticket.seconds)  # as it is thought to cost, until it is known
            return ahead

    def _leave(self, ticket: Ticket) -> None:
        with self._lock:
            if ticket.state == SERVED:
                took = self.costs.clock() - ticket.began if self.kind else ticket.seconds
                self.costs.charge(ticket.payer, took - ticket.seconds)
                self.costs.spent[self.kind] += took
            ticket.state = OVER
            self._line.remove(ticket)
            if len(self._line) < FEW or self._is_stale():
                self._order()
            self._wake()

    def _wake(self) -> None:
        """Starts exactly the tickets whose turn it is."""
        free = {long: self._free(long) for long in (False, True)}
        for ticket in self._line:
            if max(free.values()) <= 0:
                return
            if ticket.state == WAITING and free[ticket.is_long] > 0 and not ticket.stopped():
                free[ticket.is_long] -= 1
                ticket.turn.set()

    def _free(self, long: bool) -> int:
        """How many long tickets, or short ones, may run at once."""
        at_work = Counter(ticket.is_long for ticket in self._line if ticket.state == SERVED)
        of_its_kind = (1 if long else self.at_once) - at_work[long]
        return min(of_its_kind, self.at_once + self.beside - at_work.total())

    def _ahead_of(self, ticket: Ticket) -> int:
        """How many have to finish first. Tickets that gave up before being served don't count."""
        if ticket.state != WAITING:
            return 0
        ahead = self._line[: self._line.index(ticket)]
        waiting = sum(
            other.state == WAITING and other.is_long == ticket.is_long and not other.stopped() for other in ahead
        )
        return max(0, waiting - self._free(ticket.is_long) + 1)

    def _people(self, ticket: Ticket) -> int:
        """How many others come first. Questions without a key, for what belongs to everybody, are of whoever else asks
        from that address: nobody who is alone is told to wait for a person."""
        with self._lock:
            if ticket not in self._line:
                return 0
            ahead = self._line[: self._line.index(ticket)]
            others = {
                other.person
                for other in ahead
                if other.person != ticket.person
                and not (other.state == WAITING and other.stopped())
                and (other.who.person or not other.who.address or other.who.address != ticket.who.address)
            }
            return min(len(others), self._ahead_of(ticket))


@cache
def passes() -> Queue:
    """The queue of what computes for a page: forward passes, measurements of heads."""
    return Queue(settings.now().at_once, beside=1, kind="passes")


@cache
def figures() -> Queue:
    """The queue of figures: matplotlib draws for one person at a time, and a wall of maps takes seconds."""
    return Queue(kind="figures", most=60)


@cache
def _long() -> Queue:
    return Queue(MOST_LONG)


@cache
def decodings() -> Queue:
    return Queue(2, kind="decodings")


@cache
def _packings() -> Queue:
    return Queue(kind="packs")


def turn(finer: bool = False, seconds: float = SHORT) -> AbstractContextManager[None]:
    """Acquire before computing: `with queue.turn(): …`. Meanwhile the page shows how many come first."""
    return passes().take(asker.current().waits, finer=finer, seconds=seconds)


def drawing() -> AbstractContextManager[None]:
    """Take it before matplotlib draws."""
    return figures().take(asker.current().waits)


def packing() -> AbstractContextManager[None]:
    """Take it before packing numbers for a browser: a layer may take 20 MB, and a whole class asks at once."""
    return _packings().take(asker.current().waits)


def decoding(seconds: float) -> AbstractContextManager[None]:
    """Take it before decoding a costly picture: 16 megapixels take 100 MB meanwhile, and a class drops thirty at once.
    Of two at a time one may be costly."""
    return decodings().take(asker.current().waits, seconds=seconds)


@contextmanager
def turns(queue: Queue | None = None) -> Iterator[Callable[[], None]]:
    """Turns for long work that a page waits for: `with queue.turns() as give_way: …`. The work calls `give_way()`
    between its pieces: then those who wait come first, and the work ends if its asker has left."""
    who, turn, begun = asker.current(), ExitStack(), 0.0
    line, place = queue, nullcontext()
    if line is None:
        line, place = passes(), _long().take(who.waits)

    def begin() -> None:
        nonlocal begun
        turn.close()
        turn.enter_context(line.take(who.waits))
        begun = time.monotonic()

    def give_way() -> None:
        who.stays()
        if time.monotonic() - begun >= SLICE and line.waiting:
            begin()

    with place, turn:
        begin()
        yield give_way


class Left(Exception):
    """Raised when nobody waits for this work any more."""
