"""Caches results about pictures: of lessons, figures, heads. A result may be dropped at any time: it is computed again
on demand."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from PIL import Image

from playground.serving import app
from playground.serving.cache import MB, Cache
from playground.serving.pictures import Picture
from playground.serving.traces import Setup

# most bytes of results about samples, and about people's own pictures; deploy/README.md relies on their sum
SHARED_BYTES, OWN_BYTES = 60 * MB, 40 * MB
ENTRY_BYTES = 2000  # estimated bytes that an entry takes besides its value


@app.part
def shared_results() -> Cache:
    return Cache(SHARED_BYTES, size=size)


@app.part
def own_results() -> Cache:
    """The results about people's own pictures, each of which is dropped with its picture."""
    return Cache(OWN_BYTES, size=size)


def results_about(picture: Picture) -> Cache:
    return shared_results() if picture.is_sample else own_results()


def cached_result(picture: Picture, setup: Setup, result_key: Hashable, make: Callable[[], Any]) -> Any:
    return results_about(picture).get((picture.id, setup, result_key), make)


def has_result(picture: Picture, setup: Setup, result_key: Hashable) -> bool:
    return (picture.id, setup, result_key) in results_about(picture)


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
