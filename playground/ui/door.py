"""Middleware that decides who may open a page, and which messages pass. serving/ledger.py decides who gets a seat;
nginx limits connections, slow clients and floods (deploy/nginx.conf)."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import ClassVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.serving import ledger, people
from playground.serving.hosts import is_foreign, path_of
from playground.serving.ledger import Seat, Visitor
from playground.ui.pages import MICROSCOPE, PAGES
from playground.ui.streamlit_private import FINISHED, RERUN, is_by_timer, kind_and_session, message_kind

MESSAGES_AT_ONCE = 20  # messages that a socket may send at once
MESSAGES_A_SECOND = 10.0  # messages that it may send per second thereafter; dragging a slider sends five
INVALID_MESSAGE_CODE = 1002  # the close code of a WebSocket that has sent an invalid message
TRY_AGAIN_CODE, FOREIGN_CODE = 1013, 1008
PIECE_BYTES = 2**16  # bytes of an answer that are sent in one piece
SMALL_MESSAGE_BYTES = 1000  # bytes below which a message may be the end of a run; larger messages are not parsed
RUN_WAIT_SECONDS = 0.25  # most seconds that a run waits for the end of the page's former run

FULL_HTML = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="10"><meta name="color-scheme" content="light dark">
<title>Full, trying again</title></head>
<body style="font: 1.1rem/1.5 system-ui; max-width: 34rem; margin: 20vh auto; padding: 0 1rem">
<h1 style="font-size: 1.4rem">Full, trying again</h1>
<p>So many people look at the Attention Playground that there is no room for one more. This page tries again every ten
seconds, and opens as soon as somebody leaves.</p></body></html>
"""


