"""Middleware that sends large answers piece by piece, so that slow readers do not fill the memory."""

from __future__ import annotations

from contextlib import suppress

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.serving import app, ledger, people
from playground.serving.ledger import Visitor

PIECE_BYTES = 2**16  # bytes of an answer that are sent in one piece


class Pieces:
    """ASGI middleware: notes who asks, and sends their answer in pieces."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        visitor = people.visitor(scope)
        if visitor.person:
            ledger.present().note(visitor)
        with suppress(ClientDisconnect):  # the client has left; uvicorn ends the connection
            await self.app(scope, receive, AnswerInPieces(visitor, send).send)


@app.part
def on_the_way() -> dict[AnswerInPieces, None]:
    """The answers that are being sent, oldest first."""
    return {}


class AnswerInPieces:
    """An answer that is sent piece by piece. The part that a slow reader has not fetched yet takes memory. If the
    memory for answers is full, the oldest answer of the network that holds most is dropped."""

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
        while refusal := ledger.answers().take(self.visitor, byte_count):
            address = self.visitor.address if refusal == "key" else ledger.answers().holdings.fullest_address()
            oldest_answer = next(
                (candidate for candidate in on_the_way() if candidate.visitor.address == address), None
            )
            if oldest_answer is None:
                raise ClientDisconnect
            oldest_answer.is_dropped = True
            oldest_answer.give_back()
        self._held_bytes = byte_count
        on_the_way()[self] = None

    def give_back(self) -> None:
        if self in on_the_way():
            del on_the_way()[self]
            ledger.answers().give_back(self.visitor, self._held_bytes)
