"""Serves the list of models, and fetches a model on request."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import asdict, dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.errors import PlaygroundError
from playground.models.names import plain_name
from playground.serving import models, people, settings
from playground.serving.answering import Refused, answered, own_pages_only, visitor
from playground.serving.ledger import MOST_DOWNLOADS, Holdings, refusals
from playground.serving.routes_pictures import PRIVATE

LONGEST_SEARCH = 80  # letters


@answered
def model_list(request: Request) -> Response:
    """The models as cards: those on offer, or the results of a search in timm."""
    text = request.query_params.get("search", "").strip()
    is_open = settings.now().open
    if text and not is_open:
        raise Refused("This server offers the models of its list and no others.", 403)
    if len(text) > LONGEST_SEARCH:
        raise PlaygroundError(f"No model is found by {len(text):,} letters: search for a part of its name.")
    cards = models.search(text) if text else models.cards()
    return JSONResponse({"open": is_open, "cards": [asdict(card) for card in cards]}, headers=PRIVATE)


@own_pages_only
@answered
def begin(request: Request) -> Response:
    name = _name(request)
    models.check_name(name)
    if models.is_here(name):
        return _arrived_progress()
    if not models.may_fetch(name):
        raise Refused(f"{plain_name(name)} is not on this machine, and this server fetches nothing.", 403)
    return _progress_of(wait_for(people.key_of(request), name, visitor(request).address))


@answered
def ask(request: Request) -> Response:
    name = _name(request)
    if (download := download_for(people.key_of(request), name)) is None:
        raise Refused(f"{plain_name(name)} is not being fetched for you: ask for it again.", 404)
    return _progress_of(download)


@own_pages_only
@answered
def leave(request: Request) -> Response:
    name = _name(request)
    stop_waiting(people.key_of(request), name)
    return Response(status_code=204)


def _name(request: Request) -> str:
    return request.query_params.get("model", "")[: models.LONGEST_NAME + 1]  # check_name refuses a longer name


def _progress_of(download: Download) -> Response:
    return _progress(download.bytes, download.total, download.arrived, download.over, download.trouble)


def _arrived_progress() -> Response:
    return _progress(0, 0, True, True, None)


def _progress(count: int, total: int, arrived: bool, over: bool, trouble: str | None) -> Response:
    """`arrived`: all bytes are here and the model is loading. `over`: the model can be shown, or `trouble` says why
    not."""
    progress = {"bytes": count, "total": total, "arrived": arrived, "over": over, "trouble": trouble}
    return JSONResponse(progress, headers=PRIVATE)


ROUTES = [
    Route("/api/models", model_list, methods=["GET"]),
    Route("/api/fetching", begin, methods=["POST"]),
    Route("/api/fetching", ask, methods=["GET"]),
    Route("/api/fetching", leave, methods=["DELETE"]),
]


# One thread downloads a model for all people who wait for it. Their pages ask for the progress again and again. The
# download stops when nobody waits for the model any more.

log = logging.getLogger("playground")
_downloads: dict[tuple[str, ...], Download] = {}
_lock = threading.Lock()


class Left(Exception):
    """Stops the download: nobody waits for it any more."""


class Download:
    def __init__(self, *names: str):
        self.names = names
        self.bytes = self.total = 0  # bytes that have arrived, and all bytes, of the file that is being fetched
        self.arrived = False  # whether all files are on this machine, so that the model is being loaded
        self.over = False
        self.trouble: str | None = None
        self.people_waiting = 0

    def _work(self) -> None:
        try:
            for name in self.names:
                models.fetch(name, self._report())
            self.arrived = True
            models.load(self.names[0])
        except PlaygroundError as error:
            self.trouble = str(error)
        except Exception:  # an error of the hub, of pip or of a weights file
            if self.people_waiting:
                log.exception("fetching %s", self.names)
                self.trouble = f"{self.names[0]} could not be fetched; the server's log says why."
        finally:
            with _lock:
                self.over = True
                _downloads.pop(self.names, None)

    def _report(self) -> type:
        """A class like tqdm's progress bar, whose instances write their progress into this Download."""
        download = self

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
                download.bytes, download.total = int(self.n), int(self.total or 0)
                if download.people_waiting == 0:
                    raise Left

            def __getattr__(self, _):  # set_description and other methods of a bar
                return lambda *_, **__: None

        return Report

    def leave(self) -> None:
        with _lock:
            self.people_waiting = max(0, self.people_waiting - 1)


def begin_fetching(*names: str) -> Download:
    """Starts the download of these models, or joins the one in progress. Then the first of the models is loaded."""
    with _lock:
        download = _downloads.get(names)
        is_new = download is None or download.people_waiting == 0
        if is_new:
            download = _downloads[names] = Download(*names)
        download.people_waiting += 1
    if is_new:
        threading.Thread(target=download._work, name="fetching", daemon=True).start()
    return download


# A person waits for one model at a time. A person whose page does not ask for the progress within PATIENCE has left.


PATIENCE = 5.0  # seconds


@dataclass
class Waiter:
    name: str  # the model's name
    network: str
    download: Download
    asked_at: float  # the time of the person's last request about the model


_waiters: dict[str, Waiter] = {}  # a person's key -> the download for which the person waits
_waiters_lock = threading.Lock()
_clock = time.monotonic


def wait_for(key: str, name: str, network: str = "") -> Download:
    """Starts or joins a download. This person no longer waits for any other model."""
    with _waiters_lock:
        waiter = _waiters.get(key)
        if waiter and waiter.name == name and not waiter.download.over:
            waiter.asked_at = _clock()
            return waiter.download
        networks_by_model = {
            waiter.name: waiter.network
            for visitor, waiter in _waiters.items()
            if visitor != key and not waiter.download.over
        }
        holdings = Holdings()
        for network_of_model in networks_by_model.values():
            holdings.add(network_of_model, 1)
        count = len(networks_by_model)
        if name not in networks_by_model and (
            count >= MOST_DOWNLOADS or holdings.rank_of(network)[0] >= MOST_DOWNLOADS - 1
        ):
            refusals["models"] += 1
            raise PlaygroundError(
                f"{count} models are on their way to this server already: try again when one of them is here."
            )
        if waiter:
            _leave(key)
        download = begin_fetching(*models.fetched_with(name))
        is_first = not _waiters
        _waiters[key] = Waiter(name, network, download, _clock())
        if is_first:
            threading.Thread(target=_watch, name="waiters", daemon=True).start()
    return download


def download_for(key: str | None, name: str) -> Download | None:
    """The download that this person waits for; None if there is none, or if the person stopped asking long ago."""
    with _waiters_lock:
        waiter = _waiters.get(key) if key else None
        if waiter is None or waiter.name != name:
            return None
        waiter.asked_at = _clock()
        return waiter.download


def stop_waiting(key: str, name: str) -> None:
    with _waiters_lock:
        waiter = _waiters.get(key)
        if waiter and waiter.name == name:
            _leave(key)


def _leave(key: str) -> None:
    _waiters.pop(key).download.leave()


def _watch() -> None:
    """Drops waiters who stopped asking, again and again until there are no waiters."""
    while _drop_silent():
        time.sleep(PATIENCE / 5)


def _drop_silent() -> int:
    """Drops waiters who stopped asking; returns the number of others."""
    with _waiters_lock:
        for key in [key for key, waiter in _waiters.items() if _clock() - waiter.asked_at > PATIENCE]:
            _leave(key)
        return len(_waiters)
