"""The queue for everything that is heavy: first come, first served, so many at once.

There are two ways to wait. `with queue.take(tell): …` waits where it stands, in the thread of a page. `queue.run(work)`
gives a ticket at once and does the work in a thread of its own; the page looks at the ticket again and again.

Nobody holds a place who has left: `tell` may raise, and a ticket that nobody has looked at for a while is given up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache

from playground.serving import asker, settings

TELL_EVERY = 0.4  # seconds between two calls of `tell`; who waits for less is told nothing
PATIENCE = 12.0  # seconds; a page looks at its ticket every second, but a busy server or a hidden tab makes it late

WAITING, SERVED, OVER = "waiting", "served", "over"


class Ticket:
    """A place in the queue. Without `patience` it is held until it is left."""

    def __init__(self, patience: float | None = None):
        self.state = WAITING
        self.trouble: Exception | None = None  # what went wrong in the work
        self._patience = patience
        self._looked = time.monotonic()
        self._stop = threading.Event()

    def stop(self) -> None:
        """Gives up the place. Work that has begun ends when it next asks `stopped`."""
        self._stop.set()

    def stopped(self) -> bool:
        left = self._patience is not None and time.monotonic() - self._looked > self._patience
        return left or self._stop.is_set()

    def look(self) -> None:
        """Somebody is still interested."""
        self._looked = time.monotonic()


class Queue:
    def __init__(self, at_once: int = 1, patience: float = PATIENCE):
        self.at_once = at_once
        self.patience = patience
        self._line: list[Ticket] = []  # in the order of coming; those who are served stay in it until they are done
        self._moved = threading.Condition()

    @contextmanager
    def take(self, tell: Callable[[int], None] | None = None) -> Iterator[None]:
        """Waits until it is one's turn. `tell` hears how many have to finish first, and 0 at the end if one had to
        wait; what it raises gives up the place."""
        ticket, told = Ticket(), False
        self._join(ticket)
        try:
            while before := self._wait(ticket):
                if tell:
                    tell(before)
                    told = True
            if told:
                tell(0)
            yield
        finally:
            self._leave(ticket)

    def run(self, work: Callable[[Ticket], None]) -> Ticket:
        """`work` gets its ticket, and should end soon after the ticket says `stopped`."""
        ticket = Ticket(self.patience)
        self._join(ticket)
        threading.Thread(target=self._serve, args=(ticket, work), name="queue", daemon=True).start()
        return ticket

    def before(self, ticket: Ticket) -> int:
        """How many have to finish before this ticket is served. To ask is to say that one still waits."""
        ticket.look()
        with self._moved:
            return self._before(ticket)

    def _serve(self, ticket: Ticket, work: Callable[[Ticket], None]) -> None:
        try:
            while ticket.state == WAITING and not ticket.stopped():
                self._wait(ticket)
            if ticket.state == SERVED:
                work(ticket)
        except Exception as error:  # told to the ticket's holder; those behind must not suffer
            ticket.trouble = error
        finally:
            self._leave(ticket)

    def _join(self, ticket: Ticket) -> None:
        with self._moved:
            self._line.append(ticket)

    def _wait(self, ticket: Ticket) -> int:
        """How many still have to finish first, after waiting a while for it to be none."""
        with self._moved:
            self._moved.wait_for(lambda: self._before(ticket) == 0, TELL_EVERY)
            before = self._before(ticket)
            if before == 0 and not ticket.stopped():
                ticket.state = SERVED
            return before

    def _leave(self, ticket: Ticket) -> None:
        with self._moved:
            ticket.state = OVER
            self._line.remove(ticket)
            self._moved.notify_all()

    def _before(self, ticket: Ticket) -> int:
        """Who gave up before being served does not count."""
        if ticket.state != WAITING:
            return 0
        served = sum(other.state == SERVED for other in self._line)
        ahead = self._line[: self._line.index(ticket)]
        waiting = sum(other.state == WAITING and not other.stopped() for other in ahead)
        return max(0, served + waiting - self.at_once + 1)


@cache
def passes() -> Queue:
    """The queue of everything that computes for a page: forward passes, figures, measurements of heads."""
    return Queue(settings.now().at_once)


def turn() -> AbstractContextManager[None]:
    """Acquire before computing: `with queue.turn(): …`. The page says how many come first."""
    return passes().take(asker.current().waits)
