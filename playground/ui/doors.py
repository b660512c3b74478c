"""What stands around Streamlit's server: headers of every answer, what is nobody's business, and a quick end."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.serving import settings
from playground.ui import streamlit_private

# Nothing is loaded from, sent to, or framed by another host; deploy/README.md says what each word is for.
POLICY = (
    "default-src 'none'; "
    "script-src 'self' blob: 'wasm-unsafe-eval' 'sha256-THxz9J9+wf7rhwR2YkXJoSZ13UCmYyC+3lNDv2+8ugA='; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
NOBODYS_BUSINESS = "/_stcore/metrics"  # how much the server does
LAST_SECONDS = 3  # from the signal to the end
PIECE_SECONDS, UPLOAD_SECONDS = 15.0, 120.0  # until the next piece of an upload comes, and until all of it is there
UPLOADS = 6  # on their way at the same time; each lies in /tmp meanwhile, with 33 MB at most
GONE_EVERY = 60.0  # seconds


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
        self.uploads = asyncio.Semaphore(UPLOADS)
        self.turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # of each session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        closed = scope["path"].rstrip("/").endswith(NOBODYS_BUSINESS)
        app = PlainTextResponse("Not found", status_code=404) if closed else self.app
        if scope["method"] == "PUT":
            return await self._upload(scope, receive, with_headers)
        return await app(scope, receive, with_headers)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        """In its turn, one of a session at a time, and in time: else whoever stalls fills /tmp, and nobody's upload
        arrives any more."""
        session = scope["path"].rpartition("/")[0]
        async with self.turns.setdefault(session, asyncio.Lock()), self.uploads:
            until = time.monotonic() + UPLOAD_SECONDS

            async def in_time() -> Message:
                return await asyncio.wait_for(receive(), min(PIECE_SECONDS, until - time.monotonic()))

            try:
                return await self.app(scope, in_time, send)
            except TimeoutError:
                answer = PlainTextResponse("The upload stalled.", status_code=408, headers={"Connection": "close"})
        return await answer(scope, receive, send)


@asynccontextmanager
async def ends_soon(_) -> AsyncIterator[None]:
    """The server waits for every connection and every thread before it ends; a stalled upload, a hung fetch or a long
    computation would keep it for as long. So the operating system ends it LAST_SECONDS after it was told to: an alarm
    needs none of this process's threads."""
    for number in (signal.SIGTERM, signal.SIGINT):
        _then_alarm(number)
    gone = asyncio.create_task(_forget_the_gone())
    yield
    gone.cancel()


async def _forget_the_gone() -> None:
    while True:
        await asyncio.sleep(GONE_EVERY)
        streamlit_private.forget_the_gone()


def _then_alarm(number: signal.Signals) -> None:
    before = signal.getsignal(number)

    def end(number: int, frame) -> None:
        if hasattr(signal, "alarm"):  # not on Windows
            signal.alarm(LAST_SECONDS)
        if callable(before):
            before(number, frame)

    signal.signal(number, end)
