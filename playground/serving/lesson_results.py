"""What lessons worked out, kept within one bound for all sessions. It may be dropped at any moment, for it is made
again when a page asks: what a person chose or guessed has its place in the state of their session."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import is_dataclass
from functools import cache
from typing import Any

import numpy as np
from PIL import Image

from playground.lessons.benchmark import Series
from playground.serving.asker import Registry
from playground.serving.cache import MB, Cache, trim
from playground.serving.pictures import Picture
from playground.serving.queue import Queue, Ticket, pieces
from playground.serving.traces import Wish

OF_ALL = 60 * MB  # about the samples: the same for everybody. deploy/README.md counts on it
OWN = 40 * MB  # of all sessions together, each one's own. deploy/README.md counts on it
OF_ONE = 16 * MB  # of those
ENTRY = 2000  # bytes of a key, and of what else an entry takes

_own: Registry[Cache] = Registry()  # of all sessions


@cache
def of_all() -> Cache:
    return Cache(OF_ALL, size=size)


def own_cache() -> Cache:
    """A session's: what is about its uploads, and the messages to its browser."""
    own = Cache(OF_ONE, size=size)
    _own.add(own)
    return own


def about(picture: Picture, wish: Wish, own: Cache, what: Hashable, make: Callable[[], Any]) -> Any:
    """`what` was worked out about a picture: about a sample for everybody, about an upload in the session's `own`."""
    key = (picture.id, wish, what)
    return of_all().get(key, make) if picture.sample else mine(own, key, make)


def mine(own: Cache, key: Hashable, make: Callable[[], Any]) -> Any:
    found = own.get(key, make)
    trim(_own, OWN)
    return found


def size(made: Any) -> int:
    return held(made) + ENTRY


def held(thing: Any) -> int:
    """The bytes of numbers, words, pictures, and whatever is built of them. What can't be counted is not kept."""
    if isinstance(thing, bytes | str | int | float | np.generic | None):
        return sys.getsizeof(thing)
    if isinstance(thing, dict):
        return sys.getsizeof(thing) + held([*thing.keys(), *thing.values()])
    if isinstance(thing, list | tuple):
        return sys.getsizeof(thing) + sum(map(held, thing))
    if isinstance(thing, np.ndarray):  # a slice keeps all that it was cut from
        return max(thing.nbytes, 0 if thing.base is None else held(thing.base))
    if isinstance(thing, Image.Image):
        return 4 * thing.width * thing.height  # Pillow takes four for red, green and blue
    if hasattr(thing, "untyped_storage"):  # a tensor; torch is not imported for those who need none
        return thing.untyped_storage().nbytes()
    if is_dataclass(thing):
        return held(vars(thing))
    raise TypeError(f"how many bytes a {type(thing).__name__} holds is not known: teach it to lesson_results.held")


# The measurements of the cost page: one runs at a time, and the last results are shared by all visitors. Each of its
# steps takes a turn among all that computes.

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
