"""Answers a request in a thread, on behalf of the person who asks, and only while that person waits.

A request is held until its answer is there. After 100 seconds nginx answers 504, and the page asks again. Nothing is
lost by that, because the line is sorted by cost.
"""

from __future__ import annotations

import asyncio
import logging
import time
from _thread import start_new_thread
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import wraps
from hashlib import sha256
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from playground.errors import Busy, PlaygroundError
from playground.serving import ledger, people, queue
from playground.serving.hosts import is_foreign

LOOK_EVERY = 0.3  # seconds between two looks whether the browser has left
FULL_SENTENCES = {  # result of Room.trouble (ledger.py) -> the sentence for the person
    "key": "Too many of your questions wait already: wait for an answer, then ask again.",
    "network": "Too many people of your network ask at the same moment: try again.",
    "everybody": "Too many people ask at the same moment: try again.",
}
BROWSER_LEFT = 499  # the HTTP status if the browser has closed the connection

log = logging.getLogger("playground")


class Refused(PlaygroundError):
    """Refuses a request with a sentence, an HTTP status and further JSON fields for the browser."""

    def __init__(self, sentence: str, status: int = 400, **fields: object):
        super().__init__(sentence)
        self.status = status
        self.fields = fields

    @property
    def response(self) -> Response:
        return sentence_response(str(self), self.status, **self.fields)


def begin(asker: queue.Asker, work: Callable[[], Response]) -> Future[Response]:
    """Runs `work` in a new thread. No pool keeps idle threads, because torch keeps megabytes for each living thread."""
    future: Future[Response] = Future()
    future.add_done_callback(lambda _: ledger.requests().give_back(asker.visitor))

    def run() -> None:
        start_time = time.thread_time()
        with queue.working_for(asker):
            response = _response_of(asker, work)
        seconds_spent = ledger.REQUEST_SECONDS + time.thread_time() - start_time
        seconds_sent = ledger.SECONDS_PER_BYTE * int(response.headers.get("content-length", 0))
        try:
            ledger.costs().charge(ledger.present().account(asker.visitor), seconds_spent + seconds_sent, "answers")
        finally:
            future.set_result(response)

    try:
        start_new_thread(copy_context().run, (run,))  # Thread.start would block the event loop until `run` begins
    except RuntimeError:  # the machine gives no more threads
        future.set_result(sentence_response(FULL_SENTENCES["everybody"], 503))
    return future


async def answer(request: Request, work: Callable[[], Response]) -> Response:
    """Runs `work` in a thread and returns its response. A PlaygroundError is answered with its sentence."""
    asker = queue.Asker(visitor(request))
    if trouble := ledger.requests().take(asker.visitor):
        return sentence_response(FULL_SENTENCES[trouble], 503)
    future = asyncio.wrap_future(begin(asker, work))
    try:
        while not (await asyncio.wait([future], timeout=LOOK_EVERY))[0]:
            if await request.is_disconnected():
                asker.has_left = True
                return Response(status_code=BROWSER_LEFT)
        return future.result()
    except asyncio.CancelledError:
        asker.has_left = True
        raise


def answered(endpoint: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Makes a route of a function that runs in a thread."""

    @wraps(endpoint)
    async def run(request: Request) -> Response:
        return await answer(request, lambda: endpoint(request))

    return run


def _response_of(asker: queue.Asker, work: Callable[[], Response]) -> Response:
    """Runs `work` and returns its answer, or the error as a status and a sentence."""
    try:
        asker.raise_if_left()
        response = work()
    except queue.Left:
        return Response(status_code=BROWSER_LEFT)
    except Refused as refused:
        return refused.response
    except PlaygroundError as error:
        return sentence_response(str(error), 503 if isinstance(error, Busy) else 400)
    except Exception:
        log.exception("a request could not be answered")
        return sentence_response("Something went wrong on the server; its log says what.", 500)
    if asker.sentences:
        response.headers.update({"X-Playground-Says": quote(" ".join(asker.sentences)), "Cache-Control": "no-store"})
    return response


def sentence_response(sentence: str, status: int, **fields: object) -> Response:
    return JSONResponse({"says": sentence, **fields}, status, headers={"Cache-Control": "no-store"})


def unless_known(request: Request, response: Response) -> Response:
    """The response, or a short one if the browser has kept it."""
    tag = f'"{sha256(response.body).hexdigest()[:16]}"'
    headers = {"Cache-Control": "private, no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return response


def visitor(request: Request) -> ledger.Visitor:
    return people.visitor(request.scope)


def own_pages_only(endpoint: Callable) -> Callable:
    """Wraps a route that changes data: refuses requests of other sites' pages and requests without a key."""

    @wraps(endpoint)
    async def guarded(request: Request) -> Response:
        is_cross_site = request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
        if is_cross_site or is_foreign(request.headers):
            return sentence_response("Only this server's own pages may ask that.", 403)
        if people.key_of(request) is None:
            return sentence_response("This needs the key that your browser keeps: reload the page.", 403)
        return await endpoint(request)

    return guarded
