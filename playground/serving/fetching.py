"""Models on their way to this machine, and who waits for which.

Each comes at most once at a time, in a thread of its own, whoever asks for it. A page looks at a Fetching again and
again and goes on showing what it has. Who leaves it does not stop it as long as somebody else waits for it.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass

from playground.errors import PlaygroundError
from playground.serving import models
from playground.serving.ledger import MODELS, refused

log = logging.getLogger("playground")
_under_way: dict[tuple[str, ...], Fetching] = {}
_lock = threading.Lock()


class Left(Exception):
    """Nobody waits for it any more."""


class Fetching:
    def __init__(self, *names: str):
        self.names = names
        self.bytes = self.total = 0  # of the file that is coming now
        self.arrived = False  # all are on this machine, and are being loaded
        self.over = False
        self.trouble: str | None = None
        self.waiting = 0  # people

    def _work(self) -> None:
        try:
            for name in self.names:
                models.fetch(name, self._report())
            self.arrived = True
            models.load(self.names[0])
        except PlaygroundError as error:
            self.trouble = str(error)
        except Exception:  # whatever the hub, pip or a weights file can do: a page waits for an answer
            if self.waiting:
                log.exception("fetching %s", self.names)
                self.trouble = f"{self.names[0]} could not be fetched; the server's log says why."
        finally:
            with _lock:
                self.over = True
                _under_way.pop(self.names, None)

    def _report(self) -> type:
        """A class like tqdm's that writes into this object."""
        coming = self

        class Report:
            def __init__(self, *_, total: float | None = None, initial: float = 0, **__):
                self.n, self.total = initial, total or 0
                self.update(0)

            def __enter__(self) -> Report:
                return self

            def __exit__(self, *_) -> None:
                pass

            def update(self, n: float | None = 1) -> None:
                self.n += n or 0
                coming.bytes, coming.total = int(self.n), int(self.total or 0)
                if coming.waiting == 0:
                    raise Left

            def __getattr__(self, _):  # set_description and whatever else a bar can do
                return lambda *_, **__: None

        return Report

    def leave(self) -> None:
        with _lock:
            self.waiting = max(0, self.waiting - 1)


def begin(*names: str) -> Fetching:
    """The first one is loaded when it is here."""
    with _lock:
        coming = _under_way.get(names)
        new = coming is None or coming.waiting == 0
        if new:
            coming = _under_way[names] = Fetching(*names)
        coming.waiting += 1
    if new:
        threading.Thread(target=coming._work, name="fetching", daemon=True).start()
    return coming


# Who waits for which model: each person for one at a time. Who does not ask about it for five seconds has left.


STILL_WAITS = 5.0  # seconds


@dataclass
class Waiter:
    name: str  # of the model
    network: str
    coming: Fetching
    asked: float  # when the person last asked about it


_waiters: dict[str, Waiter] = {}  # key of the person -> what they wait for
_waiting = threading.Lock()
_clock = time.monotonic


def wait_for(key: str, name: str, network: str = "") -> Fetching:
    """The model that this person waited for until now is left."""
    with _waiting:
        held = _waiters.get(key)
        if held and held.name == name and not held.coming.over:
            held.asked = _clock()
            return held.coming
        others = {one.name: one.network for who, one in _waiters.items() if who != key and not one.coming.over}
        theirs = list(others.values()).count(network)
        if name not in others and (len(others) >= MODELS or (network and theirs >= MODELS - 1)):
            refused["models"] += 1
            raise PlaygroundError(
                f"{len(others)} models are on their way to this server already: try again when one of them is here."
            )
        if held:
            _leave(key)
        coming = begin(*models.coming_with(name))
        alone = not _waiters
        _waiters[key] = Waiter(name, network, coming, _clock())
        if alone:
            threading.Thread(target=_watch, name="waiters", daemon=True).start()
    return coming


def asks(key: str | None, name: str) -> Fetching | None:
    """How far the model is that this person waits for; None where they don't wait for it, or were taken for gone."""
    with _waiting:
        held = _waiters.get(key) if key else None
        if held is None or held.name != name:
            return None
        held.asked = _clock()
        return held.coming


def leave(key: str, name: str) -> None:
    with _waiting:
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
    with _waiting:
        for key in [key for key, held in _waiters.items() if _clock() - held.asked > STILL_WAITS]:
            _leave(key)
        return len(_waiters)
