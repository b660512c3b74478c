"""A socket that can't take memory or time from the others: uvicorn's bounds are those of one message, and wide.

It stands on parts that uvicorn does not promise to keep; tried with uvicorn 0.54. tests/ui/test_sockets.py drives it.
"""

from __future__ import annotations

import logging
import time
from weakref import WeakSet

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from playground.serving.cache import MB

LONGEST = 2**17  # bytes of a message: a page says little, and pictures come as uploads
SHARE, AT_ONCE = 0.05, 2.0  # of the server's time to take apart what one socket sends, and seconds of it at once
UNREAD = 250 * MB  # of what was sent to all browsers, and they have not fetched yet

log = logging.getLogger("playground")
unread: WeakSet[Socket] = WeakSet()  # those whose browsers fetch more slowly than they are sent


def use() -> None:
    """uvicorn has chosen its class before it imports the app: what it makes of it is ours from now on."""
    WebSocketsSansIOProtocol.__new__ = staticmethod(lambda *args, **kwargs: object.__new__(Socket))


class Socket(WebSocketsSansIOProtocol):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.conn.max_message_size = LONGEST
        self.spent, self.at = 0.0, time.monotonic()

    def data_received(self, data: bytes) -> None:
        began = time.thread_time()
        super().data_received(data)
        if self._spends_too_much(time.thread_time() - began):
            self.end("it sends what takes long to take apart")

    def _spends_too_much(self, seconds: float) -> bool:
        now = time.monotonic()
        self.spent = max(0.0, self.spent - (now - self.at) * SHARE) + seconds
        self.at = now
        return self.spent > AT_ONCE

    def pause_writing(self) -> None:
        super().pause_writing()
        unread.add(self)
        while sum(socket.transport.get_write_buffer_size() for socket in unread) > UNREAD:
            most = max(unread, key=lambda socket: socket.transport.get_write_buffer_size())
            most.end("it does not fetch what it asked for, and there is no room for it")

    def resume_writing(self) -> None:
        super().resume_writing()
        unread.discard(self)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        unread.discard(self)

    def end(self, why: str) -> None:
        log.warning("a socket is closed: %s", why)
        self.transport.abort()
        unread.discard(self)
