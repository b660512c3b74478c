"""Answers a request in a thread, on behalf of the person who asks, and only while that person waits.

After TICKET_AFTER seconds in the queue the answer is a 202 with a ticket and the number of people who come first. The
browser asks again with that ticket until the answer is ready. If no browser asks for a ticket any more, the ticket is
dropped and its work ends. A ticket belongs to one person, method and address, and no cache may keep what it is redeemed
for: otherwise an answer could be kept under an address at which it was not asked.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from _thread import start_new_thread
from collections.abc import Callable
from concurrent.futures import Future
from functools import wraps
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from playground.errors import Busy, PlaygroundError
from playground.serving import ledger, people, queue
from playground.serving.hosts import is_foreign

TICKET_AFTER = 0.3  # seconds until a waiting browser is told the number of people who come first
ASK_AGAIN_MS = 400  # milliseconds until the browser asks again
PATIENCE = 5.0  # seconds without a further request, after which a browser counts as gone
FULL_SENTENCES = {  # result of Room.trouble (ledger.py) -> the sentence for the person
    "key": "Too many of your questions wait already: wait for an answer, then ask again.",
    "network": "Too many people of your network ask at the same moment: try again.",
    "everybody": "Too many people ask at the same moment: try again.",
}
BROWSER_LEFT = 499  # the HTTP status if the browser has closed the connection

log = logging.getLogger("playground")
_waiting_jobs: dict[str, Job] = {}  # ticket -> its job
_open_jobs: set[Job] = set()


class Refused(PlaygroundError):
    """Refuses a request with a sentence, an HTTP status and further JSON fields for the browser."""

    def __init__(self, sentence: str, status: int = 400, **fields: object):
        super().__init__(sentence)
        self.status = status
        self.fields = fields


class Job:
    """A piece of work and the person who waits for it. Implements the protocol Asker of queue.py."""

    def __init__(self, visitor: ledger.Visitor, question: tuple[str, str, bytes]):
        self._visitor, self.question = visitor, question
        self.ticket = secrets.token_urlsafe(12)
        self.ahead = 0  # the number of people who come first
        self.sentences: list[str] = []
        self.asked_at = time.monotonic()
        self.has_left = False
        self.future: Future[Response] = Future()

    def visitor(self) -> ledger.Visitor:
        return self._visitor

    def raise_if_left(self) -> None:
        if self.has_left or time.monotonic() - self.asked_at > PATIENCE:
            raise queue.Left("Who asked for this has left.")

    def waits(self, ahead: int) -> None:
        self.ahead = ahead
        self.raise_if_left()

    def hears(self, sentence: str) -> None:
        self.sentences.append(sentence)

    def begin(self, work: Callable[[], Response]) -> None:
        """Runs `work` in a new thread. No pool keeps idle threads, because torch keeps megabytes for each living
        thread."""

        def run() -> None:
            start_time = time.thread_time()
            with queue.working_for(self):
                response = _response_of(self, work)
            seconds_spent = ledger.REQUEST_SECONDS + time.thread_time() - start_time
            try:
                ledger.costs.charge(
                    ledger.present.account(self._visitor),
                    seconds_spent + ledger.SECONDS_PER_BYTE * _body_bytes(response),
                    "answers",
                )
            finally:
                self.future.set_result(response)

        _open_jobs.add(self)
        self.future.add_done_callback(self._ends)
        try:
            start_new_thread(run, ())  # Thread.start would block the event loop until `run` begins
        except RuntimeError:  # the machine gives no more threads
            self.future.set_result(sentence_response(FULL_SENTENCES["everybody"], 503))

    def _ends(self, _) -> None:
        _open_jobs.discard(self)
        ledger.requests.give_back(self._visitor)


async def answer(request: Request, work: Callable[[], Response]) -> Response:
    """Runs `work` in a thread and returns its response. A PlaygroundError is answered with its sentence."""
    drop_tickets()
    asker, question = visitor(request), (request.method, request.scope["path"], request.scope["query_string"])
    job = _waiting_jobs.get(request.headers.get("x-playground-ticket", ""))
    has_ticket = job is not None and (job.visitor(), job.question) == (asker, question)
    if job is None or not has_ticket:
        if trouble := ledger.requests.take(asker):
            return sentence_response(FULL_SENTENCES[trouble], 503)
        job = Job(asker, question)
        job.begin(work)
    else:
        del _waiting_jobs[job.ticket]
    future = asyncio.wrap_future(job.future)
    try:
        while True:
            await asyncio.wait([future], timeout=TICKET_AFTER)
            job.asked_at = time.monotonic()
            if future.done():
                response = future.result()
                if has_ticket:
                    response.headers["Cache-Control"] = "no-store"
                return response
            if job.ahead and people.key_of(request):  # an <img> sends no key and no ticket: it waits on
                _waiting_jobs[job.ticket] = job
                return JSONResponse(
                    {"before": job.ahead, "again": ASK_AGAIN_MS}, 202,
                    headers={"X-Playground-Ticket": job.ticket, "Cache-Control": "no-store"},
                )  # fmt: skip
            if await request.is_disconnected():
                job.has_left = True
                return Response(status_code=BROWSER_LEFT)
    except asyncio.CancelledError:
        job.has_left = True
        raise


def _body_bytes(response: Response) -> int:
    return int(response.headers.get("content-length", 0))


def drop_tickets() -> None:
    """Drops work whose answer nobody has asked for within PATIENCE seconds."""
    now = time.monotonic()
    for ticket, job in list(_waiting_jobs.items()):
        if now - job.asked_at > PATIENCE:
            job.has_left = True
            _waiting_jobs.pop(ticket, None)


def _response_of(job: Job, work: Callable[[], Response]) -> Response:
    """Runs `work` and returns its answer, or the error as a status and a sentence."""
    try:
        job.raise_if_left()
        response = work()
    except queue.Left:
        return Response(status_code=BROWSER_LEFT)
    except Refused as refused:
        return sentence_response(str(refused), refused.status, **refused.fields)
    except PlaygroundError as error:
        return sentence_response(str(error), 503 if isinstance(error, Busy) else 400)
    except Exception:
        log.exception("a request could not be answered")
        return sentence_response("Something went wrong on the server; its log says what.", 500)
    if job.sentences:
        response.headers.update({"X-Playground-Says": quote(" ".join(job.sentences)), "Cache-Control": "no-store"})
    return response


def sentence_response(sentence: str, status: int, **fields: object) -> Response:
    return JSONResponse({"says": sentence, **fields}, status, headers={"Cache-Control": "no-store"})


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
