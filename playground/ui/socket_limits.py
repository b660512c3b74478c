"""What is said over sockets. A browser sends few messages, and reads what it is sent; whoever sends them without a
pause, or reads nothing, must not keep the server from others."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.ui.streamlit_private import is_heard

SOCKETS = 400  # open at the same time; each is a session, and holds about a megabyte
MESSAGES = 20  # of one socket, at once
MESSAGES_A_SECOND = {"quiet": 10.0, "busy": 1.0}  # after those: who drags a slider says five
BUSY = 0.5  # of a core's time
UNREAD_SECONDS = 10.0  # a slow line still has what was sent before: so long waits the next message
NO_MESSAGE = 1002  # the code of a socket that is closed: what it says is no message of Streamlit's


class Sockets:
    """ASGI middleware: lets so many in, and hears each at its pace."""

    def __init__(self, app: ASGIApp):
        self.app = app
        self.open, self.server = 0, Server()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            return await self.app(scope, receive, send)
        if self.open >= SOCKETS:  # the page tries again by itself
            return await send({"type": "websocket.close", "code": 1013})
        self.open += 1
        try:
            talk = Talk(receive, send, self.server)
            return await self.app(scope, talk.receive, talk.send)
        finally:
            self.open -= 1


class Server:
    """This process: whether it computes, as of half a second ago."""

    def __init__(self) -> None:
        self._at, self._spent, self._share = time.monotonic(), time.process_time(), 0.0

    def now(self) -> str:
        now, spent = time.monotonic(), time.process_time()
        if now - self._at > 0.5:
            self._share = (spent - self._spent) / (now - self._at)
            self._at, self._spent = now, spent
        return "busy" if self._share > BUSY else "quiet"


class Talk:
    """One socket's messages: those that our pages need. Where the server has enough to do, those of somebody who sends
    them without a pause come more slowly; and those of somebody who reads nothing come after they have read."""

    def __init__(self, receive: Receive, send: Send, server: Server):
        self._receive, self._send, self._server = receive, send, server
        self._left, self._at = float(MESSAGES), time.monotonic()
        self._read = asyncio.Event()  # what was sent to them
        self._read.set()

    async def receive(self) -> Message:
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return message
            await self._slowly()
            try:
                if is_heard(message.get("bytes") or b""):
                    return message
            except ValueError:
                await self._send({"type": "websocket.close", "code": NO_MESSAGE})
                return {"type": "websocket.disconnect", "code": NO_MESSAGE}

    async def _slowly(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(UNREAD_SECONDS):
                await self._read.wait()
        now, a_second = time.monotonic(), MESSAGES_A_SECOND[self._server.now()]
        self._left = min(MESSAGES, self._left + (now - self._at) * a_second) - 1
        self._at = now
        if self._left < 0:
            await asyncio.sleep(-self._left / a_second)

    async def send(self, message: Message) -> None:
        self._read.clear()
        try:
            await self._send(message)  # which waits until there is room for it on the line
        finally:
            self._read.set()
