"""A line before something that only one person at a time can have: who comes first is served first, and who has gone
gives the turn back.

A ticket is alive as long as its holder says so: every look at `place` counts, and after PATIENCE seconds without one
the holder is taken to have closed the page.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PATIENCE = 12.0  # seconds; a page looks every second, but a busy server or a hidden tab may make it late

WAITING, SERVED, OVER = "waiting", "served", "over"


class Ticket:
    def __init__(self, work: Callable[[Ticket], None], patience: float):
        self.state = WAITING
        self.trouble: Exception | None = None
        self._work, self._patience = work, patience
        self._seen = time.monotonic()
        self._stop = threading.Event()

    def stop(self) -> None:
        """Whether it waits or is served."""
        self._stop.set()

    def stopped(self) -> bool:
        return self._stop.is_set() or time.monotonic() - self._seen > self._patience

    def serve(self) -> None:
        try:
            if not self.stopped():
                self.state = SERVED
                self._work(self)
        except Exception as error:  # the holder is told; those behind them must not suffer
            self.trouble = error
        finally:
            self.state = OVER

    def look(self) -> None:
        self._seen = time.monotonic()


class Line:
    def __init__(self, patience: float = PATIENCE):
        self.patience = patience
        self._tickets: list[Ticket] = []
        self._lock = threading.Lock()

    def join(self, work: Callable[[Ticket], None]) -> Ticket:
        """`work` gets its ticket and should end soon after the ticket says `stopped`."""
        ticket = Ticket(work, self.patience)
        with self._lock:
            self._tickets.append(ticket)
            if len(self._tickets) == 1:
                threading.Thread(target=self._serve, name="line", daemon=True).start()
        return ticket

    def place(self, ticket: Ticket) -> int:
        """How many are before it; who has stopped or gone does not count."""
        ticket.look()
        with self._lock:
            if ticket not in self._tickets:
                return 0
            before = self._tickets[: self._tickets.index(ticket)]
        return sum(other.state == SERVED or not other.stopped() for other in before)

    def _serve(self) -> None:
        while True:
            with self._lock:
                ticket = self._tickets[0]
            ticket.serve()
            with self._lock:
                self._tickets.remove(ticket)
                if not self._tickets:
                    return
