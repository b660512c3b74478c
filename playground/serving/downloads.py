"""Downloads models. One thread fetches a model for all people who wait for it. Their pages ask for the progress again
and again; the thread stops when nobody has asked for PATIENCE seconds. A person waits for one model at a time."""

from __future__ import annotations

import logging
import threading
import time
from contextvars import copy_context

from playground.errors import PlaygroundError
from playground.serving import app, models
from playground.serving.ledger import MOST_DOWNLOADS, Holdings, refusals

PATIENCE = 5.0  # seconds

log = logging.getLogger("playground")
clock = time.monotonic


class Left(Exception):
    """Stops a download: nobody waits for it any more."""


class Download:
    def __init__(self, name: str):
        self.name = name
        self.bytes = self.total = 0  # bytes that have arrived, and all bytes, of the file that is being fetched
        self.arrived = False  # whether all files are on this machine, so that the model is being loaded
        self.over = False  # whether the model can be shown, or `trouble` says why not
        self.trouble: str | None = None
        self.waiters: dict[str, tuple[str, float]] = {}  # a person's key -> (network, time of the last request)

    @property
    def is_wanted(self) -> bool:
        return any(clock() - asked_at <= PATIENCE for _, asked_at in list(self.waiters.values()))

    def fetch(self) -> None:
        try:
            for name in models.fetched_with(self.name):
                models.fetch(name, self._bar())
            self.arrived = True
            models.load(self.name)
        except PlaygroundError as error:
            self.trouble = str(error)
        except Exception:  # an error of the hub, of pip or of a weights file, or Left
            if self.is_wanted:
                log.exception("fetching %s", self.name)
                self.trouble = f"{self.name} could not be fetched; the server's log says why."
        finally:
            self.over = True

    def _bar(self) -> type:
        """A class like tqdm's progress bar, whose instances write their progress into this Download."""
        download = self

        class Bar:
            def __init__(self, *_, total: float | None = None, initial: float = 0, **__):
                self.n, self.total = initial, total or 0
                self.update(0)

            def __enter__(self) -> Bar:
                return self

            def __exit__(self, *_) -> None:
                pass

            def update(self, n: float | None = 1) -> None:
                self.n += n or 0
                download.bytes, download.total = int(self.n), int(self.total or 0)
                if not download.is_wanted:
                    raise Left

            def __getattr__(self, _):  # set_description and other methods of a bar
                return lambda *_, **__: None

        return Bar


class Downloads:
    def __init__(self) -> None:
        self._downloads: dict[str, Download] = {}  # name of a model -> the latest download of it
        self._lock = threading.Lock()

    def wait_for(self, key: str, name: str, network: str = "") -> Download:
        """Starts or joins a download. This person no longer waits for any other model."""
        with self._lock:
            self._downloads = {each: found for each, found in self._downloads.items() if found.is_wanted}
            download = self._downloads.get(name)
            is_new = download is None or download.over
            if is_new:
                self._check_room(key, network)
            for other in self._downloads.values():
                if other is not download:
                    other.waiters.pop(key, None)
            if is_new:
                download = self._downloads[name] = Download(name)
            download.waiters[key] = (network, clock())
            if is_new:
                run = copy_context().run
                threading.Thread(target=run, args=(download.fetch,), name="fetching", daemon=True).start()
        return download

    def _check_room(self, key: str, network: str) -> None:
        """Raises PlaygroundError if as many models as may be fetched at a time are on their way for other people."""
        holdings, count = Holdings(), 0
        for download in self._downloads.values():
            networks = [] if download.over else [of for waiter, (of, _) in download.waiters.items() if waiter != key]
            if networks:
                holdings.add(networks[-1], 1)
                count += 1
        if count >= MOST_DOWNLOADS or holdings.rank_of(network)[0] >= MOST_DOWNLOADS - 1:
            refusals()["models"] += 1
            raise PlaygroundError(
                f"{count} models are on their way to this server already: try again when one of them is here."
            )

    def of(self, key: str | None, name: str) -> Download | None:
        """The download that this person waits for; None if there is none, or if the person stopped asking long ago."""
        with self._lock:
            download = self._downloads.get(name)
            if download is None or key not in download.waiters or not download.is_wanted:
                return None
            download.waiters[key] = (download.waiters[key][0], clock())
            return download

    def leave(self, key: str, name: str) -> None:
        with self._lock:
            if name in self._downloads:
                self._downloads[name].waiters.pop(key, None)


downloads = app.part(Downloads)
