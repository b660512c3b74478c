"""Lets code in serving/ send messages to the page that waits for it, without knowing Streamlit; and holds one thing for
each session.

`ui/messages.py` sets `find` once when the app starts. Before that, and for work that no page waits for (a warm-up, a
test, training in the background), messages go to Nobody. What is made for a person in a thread where no page runs says
so: `with working_for(asker): …`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from ipaddress import IPv6Network, ip_address
from threading import Lock
from typing import Generic, NamedTuple, Protocol, TypeVar
from weakref import WeakSet


class Who(NamedTuple):
    """Whose turn it is in the queue; empty where nobody waits."""

    person: str = ""  # the same in all tabs of a browser
    address: str = ""  # of the network, behind which many may sit: see `network`


NOBODY = Who()


def network(address: str | None) -> str:
    """What stands for one asker's network: of the new addresses, of which everybody has billions, the first half."""
    if not address or ":" not in address:
        return address or ""
    try:
        parts = ip_address(address)
    except ValueError:
        return address
    if parts.ipv4_mapped:
        return str(parts.ipv4_mapped)
    return str(IPv6Network((int(parts), 64), strict=False))


class Asker(Protocol):
    def who(self) -> Who: ...

    def stays(self) -> None:
        """Raises when the person has left the page."""

    def waits(self, before: int) -> None:
        """The same, and tells that `before` others have to finish first; 0 ends a wait."""

    def hears(self, sentence: str) -> None:
        """A sentence for the person, such as: the graphics card is full."""


class Nobody:
    def who(self) -> Who:
        return NOBODY

    def stays(self) -> None:
        pass

    def waits(self, before: int) -> None:
        self.stays()

    def hears(self, sentence: str) -> None:
        pass


find: Callable[[], Asker] = Nobody  # returns the page that the calling thread works for

_named: ContextVar[Asker | None] = ContextVar("named", default=None)


def current() -> Asker:
    return _named.get() or find()


@contextmanager
def working_for(one: Asker) -> Iterator[None]:
    before = _named.set(one)
    try:
        yield
    finally:
        _named.reset(before)


# A set with one thing of every session. A session that ends takes its own out of it.


T = TypeVar("T")


class Registry(Generic[T]):
    """As a WeakSet; but while one thread goes through it, another may add to it. A WeakSet would raise then."""

    def __init__(self) -> None:
        self._all: WeakSet[T] = WeakSet()
        self._lock = Lock()

    def add(self, one: T) -> None:
        with self._lock:
            self._all.add(one)

    def __iter__(self) -> Iterator[T]:
        with self._lock:
            return iter(list(self._all))