class Door:
    """ASGI middleware that gives each socket a seat, or refuses it."""

    def __init__(self, app: ASGIApp):
        self.app, self.seats = app, ledger.seats

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers, visitor = Headers(scope=scope), people.visitor(scope)
        if scope["type"] == "websocket":
            if is_foreign(headers):
                ledger.refusals["foreign pages"] += 1
                return await send({"type": "websocket.close", "code": FOREIGN_CODE})
            return await self._serve_socket(visitor.address, scope, receive, send)
        if visitor.person:
            self.seats.note_request(
                headers.get("x-playground-run", ""), visitor.person, by_person=path_of(scope) not in PROBE_PATHS
            )
        send_answer = AnswerInPieces(visitor, send).send
        if (page_name := _page_name(scope)) is not None and not self.seats.has_room(visitor.address):
            ledger.refusals["pages"] += 1
            if page_name != MICROSCOPE.name:
                full_page = HTMLResponse(FULL_HTML, 503, {"Retry-After": "10", "Cache-Control": "no-store"})
                return await full_page(scope, receive, send)
            send_answer = _with_full_header(send_answer)
        with suppress(ClientDisconnect):  # the client has left; uvicorn ends the connection
            await self.app(scope, receive, send_answer)

    async def _serve_socket(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        seat = self.seats.enter(address, lambda: loop.call_soon_threadsafe(task.cancel))
        if seat is None:  # the browser's page tries again by itself
            return await send({"type": "websocket.close", "code": TRY_AGAIN_CODE})
        silence_timer = loop.call_later(ledger.NEW_PAGE_SECONDS, self._close_silent, seat)
        talk = Talk(receive, send, seat)
        try:
            await self.app(scope, talk.receive, talk.send)
        except asyncio.CancelledError:
            if not seat.closed:
                raise
            task.uncancel()
            with suppress(Exception):  # the browser may have left at the same time
                await send({"type": "websocket.close", "code": TRY_AGAIN_CODE})
        finally:
            silence_timer.cancel()
            self.seats.leave(seat)

    def _close_silent(self, seat: Seat) -> None:
        if not seat.asked_for_page:
            self.seats.close(seat)


class AnswerInPieces:
    """An answer that is sent piece by piece. The part that a slow reader has not fetched yet takes memory. If the
    memory for answers is full, the oldest answer of the network that holds most is dropped."""

    on_the_way: ClassVar[dict[AnswerInPieces, None]] = {}  # the answers that are being sent, oldest first

    def __init__(self, visitor: Visitor, send: Send):
        self.visitor, self._send = visitor, send
        self._held_bytes, self.is_dropped = 0, False

    async def send(self, message: Message) -> None:
        body, has_more = message.get("body", b""), message.get("more_body", False)
        if len(body) <= PIECE_BYTES:
            return await self._send(message)
        self._find_room(len(body))
        try:
            for start in range(0, len(body), PIECE_BYTES):
                is_last = start + PIECE_BYTES >= len(body)
                piece = {**message, "body": body[start : start + PIECE_BYTES], "more_body": has_more or not is_last}
                await self._send(piece)
                if self.is_dropped:
                    raise ClientDisconnect
        finally:
            self.give_back()

    def _find_room(self, byte_count: int) -> None:
        while refusal := ledger.answers.take(self.visitor, byte_count):
            address = self.visitor.address if refusal == "key" else ledger.answers.holdings.fullest_address()
            oldest_answer = next(
                (candidate for candidate in self.on_the_way if candidate.visitor.address == address), None
            )
            if oldest_answer is None:
                raise ClientDisconnect
            oldest_answer.is_dropped = True
            oldest_answer.give_back()
        self._held_bytes = byte_count
        self.on_the_way[self] = None

    def give_back(self) -> None:
        if self in self.on_the_way:
            del self.on_the_way[self]
            ledger.answers.give_back(self.visitor, self._held_bytes)


PROBE_PATHS = ("/healthz", "/readyz", "/_stcore/health")  # a request for one does not count as a person's


def _page_name(scope: Scope) -> str | None:
    name = path_of(scope).strip("/") or MICROSCOPE.name
    return name if scope["method"] == "GET" and name in PAGES else None


def _with_full_header(send: Send) -> Send:
    """Adds the header X-Playground-Full to a page without a seat. Only the microscope's page may open without one."""

    async def send_with_header(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)["X-Playground-Full"] = "yes"
        await send(message)

    return send_with_header


class Talk:
    """The messages of one socket. Only messages that our own pages send pass, and a flood is slowed down. A request for
    a run waits briefly for the end of the former run."""

    def __init__(self, receive: Receive, send: Send, seat: Seat):
        self._receive, self._send, self._seat = receive, send, seat
        self._messages_left, self._counted_at = float(MESSAGES_AT_ONCE), time.monotonic()
        self._former_run_ended = asyncio.Event()
        self._former_run_ended.set()

    async def receive(self) -> Message:
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return message
            await self._slow_down()
            try:
                kind = message_kind(message.get("bytes") or b"")
            except ValueError:
                await self._send({"type": "websocket.close", "code": INVALID_MESSAGE_CODE})
                return {"type": "websocket.disconnect", "code": INVALID_MESSAGE_CODE}
            if kind == RERUN:
                self._seat.asked_for_page = True
                if not is_by_timer(message["bytes"]):
                    self._seat.used_at = ledger.seats.clock()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._former_run_ended.wait(), RUN_WAIT_SECONDS)
                self._former_run_ended.clear()
            if kind:
                return message

    async def _slow_down(self) -> None:
        now = time.monotonic()
        self._messages_left = (
            min(MESSAGES_AT_ONCE, self._messages_left + (now - self._counted_at) * MESSAGES_A_SECOND) - 1
        )
        self._counted_at = now
        if self._messages_left < 0:
            await asyncio.sleep(-self._messages_left / MESSAGES_A_SECOND)

    async def send(self, message: Message) -> None:
        data = message.get("bytes") or b""
        if data and (len(data) < SMALL_MESSAGE_BYTES or not self._seat.session):
            kind, session = kind_and_session(data)
            self._seat.session = session or self._seat.session
            if kind == FINISHED:
                self._former_run_ended.set()
        if data:
            ledger.costs.charge(ledger.costs.payer(self._seat.visitor()), ledger.SECONDS_PER_BYTE * len(data))
        await self._send(message)
