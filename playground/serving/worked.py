"""What lessons worked out, kept within one bound for all sessions. It may be dropped at any moment, for it is made
again when a page asks: what a person chose or guessed has its place in the state of their session.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import is_dataclass
from functools import cache
from typing import Any

import numpy as np
from PIL import Image

from playground.serving.cache import MB, Cache, Caches
from playground.serving.pictures import Picture
from playground.serving.traces import Setup

OF_ALL = 60 * MB  # about the samples: the same for everybody. deploy/README.md counts on it
OWN = 40 * MB  # bytes of all sessions' own caches together, likewise
OF_ONE = 16 * MB  # of those
ENTRY = 2000  # bytes of a key, and of what else an entry takes

_session_caches = Caches()


@cache
def worked_for_all() -> Cache:
    return Cache(OF_ALL, size=size)


def lesson_cache() -> Cache:
    """A session's own cache, for results about its uploads and for messages to its browser."""
    return _session_caches.add(Cache(OF_ONE, size=size))


def worked_out(picture: Picture, setup: Setup, own_cache: Cache, what: Hashable, make: Callable[[], Any]) -> Any:
    """Gives `make()`, computed once: a sample's for everybody, an upload's in the session's own cache."""
    key = (picture.id, setup, what)
    return worked_for_all().get(key, make) if picture.sample else value_of(own_cache, key, make)


def is_worked_out(picture: Picture, setup: Setup, own_cache: Cache, what: Hashable) -> bool:
    return (picture.id, setup, what) in (worked_for_all() if picture.sample else own_cache)


def value_of(own_cache: Cache, key: Hashable, make: Callable[[], Any]) -> Any:
    value = own_cache.get(key, make)
    _session_caches.trim(OWN)
    return value


def size(value: Any) -> int:
    return held(value) + ENTRY


def held(value: Any) -> int:
    """The bytes of a value: numbers, text, arrays, images and containers of them. Raises for anything else, which is
    not cached."""
    if isinstance(value, bytes | str | int | float | np.generic | None):
        return sys.getsizeof(value)
    if isinstance(value, dict):
        return sys.getsizeof(value) + held([*value.keys(), *value.values()])
    if isinstance(value, list | tuple):
        return sys.getsizeof(value) + sum(map(held, value))
    if isinstance(value, np.ndarray):  # a slice keeps all that it was cut from
        return max(value.nbytes, 0 if value.base is None else held(value.base))
    if isinstance(value, Image.Image):
        return 4 * value.width * value.height  # Pillow takes four for red, green and blue
    if hasattr(value, "untyped_storage"):  # a tensor; torch is not imported only to ask that
        return value.untyped_storage().nbytes()
    if is_dataclass(value):
        return held(vars(value))
    raise TypeError(f"how many bytes a {type(value).__name__} holds is not known: teach it to held")
