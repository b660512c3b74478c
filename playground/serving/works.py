"""Work that a button of a lesson starts (lessons/parts.py, Run): one person's after another's, in a thread. When nobody
looks at it any more, it is stopped. What all of it has come to has a bound in common."""

from __future__ import annotations

import time
from contextlib import closing, suppress
from threading import Lock
from typing import Any
from weakref import WeakSet

from playground.lessons.parts import Run
from playground.serving import people
from playground.serving.asker import Nobody, Who, working_for
from playground.serving.cache import MB
from playground.serving.queue import OVER, SERVED, Left, Queue, Ticket

MOST_KEPT = 100 * MB  # of what all people's runs together have come to; deploy/README.md counts on it
_queue = Queue()
_ended: WeakSet[Work] = WeakSet()  # a session that goes takes its runs along
_ending = Lock()


class Runner(Nobody):
    """Who asked for a run, and whether they still look at it: its turns are theirs, and charged to them."""

    def __init__(self, ticket: Ticket):
        self.ticket = ticket

    def who(self) -> Who:
        return self.ticket.who

    def stays(self) -> None:
        if self.ticket.stopped():
            raise Left


class Work:
    def __init__(self, run: Run, former: Work | None = None):
        self.words = ""
        self.come_to: Any = None
        self.ended = 0.0  # when
        self.let_go = False  # others have ended since, and there was no room for all
        before = former and former.come_to
        self._ticket = _queue.run(lambda ticket: self._do(run, before, ticket))

    def _do(self, run: Run, before: Any, ticket: Ticket) -> None:
        try:
            with suppress(Left), working_for(Runner(ticket)), closing(run.work(before)) as waits:
                for wait in waits:
                    self.words, self.come_to = wait.words, wait.come_to
                    if ticket.stopped():
                        return
        finally:
            self._keep()

    def look(self) -> int:
        """How many come first. Whoever does not look for a while is taken to have left."""
        return _queue.before(self._ticket)

    @property
    def begun(self) -> bool:
        return self._ticket.state == SERVED

    @property
    def over(self) -> bool:
        return self._ticket.state == OVER

    @property
    def trouble(self) -> Exception | None:
        return self._ticket.trouble

    def stop(self) -> None:
        self._ticket.stop()

    def _keep(self) -> None:
        """Lets go of what ended longest ago when all together hold too much."""
        with _ending:
            self.ended = time.monotonic()
            _ended.add(self)
            held = {work: people.held(work.come_to) for work in _ended}
            for work in sorted(held, key=lambda work: work.ended):
                if sum(held.values()) <= MOST_KEPT or work is self:
                    break
                del held[work]
                work.come_to, work.let_go = None, True
