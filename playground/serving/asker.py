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
    """Who waits in the queue; empty where nobody does."""

    person: str = ""  # the same in all tabs of a browser
    address: str = ""  # the network's address, which many people may share: see `network`


NOBODY = Who()


def network(address: str | None) -> str:
    """The key of an address's network: for IPv6 its first half, since one household owns billions of addresses."""
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

    def waits(self, ahead: int) -> None:
        """As `stays`, and tells that `ahead` others have to finish first; 0 ends the wait."""

    def hears(self, sentence: str) -> None:
        """A sentence for the person, such as: the graphics card is full."""


class Nobody:
    def who(self) -> Who:
        return NOBODY

    def stays(self) -> None:
        pass

    def waits(self, ahead: int) -> None:
        self.stays()

    def hears(self, sentence: str) -> None:
        pass


find: Callable[[], Asker] = Nobody  # returns the page that the calling thread works for

_named: ContextVar[Asker | None] = ContextVar("named", default=None)


def current() -> Asker:
    return _named.get() or find()


@contextmanager
def working_for(asker: Asker) -> Iterator[None]:
    token = _named.set(asker)
    try:
        yield
    finally:
        _named.reset(token)


# A set with one thing of every session. A session that ends takes its own out of it.


T = TypeVar("T")


class Registry(Generic[T]):
    """A WeakSet that one thread may add to while another iterates. A plain WeakSet would raise."""

    def __init__(self) -> None:
        self._all: WeakSet[T] = WeakSet()
        self._lock = Lock()

    def add(self, item: T) -> None:
        with self._lock:
            self._all.add(item)

    def __iter__(self) -> Iterator[T]:
        with self._lock:
            return iter(list(self._all))
