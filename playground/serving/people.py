"""What the server keeps for one person: their pictures, and what was computed from them; and what lessons worked out.

A person is a key: a random secret that their browser makes, keeps and sends in one header. It stands in no address and
in no log. What belongs to a person is forgotten ten minutes after the last request with their key, or when they say so.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import is_dataclass
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
from PIL import Image
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Scope

from playground.serving import pictures, traces
from playground.serving.asker import Registry, Who, network
from playground.serving.cache import MB, Cache, trim
from playground.serving.pictures import Picture
from playground.serving.traces import Wish

HEADER = "x-playground-key"
LOGIN = "x-playground-login"  # from the image's proxy alone, which sets it from PLAYGROUND_USER_HEADER
KEY = re.compile(r"[A-Za-z0-9_-]{22,64}")
FORGOTTEN_AFTER = 600.0  # seconds
MOST_PICTURES = 3  # of one person; their browser keeps more and sends them again
MOST_PEOPLE = 2000  # with pictures of their own; who asked longest ago goes first

_people: OrderedDict[str, Person] = OrderedDict()  # by key; who asked last is the last
_lock = threading.Lock()


class Person:
    def __init__(self, key: str):
        self.key = key
        self.pictures: OrderedDict[str, Picture] = OrderedDict()  # by id, the latest last
        self.traces = traces.own_cache()
        self.worked = lesson_cache()  # what lessons work out about these pictures
        self.names = traces.kept_names()  # of what heads do on them
        self.asked = time.monotonic()

    def take(self, picture: Picture) -> None:
        self.pictures.pop(picture.id, None)
        self.pictures[picture.id] = picture
        while len(self.pictures) > MOST_PICTURES:
            self.drop(next(iter(self.pictures)))

    def drop(self, picture_id: str) -> bool:
        """Forgets one picture, and all that was computed from it."""
        found = self.pictures.pop(picture_id, None)
        for kept in (self.traces, self.worked, self.names):
            kept.drop_where(lambda key: key[0] == picture_id)
        return found is not None

    def drop_all(self) -> None:
        """A page that a browser has left open still holds this person: it must not hold their pictures."""
        for picture_id in list(self.pictures):
            self.drop(picture_id)


def who(scope: Scope) -> Who:
    """Who asks, in a request or for a socket: their network, and the key of their browser where it sends one. Who has
    logged in at a company's proxy is a person of their own, wherever they are."""
    headers, client = Headers(scope=scope), scope.get("client")
    key, login = headers.get(HEADER, ""), headers.get(LOGIN, "") if is_behind_proxy(scope) else ""
    address = f"login {sha256(login.encode()).hexdigest()[:16]}" if login else network(client[0] if client else "")
    return Who(key if KEY.fullmatch(key) else "", address)


def is_behind_proxy(scope: Scope) -> bool:
    """Whether the image's own proxy asks: nobody else reaches a Unix socket. What it says of who asks is true."""
    server = scope.get("server")
    return bool(server) and server[1] is None


def key_of(request: Request) -> str | None:
    return who(request.scope).person or None


def of(request: Request) -> Person | None:
    """None for who sends no key, and for whom nothing is kept."""
    key = key_of(request)
    return known(key) if key else None


def known(key: str) -> Person | None:
    """Counts as a request of theirs."""
    with _lock:
        person = _people.get(key)
        if person is None:
            return None
        if _is_gone(person):
            _forget(key)
            return None
        person.asked = time.monotonic()
        _people.move_to_end(key)
        return person


def enter(key: str) -> Person:
    person = known(key)
    if person is None:
        with _lock:
            person = _people.setdefault(key, Person(key))
            while len(_people) > MOST_PEOPLE:
                _forget(next(iter(_people)))
    return person


def forget(key: str) -> None:
    with _lock:
        _forget(key)


def forget_the_gone() -> None:
    """Called now and then."""
    with _lock:
        for key in [key for key, person in _people.items() if _is_gone(person)]:
            _forget(key)


def _forget_picture(picture: Picture) -> None:
    """There is no room for it any more."""
    with _lock:
        for person in _people.values():
            if person.pictures.get(picture.id) is picture:
                person.drop(picture.id)


pictures.when_no_room.append(_forget_picture)


def _is_gone(person: Person) -> bool:
    return time.monotonic() - person.asked > FORGOTTEN_AFTER


def _forget(key: str) -> None:
    if person := _people.pop(key, None):
        person.drop_all()


# What lessons worked out, kept within one bound for all sessions. It may be dropped at any moment, for it is made again
# when a page asks: what a person chose or guessed has its place in the state of their session.

OF_ALL = 60 * MB  # about the samples: the same for everybody. deploy/README.md counts on it
OWN = 40 * MB  # of all sessions together, each one's own. deploy/README.md counts on it
OF_ONE = 16 * MB  # of those
ENTRY = 2000  # bytes of a key, and of what else an entry takes

_own: Registry[Cache] = Registry()  # of all sessions


@cache
def worked_for_all() -> Cache:
    return Cache(OF_ALL, size=size)


def lesson_cache() -> Cache:
    """A session's: what is about its uploads, and the messages to its browser."""
    own = Cache(OF_ONE, size=size)
    _own.add(own)
    return own


def worked_out(picture: Picture, wish: Wish, own: Cache, what: Hashable, make: Callable[[], Any]) -> Any:
    """`what` was worked out about a picture: about a sample for everybody, about an upload in the session's `own`."""
    key = (picture.id, wish, what)
    return worked_for_all().get(key, make) if picture.sample else mine(own, key, make)


def is_worked_out(picture: Picture, wish: Wish, own: Cache, what: Hashable) -> bool:
    return (picture.id, wish, what) in (worked_for_all() if picture.sample else own)


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
    raise TypeError(f"how many bytes a {type(thing).__name__} holds is not known: teach it to held")
