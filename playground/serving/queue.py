"""A queue for heavy computations, of which at most `at_once` run at the same time.

It is fair by person: who asks ten things at once gets one answer, then the others who wait get theirs, and so on. The
answers of one person come in the order of their questions. Networks take turns in the same way, and in each of them all
who have no page open count as one person together: keys are free to mint, pages are not. What makes finer what somebody
already sees comes after all who still wait.

There are two ways to wait. `with queue.take(tell): …` blocks the calling thread, such as a page's. `queue.run(work)`
returns a ticket at once and does the work in a thread of its own, while the page polls the ticket.

People who leave lose their place: `tell` may raise, and a ticket that isn't polled for a while is dropped.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cache
from itertools import islice

from playground.errors import Busy
from playground.serving import asker, settings
from playground.serving.admission import BOUNDS, refused, sockets

TELL_EVERY = 0.4  # seconds between two calls of `tell`; shorter waits are not reported
FAR = 50  # with n times as many ahead, somebody looks n times less often: hundreds of looks at the line take a core
PATIENCE = 12.0  # seconds; a page looks at its ticket every second, but a busy server or a hidden tab makes it late
SLICE = 1.0  # seconds that long work goes on while others wait
MOST_LONG = 2  # pieces of long work that have begun: each keeps in memory what it has found

WAITING, SERVED, OVER = "waiting", "served", "over"


class Ticket:
    """A place in the queue. With `patience`, it is dropped if it isn't polled for so many seconds. Nobody's tickets
    are each of a person of their own."""

    def __init__(self, patience: float | None = None, who: asker.Who = asker.NOBODY, finer: bool = False):
        self.state = WAITING
        self.finer = finer
        self.who = who
        self.person: Hashable = who.person or who.address or object()
        self.address = who.address
        self.home = who.address or self.person
        self.round = 0  # of one address, tickets of a lower round are served first
        self.trouble: Exception | None = None  # the exception that ended the work
        self._patience = patience
        self._looked = time.monotonic()
        self._stop = threading.Event()
        self.turn = threading.Event()  # set when it may have come
        self.hears_again = TELL_EVERY

    def stop(self) -> None:
        """Gives up the place. Work that has begun ends when it next calls `stopped`."""
        self._stop.set()

    def stopped(self) -> bool:
        left = self._patience is not None and time.monotonic() - self._looked > self._patience
        return left or self._stop.is_set()

    def look(self) -> None:
        """Notes that somebody still waits for it."""
        self._looked = time.monotonic()


class Queue:
    """`has_page`: whether somebody has a page open."""

    def __init__(
        self, at_once: int = 1, patience: float = PATIENCE, has_page: Callable[[asker.Who], bool] = lambda who: True
    ):
        self.at_once = at_once
        self.patience = patience
        self._has_page = has_page
        self._line: list[Ticket] = []  # in the order in which they are served; one stays until its work is done
        self._round = 0  # of the ticket that was served last
        self._served: dict[Hashable, int] = {}  # how many had been served when an address last was
        self._lock = threading.Lock()

    @contextmanager
    def take(
        self, tell: Callable[[int], None] | None = None, who: asker.Who | None = None, finer: bool = False
    ) -> Iterator[None]:
        """Waits for a turn. `tell` is called with the number of people who come first (0: this person's own questions
        do), and with 0 when the wait is over; an exception of it gives up the place."""
        ticket, told = Ticket(who=asker.current().who() if who is None else who, finer=finer), False
        self._join(ticket)
        try:
            while self._wait(ticket):
                if tell:
                    tell(self._people(ticket))
                    told = True
            if told:
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
        """How many wait for a turn."""
        with self._lock:
            return sum(ticket.state == WAITING and not ticket.stopped() for ticket in self._line)

    def waited_for(self) -> bool:
        """Whether somebody else waits for a turn."""
        return self.waiting > 0

    def before(self, ticket: Ticket) -> int:
        """How many have to finish before this ticket is served. Calling it also notes that somebody still waits."""
        ticket.look()
        with self._lock:
            return self._before(ticket)

    def _serve(self, ticket: Ticket, work: Callable[[Ticket], None]) -> None:
        try:
            while ticket.state == WAITING and not ticket.stopped():
                self._wait(ticket)
            if ticket.state == SERVED:
                work(ticket)
        except Exception as error:  # reported by the ticket; the queue must go on
            ticket.trouble = error
        finally:
            self._leave(ticket)

    def _join(self, ticket: Ticket) -> None:
        """Each ticket of a person is one round later than the one before, so that people take turns."""
        with self._lock:
            self._refuse_crowds(ticket)
            if ticket.address and not self._has_page(ticket.who):
                ticket.person = ticket.address
            mine = [other.round for other in self._line if other.person == ticket.person]
            ticket.round = max(mine, default=self._round - 1) + 1
            self._line.append(ticket)
            self._order()
            self._wake()

    def _order(self) -> None:
        """Addresses take turns: the first of each, then the second of each, and so on; whose turn was longest ago
        begins. What makes an answer finer comes behind."""
        at_work = [ticket for ticket in self._line if ticket.state == SERVED]
        waiting = [ticket for ticket in self._line if ticket.state == WAITING]
        before = Counter(ticket.home for ticket in at_work)
        places = {}
        for ticket in sorted(waiting, key=lambda ticket: (ticket.finer, ticket.round)):
            places[ticket] = ticket.finer, before[ticket.home], self._served.get(ticket.home, 0)
            before[ticket.home] += 1
        self._line = at_work + sorted(places, key=places.__getitem__)

    def _refuse_crowds(self, ticket: Ticket) -> None:
        waiting = [other for other in self._line if other.state == WAITING and not other.stopped()]
        most, trouble = BOUNDS["questions"], ""
        if ticket.who.person and sum(other.who.person == ticket.who.person for other in waiting) >= most.key:
            trouble = f"{most.key} of your questions wait already: wait for an answer, then ask again."
        elif ticket.address and sum(other.address == ticket.address for other in waiting) >= most.network:
            trouble = f"{most.network} people of your network wait already: try again in a minute."
        elif len(waiting) >= most.everybody:
            trouble = f"{most.everybody} people wait already: try again in a minute."
        if trouble:
            refused["questions"] += 1
            raise Busy(trouble)

    def _wait(self, ticket: Ticket) -> int:
        """Waits a while for a turn; returns how many still have to finish first."""
        ticket.turn.wait(ticket.hears_again)
        with self._lock:
            ticket.turn.clear()
            before = self._before(ticket)
            ticket.hears_again = TELL_EVERY * max(1, before / FAR)
            if before == 0 and not ticket.stopped():
                ticket.state = SERVED
                self._round = max(self._round, ticket.round)
                self._served[ticket.home] = max(self._served.values(), default=0) + 1
            return before

    def _leave(self, ticket: Ticket) -> None:
        with self._lock:
            ticket.state = OVER
            self._line.remove(ticket)
            if self._line:
                self._order()
            else:
                self._served.clear()
            self._wake()

    def _wake(self) -> None:
        """Those whose turn it is, and nobody else."""
        free = self.at_once - sum(ticket.state == SERVED for ticket in self._line)
        next_ones = (ticket for ticket in self._line if ticket.state == WAITING and not ticket.stopped())
        for ticket in islice(next_ones, max(0, free)):
            ticket.turn.set()

    def _before(self, ticket: Ticket) -> int:
        """How many have to finish first. Tickets that gave up before being served don't count."""
        if ticket.state != WAITING:
            return 0
        served = sum(other.state == SERVED for other in self._line)
        ahead = self._line[: self._line.index(ticket)]
        waiting = sum(other.state == WAITING and not other.stopped() for other in ahead)
        return max(0, served + waiting - self.at_once + 1)

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
                and (other.who.person or not other.address or other.address != ticket.address)
            }
            return min(len(others), self._before(ticket))


