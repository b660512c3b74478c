"""A part of a page may ask while the page is being left: a drawing tells a choice a moment after it was made. Streamlit
takes the page from the last that asked, and the browser wipes the page that the person has gone to."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.ui.streamlit_private import asked_of, shown_on


class LeftPages:
    """ASGI middleware, behind the one that hears only what Streamlit reads."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            return await self.app(scope, receive, send)
        line = Line(receive, send)
        return await self.app(scope, line.receive, line.send)


class Line:
    """The messages of one session, and the page that was asked for, or shown, last."""

    def __init__(self, receive: Receive, send: Send):
        self._receive, self._send = receive, send
        self.page = ""

    async def receive(self) -> Message:
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return message
            part, page = asked_of(message["bytes"])
            if not part:
                self.page = page or self.page
            if not part or page in (self.page, ""):
                return message

    async def send(self, message: Message) -> None:
        if data := message.get("bytes"):
            data, self.page = shown_on(data, self.page)
            message = message | {"bytes": data}
        await self._send(message)
