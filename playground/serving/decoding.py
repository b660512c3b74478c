"""The processes that decode what people bring: one at work, and a spare one, so that nobody waits for an interpreter
to start. No file of a stranger is decoded in the server's own process."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress

from PIL import Image

from playground.errors import PlaygroundError
from playground.pictures.decoder import Killed, Worker
from playground.serving import asker

READY = 2

_ready: deque[Worker] = deque()
_lock = threading.Lock()


def decoded(data: bytes, kept: int, side: int) -> Image.Image:
    """Ends when its asker has left. A process that somebody else ended is no fault of the file, which gets another
    one."""
    try:
        return _decoded(data, kept, side)
    except Killed:
        return _decoded(data, kept, side)


def _decoded(data: bytes, kept: int, side: int) -> Image.Image:
    worker = _take()
    try:
        return worker.decoded(data, kept, side, asker.current().stays)
    finally:
        _give_back(worker)


def warm_up() -> None:
    with _lock, suppress(PlaygroundError):  # it is said to whoever brings a picture
        while len(_ready) < READY:
            _ready.append(Worker())


def _take() -> Worker:
    with _lock:
        while _ready:
            worker = _ready.popleft()
            if worker.goes_on():
                return worker
            worker.end()
    return Worker()


def _give_back(worker: Worker) -> None:
    if worker.goes_on():
        with _lock:
            _ready.appendleft(worker)
    else:
        worker.end()
    warm_up()