@cache
def passes() -> Queue:
    """The queue of everything that computes for a page: forward passes, figures, measurements of heads."""
    return Queue(settings.now().at_once, has_page=sockets.is_open_for)


def turn(finer: bool = False) -> AbstractContextManager[None]:
    """Acquire before computing: `with queue.turn(): …`. Meanwhile the page shows how many come first."""
    return passes().take(asker.current().waits, finer=finer)


@contextmanager
def turns() -> Iterator[Callable[[], None]]:
    """Turns for long work that a page waits for: `with queue.turns() as give_way: …`. The work calls `give_way()`
    between its pieces: whoever waits comes in between, and the work ends when its asker has left."""
    who, turn, begun = asker.current(), ExitStack(), 0.0
    place = _long().take(who.waits)

    def begin() -> None:
        nonlocal begun
        turn.close()
        turn.enter_context(passes().take(who.waits))
        begun = time.monotonic()

    def give_way() -> None:
        who.stays()
        if time.monotonic() - begun >= SLICE and passes().waited_for():
            begin()

    with place, turn:
        begin()
        yield give_way


class Left(Exception):
    """Nobody waits for this work any more."""


@contextmanager
def pieces(ticket: Ticket) -> Iterator[Callable[[], bool]]:
    """Turns for long work of another queue's ticket: `with pieces(ticket) as give_way: …`. The work calls `give_way()`
    often: whoever waits comes first, and it goes on after them. It says whether the work is not wanted any more."""
    turn = ExitStack()

    def tell(before: int) -> None:
        if ticket.stopped():
            raise Left

    def begin() -> None:
        turn.close()
        with suppress(Left):
            turn.enter_context(passes().take(tell, ticket.who))

    def give_way() -> bool:
        if not ticket.stopped() and passes().waited_for():
            begin()
        return ticket.stopped()

    with turn:
        begin()
        yield give_way


@cache
def _long() -> Queue:
    return Queue(MOST_LONG, has_page=sockets.is_open_for)


@cache
def _decodings() -> Queue:
    return Queue(1, has_page=sockets.is_open_for)


@cache
def _packings() -> Queue:
    return Queue(1, has_page=sockets.is_open_for)


def packing() -> AbstractContextManager[None]:
    """Acquire before numbers are packed for a browser: a layer may take 20 MB, and a class asks for it at once."""
    return _packings().take(asker.current().waits)


def decoding() -> AbstractContextManager[None]:
    """Acquire before a picture is decoded: one of 16 megapixels takes 100 MB meanwhile, and a class drops thirty."""
    return _decodings().take(asker.current().waits)
