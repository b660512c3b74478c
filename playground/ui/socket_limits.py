"""The door: who may open a page, who may have one run, and what is heard of whom. The bounds are in
serving/admission.py."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.serving import admission, answering, people
from playground.serving.admission import Place
from playground.serving.answering import said as refusal
from playground.serving.asker import Who
from playground.serving.hosts import path_of
from playground.serving.lateness import Turn
from playground.serving.scripts import FIXED
from playground.ui.pages import PAGES
from playground.ui.streamlit_private import FINISHED, RERUN, said, told

MESSAGES, MESSAGES_A_SECOND = 20, 10.0  # of one socket, at once and after those: who drags a slider says five
UNREAD_SECONDS = 10.0  # a slow line still has what was sent before: so long waits the next message
NO_MESSAGE = 1002  # the code of a socket that is closed: what it says is no message of Streamlit's
TRY_AGAIN, FOREIGN = 1013, 1008
SHORT = 1000  # bytes: what ends a run has few

FULL = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="10"><meta name="color-scheme" content="light dark">
<title>Full, trying again</title></head>
<body style="font: 1.1rem/1.5 system-ui; max-width: 34rem; margin: 20vh auto; padding: 0 1rem">
<h1 style="font-size: 1.4rem">Full, trying again</h1>
<p>So many people look at the Attention Playground that there is no room for one more. This page tries again every ten
seconds, and opens as soon as somebody leaves.</p></body></html>
"""


class Sockets:
    """ASGI middleware: lets so many in, and hears each at its pace."""

    def __init__(self, app: ASGIApp):
        self.app = app
        self.places = admission.sockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers, asking = Headers(scope=scope), people.who(scope)
        with admission.turns.holding(asking) as trouble:
            key = asking.person if self.places.is_open_for(asking) else None
            turn = None if trouble else await admission.answers.take(asking.address, key)
        if turn is None:
            return await _refuse(trouble, scope, receive, send)
        try:
            if scope["type"] == "http":
                return await self._request(asking, headers, scope, receive, send)
        finally:
            # Work for those who have no page open: their turn lasts its whole time, or they would keep the loop busy
            if key or is_fixed(scope) or not admission.lag.is_late():
                admission.answers.end(turn)
        if is_foreign(headers):
            admission.refused["foreign pages"] += 1
            return await send({"type": "websocket.close", "code": FOREIGN})
        await self._socket(asking.address, scope, receive, send)

    async def _request(self, asking: Who, headers: Headers, scope: Scope, receive: Receive, send: Send) -> None:
        if asking.person:
            self.places.asks(headers.get("x-playground-run", ""), asking.person)
        if _is_page(scope) and not self.places.has_room(asking.address):
            admission.refused["pages"] += 1
            full = HTMLResponse(FULL, 503, {"Retry-After": "10", "Cache-Control": "no-store"})
            return await full(scope, receive, send)
        await self.app(scope, receive, send)

    async def _socket(self, home: str, scope: Scope, receive: Receive, send: Send) -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        place = self.places.enter(home, lambda: loop.call_soon_threadsafe(task.cancel))
        if place is None:  # the page tries again by itself
            return await send({"type": "websocket.close", "code": TRY_AGAIN})
        silent = loop.call_later(admission.NEW, self._close_silent, place)
        talk = Talk(receive, send, place)
        try:
            await self.app(scope, talk.receive, talk.send)
        except asyncio.CancelledError:
            if not place.over:
                raise
            task.uncancel()
            with suppress(Exception):  # the browser may have gone at the same time
                await send({"type": "websocket.close", "code": TRY_AGAIN})
        finally:
            silent.cancel()
            talk.end()
            # Its run may go on. The turn ends by itself, or coming and going would cost nothing.
            self.places.leave(place)

    def _close_silent(self, place: Place) -> None:
        if not place.asked_for_page:
            self.places.close(place)


async def _refuse(trouble: str, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        return await refusal(answering.FULL[trouble], 503)(scope, receive, send)
    await send({"type": "websocket.close", "code": TRY_AGAIN})


def _is_page(scope: Scope) -> bool:
    name = path_of(scope).strip("/")
    return scope["method"] == "GET" and (not name or name in PAGES)


def is_fixed(scope: Scope) -> bool:
    """Whether this request fetches a file that every page loads, such as a script: one page loads dozens."""
    path = path_of(scope)
    return scope["type"] == "http" and (not path.startswith(("/api/", "/figure")) or bool(FIXED.fullmatch(path)))


def is_foreign(headers: Headers) -> bool:
    """Whether a page of another host or port asks. Streamlit lets in every page of this machine, whatever its port."""
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host", "")


class Talk:
    """One socket's messages: those that our pages need. Those of somebody who sends them without a pause come more
    slowly, and those of somebody who reads nothing come after they have read."""

    def __init__(self, receive: Receive, send: Send, place: Place):
        self._receive, self._send, self._place = receive, send, place
        self._run: Turn | None = None
        self._heard: deque[Message] = deque()  # while a run waited for its turn
        self._coming: asyncio.Future[Message] | None = None
        self._left, self._at = float(MESSAGES), time.monotonic()
        self._read = asyncio.Event()  # what was sent to them
        self._read.set()

    async def receive(self) -> Message:
        while True:
            message = await self._next()
            if message["type"] != "websocket.receive":
                return message
            await self._slowly()
            try:
                kind = said(message.get("bytes") or b"")
            except ValueError:
                await self._send({"type": "websocket.close", "code": NO_MESSAGE})
                return {"type": "websocket.disconnect", "code": NO_MESSAGE}
            if kind == RERUN:
                self._place.asked_for_page, self._place.asked = True, admission.sockets.clock()
                if not await self._begin_run():
                    return self._heard.pop()
            if kind:
                return message

    async def _next(self) -> Message:
        if self._heard:
            return self._heard.popleft()
        coming, self._coming = self._coming, None
        return await (coming or self._receive())

    async def _begin_run(self) -> bool:
        """False where they left before its turn came: nobody stands behind one who has gone."""
        turn = asyncio.ensure_future(admission.runs.take(self._place.network, self._place.key or None))
        try:
            while not turn.done() and len(self._heard) < MESSAGES:
                self._coming = self._coming or asyncio.ensure_future(self._receive())
                await asyncio.wait((turn, self._coming), return_when=asyncio.FIRST_COMPLETED)
                if self._coming.done():
                    self._heard.append(self._coming.result())
                    self._coming = None
                    if self._heard[-1]["type"] != "websocket.receive":
                        if turn.done():
                            admission.runs.end(turn.result())
                        return False
            before, self._run = self._run, await turn
        finally:
            turn.cancel()  # where it has not come
        if before:
            admission.runs.end(before)
        return True

    def end(self) -> None:
        if self._coming:
            self._coming.cancel()

    async def _slowly(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(UNREAD_SECONDS):
                await self._read.wait()
        now = time.monotonic()
        self._left = min(MESSAGES, self._left + (now - self._at) * MESSAGES_A_SECOND) - 1
        self._at = now
        if self._left < 0:
            await asyncio.sleep(-self._left / MESSAGES_A_SECOND)

    async def send(self, message: Message) -> None:
        data = message.get("bytes") or b""
        if data and (len(data) < SHORT or not self._place.session):
            kind, session = told(data)
            self._place.session = session or self._place.session
            if kind == FINISHED and self._run:
                admission.runs.end(self._run)
        self._read.clear()
        try:
            await self._send(message)  # which waits until there is room for it on the line
        finally:
            self._read.set()
