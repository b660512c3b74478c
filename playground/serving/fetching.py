"""Models on their way to this machine: each at most once at a time, in a thread of its own, whoever asks for it.

A page looks at a Fetching again and again and goes on showing what it has. Who leaves it does not stop it as long as
somebody else waits for it.
"""

from __future__ import annotations

import logging
import threading

from playground.errors import PlaygroundError
from playground.serving import models

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
        fetching = self

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
                fetching.bytes, fetching.total = int(self.n), int(self.total or 0)
                if fetching.waiting == 0:
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
        fetching = _under_way.get(names)
        new = fetching is None or fetching.waiting == 0
        if new:
            fetching = _under_way[names] = Fetching(*names)
        fetching.waiting += 1
    if new:
        threading.Thread(target=fetching._work, name="fetching", daemon=True).start()
    return fetching
