"""What stands around Streamlit's server: headers of every answer, what is nobody's business, and a quick end."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from weakref import WeakValueDictionary

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.serving import memory, settings
from playground.serving.arriving import Arriving, Delivery
from playground.serving.cache import MB
from playground.ui import streamlit_private

# Nothing is loaded from, sent to, or framed by another host; deploy/README.md says what each word is for.
POLICY = (
    "default-src 'none'; "
    "script-src 'self' blob: 'wasm-unsafe-eval' 'sha256-THxz9J9+wf7rhwR2YkXJoSZ13UCmYyC+3lNDv2+8ugA='; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
# How much the server does, and parts of Streamlit that no page of ours uses
NOBODYS_BUSINESS = ("/_stcore/metrics", "/_stcore/agent", "/auth/", "/oauth2callback")
LAST_SECONDS = 3  # from the signal to the end
PIECE_SECONDS, UPLOAD_SECONDS = 15.0, 120.0  # until the next piece of an upload comes, and until all of it is there
UPLOADS = 150 * MB  # on their way at the same time; they lie in /tmp meanwhile
SLOW_SECONDS = 4.0  # for a quarter of a megabyte: whoever takes longer goes first when there is no room
LOOK_AGAIN = 0.1  # seconds, where there was no room
SOCKETS = 400  # open at the same time; each is a session, and holds about a megabyte
MESSAGES = 20  # of one socket, at once
MESSAGES_A_SECOND = {"quiet": 10.0, "busy": 1.0}  # after those: who drags a slider says five
BUSY = 0.5  # of a core's time
UNREAD_SECONDS = 10.0  # a slow line still has what was sent before: so long waits the next message
GONE_EVERY = 60.0  # seconds
FILES = 65536  # that the process may have open


def headers() -> dict[str, str]:
    return {
        "Content-Security-Policy": " ".join((POLICY, *settings.now().framed_by)),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }


class Doors:
    """ASGI middleware: between the network and Streamlit."""

    def __init__(self, app: ASGIApp):
        self.app = app
        self.headers = headers()
        self.uploads = Arriving(UPLOADS)
        self.sockets, self.busy = 0, Busy()
        self.one, self.goes_on = asyncio.Lock(), None  # the upload that may go on where there is no room
        self.turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # of each session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            return await self._socket(scope, receive, send)
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        closed = any(part in f"{scope['path']}/" for part in NOBODYS_BUSINESS)
        app = PlainTextResponse("Not found", status_code=404) if closed else self.app
        if scope["method"] == "PUT":
            return await self._upload(scope, receive, with_headers)
        return await app(scope, receive, with_headers)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.sockets >= SOCKETS:  # the page tries again by itself
            return await send({"type": "websocket.close", "code": 1013})
        self.sockets += 1
        try:
            return await Talk(receive, send, self.busy).to(self.app, scope)
        finally:
            self.sockets -= 1

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One of a session at a time, in time, and as long as there is room: else whoever stalls fills /tmp, and
        nobody's upload arrives any more."""
        session = scope["path"].rpartition("/")[0]
        async with self.turns.setdefault(session, asyncio.Lock()):
            try:
                async with asyncio.timeout(UPLOAD_SECONDS) as limit, AsyncExitStack() as last:
                    delivery = self.uploads.begin(lambda: limit.reschedule(0))
                    last.callback(self.uploads.over, delivery)
                    return await self.app(scope, partial(self._piece, receive, delivery, last), send)
            except TimeoutError:
                answer = PlainTextResponse("The upload stalled.", status_code=408, headers={"Connection": "close"})
        return await answer(scope, receive, send)

    async def _piece(self, receive: Receive, delivery: Delivery, last: AsyncExitStack) -> Message:
        """Where there is no room, one upload after the other goes on beyond the bound to its end, for all of them may
        be waiting half-way."""
        message = await asyncio.wait_for(receive(), PIECE_SECONDS)
        count = len(message.get("body", b""))
        while not (self.uploads.has_room(count) or delivery is self.goes_on):
            delivery.waits = True
            if not self.one.locked():
                await last.enter_async_context(self.one)
                self.goes_on = delivery
                break
            slowest = self.uploads.slowest()
            if slowest and time.monotonic() - slowest.brisk > SLOW_SECONDS:
                self.uploads.over(slowest)
                slowest.end()
            await asyncio.sleep(LOOK_AGAIN)
        if delivery.waits:
            delivery.waits, delivery.brisk = False, time.monotonic()
        delivery.came(count)
        return message


class Busy:
    """Whether this process computes, as of half a second ago."""

    def __init__(self) -> None:
        self._at, self._spent, self._share = time.monotonic(), time.process_time(), 0.0

    def now(self) -> str:
        now, spent = time.monotonic(), time.process_time()
        if now - self._at > 0.5:
            self._share = (spent - self._spent) / (now - self._at)
            self._at, self._spent = now, spent
        return "busy" if self._share > BUSY else "quiet"


class Talk:
    """The messages of one socket. A browser sends few, and reads what it is sent; who sends them without a pause, or
    reads nothing, is heard more slowly where the server has enough to do, or not until they have read."""

    def __init__(self, receive: Receive, send: Send, server: Busy):
        self._receive, self._send, self._server = receive, send, server
        self._left, self._at = float(MESSAGES), time.monotonic()
        self._read = asyncio.Event()  # what was sent to them
        self._read.set()

    async def to(self, app: ASGIApp, scope: Scope) -> None:
        await app(scope, self.receive, self.send)

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "websocket.receive":
            with suppress(TimeoutError):
                await asyncio.wait_for(self._read.wait(), UNREAD_SECONDS)
            now, a_second = time.monotonic(), MESSAGES_A_SECOND[self._server.now()]
            self._left = min(MESSAGES, self._left + (now - self._at) * a_second) - 1
            self._at = now
            if self._left < 0:
                await asyncio.sleep(-self._left / a_second)
        return message

    async def send(self, message: Message) -> None:
        self._read.clear()
        try:
            await self._send(message)  # which waits until there is room for it on the line
        finally:
            self._read.set()


@asynccontextmanager
async def ends_soon(_) -> AsyncIterator[None]:
    """The server waits for every connection and every thread before it ends; a stalled upload, a hung fetch or a long
    computation would keep it for as long. So the operating system ends it LAST_SECONDS after it was told to: an alarm
    needs none of this process's threads."""
    for number in (signal.SIGTERM, signal.SIGINT):
        _then_alarm(number)
    _open_more_files()
    gone = asyncio.create_task(_forget_the_gone())
    yield
    gone.cancel()


def _open_more_files() -> None:
    """Each session takes four: of the 1,024 that a process is given to begin with, a class of 300 needs more."""
    with suppress(ImportError, ValueError, OSError):  # not on Windows; not everywhere allowed
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def _forget_the_gone() -> None:
    while True:
        await asyncio.sleep(GONE_EVERY)
        streamlit_private.forget_the_gone()
        await asyncio.to_thread(memory.trim)


def _then_alarm(number: signal.Signals) -> None:
    before = signal.getsignal(number)

    def end(number: int, frame) -> None:
        if hasattr(signal, "alarm"):  # not on Windows
            signal.alarm(LAST_SECONDS)
        if callable(before):
            before(number, frame)

    signal.signal(number, end)
