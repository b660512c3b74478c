"""Uploads on their way. Each lies in memory or in /tmp until all of it has come: whoever stalls must not fill that, or
nobody's upload arrives any more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from weakref import WeakValueDictionary

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.serving.cache import MB

PIECE_SECONDS, UPLOAD_SECONDS = 15.0, 120.0  # until the next piece of one comes, and until all of it is there
MOST = 150 * MB  # of all that are on their way
STEP = 2**18  # bytes; whoever brings them within SLOW_SECONDS is brisk, and bytes that trickle make nobody brisk
SLOW_SECONDS = 4.0
LOOK_AGAIN = 0.1  # seconds, where there was no room


class Uploads:
    """ASGI middleware: lets one upload of each session in at a time, for as long as it keeps coming. Where there is no
    room for the next piece, it waits, and the slowest upload is ended."""

    def __init__(self, app: ASGIApp):
        self.app = app
        self.under_way: set[Delivery] = set()
        self.beyond: Delivery | None = None  # the one that goes on to its end where there is no room
        self._one_beyond = asyncio.Lock()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # of each session

    @property
    def bytes(self) -> int:
        return sum(delivery.bytes for delivery in self.under_way)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "PUT":
            return await self.app(scope, receive, send)
        session = scope["path"].rpartition("/")[0]
        async with self._turns.setdefault(session, asyncio.Lock()):
            try:
                async with asyncio.timeout(UPLOAD_SECONDS) as limit, AsyncExitStack() as last:
                    delivery = Delivery(end=lambda: limit.reschedule(0))
                    self.under_way.add(delivery)
                    last.callback(self.under_way.discard, delivery)
                    return await self.app(scope, partial(self._piece, receive, delivery, last), send)
            except TimeoutError:
                answer = PlainTextResponse("The upload stalled.", status_code=408, headers={"Connection": "close"})
        return await answer(scope, receive, send)

    async def _piece(self, receive: Receive, delivery: Delivery, last: AsyncExitStack) -> Message:
        """All uploads may be waiting half-way: so one after the other goes on to its end, beyond the bound."""
        async with asyncio.timeout(PIECE_SECONDS):  # Python 3.11's wait_for loses a limit that runs out meanwhile
            message = await receive()
        count = len(message.get("body", b""))
        while self.bytes + count > MOST and delivery is not self.beyond:
            delivery.waits = True
            if not self._one_beyond.locked():
                await last.enter_async_context(self._one_beyond)
                self.beyond = delivery
                break
            self._end_the_slowest()
            await asyncio.sleep(LOOK_AGAIN)
        if delivery.waits:
            delivery.waits, delivery.brisk = False, time.monotonic()
        delivery.came(count)
        return message

    def _end_the_slowest(self) -> None:
        coming = (delivery for delivery in self.under_way if not delivery.waits)
        slowest = min(coming, key=lambda delivery: delivery.brisk, default=None)
        if slowest and time.monotonic() - slowest.brisk > SLOW_SECONDS:
            self.under_way.discard(slowest)
            slowest.end()


class Delivery:
    """What has come of one upload; `end` breaks it off."""

    def __init__(self, end: Callable[[], None]):
        self.end = end
        self.bytes = 0
        self.brisk = time.monotonic()  # when the last STEP was complete
        self.waits = False  # for room

    def came(self, count: int) -> None:
        if self.bytes // STEP != (self.bytes + count) // STEP:
            self.brisk = time.monotonic()
        self.bytes += count
