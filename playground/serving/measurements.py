"""The measurements of the cost page: one runs at a time, and the last results are shared by all visitors. Each of its
steps takes a turn among all that computes."""

from __future__ import annotations

import threading
from collections import OrderedDict

from playground.lessons.benchmark import Series
from playground.serving.queue import Queue, Ticket, pieces

KEPT = 8

Case = tuple[int, int, int]  # width, heads, kernel


class Measurements:
    def __init__(self):
        self._queue = Queue()
        self._series: OrderedDict[Case, Series] = OrderedDict()  # the one that runs is the last
        self._lock = threading.Lock()

    def start(self, case: Case) -> Ticket:
        """Queues a series. It stops when its ticket is stopped or no longer polled."""
        return self._queue.run(lambda ticket: self._measure(case, ticket))

    def before(self, ticket: Ticket) -> int:
        """How many come first. Must be called regularly: otherwise the visitor counts as gone."""
        return self._queue.before(ticket)

    def running(self) -> Series | None:
        with self._lock:
            last = next(reversed(self._series.values()), None)
        return last if last and last.running else None

    def result(self, case: Case) -> Series | None:
        """The series of this case, running or finished."""
        with self._lock:
            return self._series.get(case)

    def _measure(self, case: Case, ticket: Ticket) -> None:
        former, series = self.result(case), Series(*case)
        self._keep(case, series)
        with pieces(ticket) as give_way:
            series.wait(ticket.stopped, give_way)
        if series.stopped and not series.points:  # has no result
            self._keep(case, former)

    def _keep(self, case: Case, series: Series | None) -> None:
        with self._lock:
            self._series.pop(case, None)
            if series:
                self._series[case] = series
            while len(self._series) > KEPT:
                self._series.popitem(last=False)
