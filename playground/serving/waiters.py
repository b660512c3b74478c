"""Who waits for which model: each person for one at a time. Who does not ask about it for five seconds has left."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from playground.errors import PlaygroundError
from playground.serving import fetching, models
from playground.serving.admission import BOUNDS, refused
from playground.serving.fetching import Fetching

STILL_WAITS = 5.0  # seconds


@dataclass
class Waiter:
    name: str  # of the model
    network: str
    coming: Fetching
    asked: float  # when the person last asked about it


_waiters: dict[str, Waiter] = {}  # key of the person -> what they wait for
_lock = threading.Lock()
_clock = time.monotonic


def begin(key: str, name: str, network: str = "") -> Fetching:
    """The model that this person waited for until now is left."""
    with _lock:
        held = _waiters.get(key)
        if held and held.name == name and not held.coming.over:
            held.asked = _clock()
            return held.coming
        others = {one.name: one.network for who, one in _waiters.items() if who != key and not one.coming.over}
        bound, theirs = BOUNDS["models"], list(others.values()).count(network)
        if name not in others and (len(others) >= bound.everybody or (network and theirs >= bound.network)):
            refused["models"] += 1
            raise PlaygroundError(
                f"{len(others)} models are on their way to this server already: try again when one of them is here."
            )
        if held:
            _leave(key)
        coming = fetching.begin(*models.coming_with(name))
        alone = not _waiters
        _waiters[key] = Waiter(name, network, coming, _clock())
        if alone:
            threading.Thread(target=_watch, name="waiters", daemon=True).start()
    return coming


def asks(key: str | None, name: str) -> Fetching | None:
    """How far the model is that this person waits for; None where they don't wait for it, or were taken for gone."""
    with _lock:
        held = _waiters.get(key) if key else None
        if held is None or held.name != name:
            return None
        held.asked = _clock()
        return held.coming


def leave(key: str, name: str) -> None:
    with _lock:
        held = _waiters.get(key)
        if held and held.name == name:
            _leave(key)


def _leave(key: str) -> None:
    _waiters.pop(key).coming.leave()


def _watch() -> None:
    """Until nobody waits any more."""
    while _drop_silent():
        time.sleep(STILL_WAITS / 5)


def _drop_silent() -> int:
    """Gives how many are left."""
    with _lock:
        for key in [key for key, held in _waiters.items() if _clock() - held.asked > STILL_WAITS]:
            _leave(key)
        return len(_waiters)
