"""What `load` gave, and whether it still is that: a model may be trained, or filled with other weights, afterwards."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

from playground.models.given import Given
from playground.vit import State, VisionTransformer


class Asked(NamedTuple):
    """How a command loads a model again."""

    model: str
    weights: str | None
    given: Given


_loaded: WeakKeyDictionary[VisionTransformer, tuple[State, Asked | None]] = WeakKeyDictionary()


def remember(vit: VisionTransformer, asked: Asked | None) -> None:
    _loaded[vit] = vit.state(), asked


def asked(vit: VisionTransformer | None) -> Asked | None:
    """How a command loads it again, if one does."""
    return None if vit is None or vit not in _loaded or is_changed(vit, vit.state()) else _loaded[vit][1]


def is_changed(vit: VisionTransformer, then: State) -> bool:
    """Whether it was no longer what `load` gave when its state was this one; () is not known."""
    return vit in _loaded and then not in ((), _loaded[vit][0])
