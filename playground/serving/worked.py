"""Caches the results of lessons, with one limit for all sessions. A result may be dropped at any time, because it is
computed again on demand. A person's choices and guesses are not kept here but in the session's state.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from PIL import Image

from playground.serving import app
from playground.serving.cache import MB, Cache, Caches
from playground.serving.pictures import Picture
from playground.serving.traces import Setup

# most bytes of results about samples, shared by everybody; deploy/README.md relies on this number
SHARED_BYTES = 60 * MB
ALL_OWN_BYTES = 40 * MB  # most bytes of all sessions' own caches together; deploy/README.md relies on this number
ONE_OWN_BYTES = 16 * MB  # most bytes of one session's own cache
ENTRY_BYTES = 2000  # estimated bytes that an entry takes besides its value


@app.part
def session_caches() -> Caches:
    return Caches()


@app.part
def shared_results() -> Cache:
    return Cache(SHARED_BYTES, size=size)


def lesson_cache() -> Cache:
    """A session's own cache, for results about its uploads and for messages to its browser."""
    return session_caches().add(Cache(ONE_OWN_BYTES, size=size))


def cached_result(
    picture: Picture, setup: Setup, own_cache: Cache, result_key: Hashable, make: Callable[[], Any]
) -> Any:
    """Returns `make()`, which the shared cache keeps for a sample, and the session's own cache for an upload."""
    key = (picture.id, setup, result_key)
    return shared_results().get(key, make) if picture.is_sample else cached_value(own_cache, key, make)


def has_result(picture: Picture, setup: Setup, own_cache: Cache, result_key: Hashable) -> bool:
    return (picture.id, setup, result_key) in (shared_results() if picture.is_sample else own_cache)


def cached_value(own_cache: Cache, key: Hashable, make: Callable[[], Any]) -> Any:
    value = own_cache.get(key, make)
    session_caches().trim(ALL_OWN_BYTES)
    return value


def size(value: Any) -> int:
    return bytes_of(value) + ENTRY_BYTES


def bytes_of(value: Any) -> int:
    """The bytes of a value: of numbers, texts, arrays, images and containers of these. Raises for any other type,
    because a value of unknown size must not be cached."""
    if isinstance(value, bytes | str | int | float | np.generic | None):
        return sys.getsizeof(value)
    if isinstance(value, dict):
        return sys.getsizeof(value) + bytes_of([*value.keys(), *value.values()])
    if isinstance(value, list | tuple):
        return sys.getsizeof(value) + sum(map(bytes_of, value))
    if isinstance(value, np.ndarray):  # a slice keeps its whole array
        return max(value.nbytes, 0 if value.base is None else bytes_of(value.base))
    if isinstance(value, Image.Image):
        return 4 * value.width * value.height  # Pillow takes four bytes a pixel
    if hasattr(value, "untyped_storage"):  # a tensor, recognised without importing torch
        return value.untyped_storage().nbytes()
    if is_dataclass(value):
        return bytes_of(vars(value))
    raise TypeError(f"how many bytes a {type(value).__name__} holds is not known: teach it to bytes_of")
