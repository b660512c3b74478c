"""Connections that can't take memory, time or places from others: uvicorn's bounds are few, and wide.

It stands on parts that uvicorn does not promise to keep; tried with uvicorn 0.54. Two tests say when one is gone:
tests/ui/test_sockets.py and, against a real server, tests/browser/test_hostile_requests.py.
"""

from __future__ import annotations

import logging
import time
from weakref import WeakSet

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from playground.serving.cache import MB

HEAD_SECONDS = 15.0  # until a request is complete, but for its body
LONGEST = 2**17  # bytes of a message: a page says little, and pictures come as uploads
PIECES, PIECES_A_SECOND = 2000, 20  # that one socket may send at once, and for good; a browser's messages are one each
UNREAD = 200 * MB  # of what was sent to all browsers, and they have not fetched yet; deploy/README.md counts on it

log = logging.getLogger("playground")
unread: WeakSet[Fetched] = WeakSet()  # those whose browsers fetch more slowly than they are sent


def use() -> None:
    """uvicorn has chosen its classes before it imports the app: what it makes of them is ours from now on."""
    H11Protocol.__new__ = staticmethod(lambda *args, **kwargs: object.__new__(Request))
    WebSocketsSansIOProtocol.__new__ = staticmethod(lambda *args, **kwargs: object.__new__(Socket))


class Fetched:
    """A connection over which a browser fetches what it is sent. uvicorn keeps an answer until then, however long."""

    def pause_writing(self) -> None:
        super().pause_writing()
        unread.add(self)
        while sum(one.transport.get_write_buffer_size() for one in unread) > UNREAD:
            most = max(unread, key=lambda one: one.transport.get_write_buffer_size())
            most.end("it does not fetch what it asked for, and there is no room for it")

    def resume_writing(self) -> None:
        super().resume_writing()
        unread.discard(self)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        unread.discard(self)

    def end(self, why: str) -> None:
        log.warning("a connection is closed: %s", why)
        self.transport.abort()
        unread.discard(self)


class Request(Fetched, H11Protocol):
    """A connection over which requests come, one after the other; an idle one is closed by uvicorn."""

    def connection_made(self, transport) -> None:
        super().connection_made(transport)
        self.late = self.loop.call_later(HEAD_SECONDS, self._end_if_unasked)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.late.cancel()
        self.late = self.loop.call_later(HEAD_SECONDS, self._end_if_unasked)

    def _end_if_unasked(self) -> None:
        waits = self.conn.their_state is h11.IDLE and self.conn.our_state is h11.IDLE
        if waits and self.transport.get_protocol() is self:  # not a socket by now
            self.transport.close()


class Socket(Fetched, WebSocketsSansIOProtocol):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.conn.max_message_size = LONGEST
        self.pieces, self.at = 0.0, time.monotonic()

    def handle_events(self) -> None:
        """Each piece of a message takes the server's time, and so does a ping that says nothing."""
        now, count = time.monotonic(), len(self.conn.events)
        super().handle_events()
        self.pieces = max(0.0, self.pieces - (now - self.at) * PIECES_A_SECOND) + count
        self.at = now
        if self.pieces > PIECES:
            self.end("it sends too many pieces")
