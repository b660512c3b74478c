"""Connections that can't take memory, time or places from others: uvicorn's bounds are few, and wide.

It stands on parts that uvicorn does not promise to keep; tried with uvicorn 0.54. Two tests say when one is gone:
tests/ui/test_sockets.py and, against a real server, tests/browser/test_hostile_requests.py.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

import h11
from uvicorn.middleware.proxy_headers import _TrustedHosts
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from playground.serving import admission, people
from playground.serving.asker import NOBODY, Who, network

HEAD_SECONDS = 15.0  # until a request is complete, but for its body
READ = 2**15  # bytes that are read of a line at once: so much is kept of a body until somebody asks for it
AHEAD = 2**15  # bytes that a browser may ask before it was answered; none does
LONGEST = 2**17  # bytes of a message: a page says little, and pictures come as uploads
PIECES, PIECES_A_SECOND = 100, 20  # that one socket may send at once, and for good; a browser's messages are one each
PIECE = 2**10  # bytes of a body's pieces, on the average, after the first PIECES; a proxy's have more
SLICE = 2**11  # bytes that are parsed at a time: of pieces of a byte, a whole read (256 KB) would take four seconds
FETCH_SECONDS, FETCHED = 20.0, 2**16  # so long nobody fetches less than so many bytes of what was sent to them
LOOK_EVERY = 5.0  # seconds, at what is fetched
IN_THE_SYSTEM = 2**17  # bytes of one connection that the operating system keeps, beside what asyncio does

log = logging.getLogger("playground")


@dataclass(eq=False)
class Line:
    """A connection, from its first byte to its last; a socket begins as a request."""

    transport: asyncio.Transport
    network: str  # empty for a proxy, which has many people's connections
    at: float  # when enough of what was sent had been fetched
    unread: int = 0  # bytes, as of then

    def who(self) -> Who:
        """Who asks over it at the moment: a proxy says for whom."""
        scope = self.transport.get_protocol().scope
        return people.who(scope) if scope else NOBODY

    def end(self, why: str) -> None:
        log.warning("a connection is closed: %s", why)
        self.transport.abort()


class Lines:
    """All connections. Who has asked for more than they fetch, and who has more of them than others, gives way."""

    def __init__(self) -> None:
        self.open: dict[asyncio.Transport, Line] = {}
        self._held: Counter[str] = Counter()  # how many, by network
        self._looking: asyncio.TimerHandle | None = None

    def enter(self, transport: asyncio.Transport, home: str, now: float) -> bool:
        """False where there is no room for it."""
        bound, held = admission.BOUNDS["connections"], self._held
        if home and held[home] >= bound.network:
            return self._refuse()
        if len(self.open) >= bound.everybody:
            most = admission.greediest(held)
            if held[most] <= held[home]:
                return self._refuse()
            self._refuse()
            self._end(next(line for line in self.open.values() if line.network == most), "others have fewer of them")
        self.open[transport] = Line(transport, home, now)
        held[home] += 1
        return True

    def _refuse(self) -> bool:
        admission.refused["connections"] += 1
        return False

    def leave(self, transport: asyncio.Transport) -> None:
        if line := self.open.pop(transport, None):
            self._held[line.network] -= 1
            if not self._held[line.network]:
                del self._held[line.network]

    def _end(self, line: Line, why: str) -> None:
        self.leave(line.transport)
        line.end(why)

    def find_room(self) -> None:
        """Of what was sent and is not fetched yet: the network that has most of it gives way, in it the key that has
        most, and of its connections the one that has fetched nothing for longest."""
        bound = admission.BOUNDS["answers"]
        held = {line: line.transport.get_write_buffer_size() for line in self.open.values()}
        asking = {line: line.who() for line, count in held.items() if count}
        while asking:
            networks, keys = Counter[str](), Counter[Who]()
            for line, who in asking.items():
                networks[who.address] += held[line]
                keys[who] += held[line]
            most = admission.greediest(networks)
            if (networks[most] <= bound.network or not most) and networks.total() <= bound.everybody:
                return
            greedy = max((who for who in keys if who.address == most), key=keys.__getitem__)
            admission.refused["answers"] += 1
            line = min((line for line, who in asking.items() if who == greedy), key=lambda line: line.at)
            del asking[line]
            self._end(line, "it does not fetch what it asked for, and there is no room for it")

    def look(self, now: float) -> None:
        """Ends those that do not fetch what they asked for."""
        for line in list(self.open.values()):
            unread = line.transport.get_write_buffer_size()
            if not unread or unread > line.unread or line.unread - unread >= FETCHED:
                line.unread, line.at = unread, now
            elif now - line.at > FETCH_SECONDS:
                admission.refused["answers"] += 1
                self._end(line, "it does not fetch what it asked for")

    def keep_looking(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._looking is None:
            self._looking = loop.call_later(LOOK_EVERY, self._look_again, loop)

    def _look_again(self, loop: asyncio.AbstractEventLoop) -> None:
        self._looking = None
        self.look(time.monotonic())
        if self.open:
            self.keep_looking(loop)


lines = Lines()


def use() -> None:
    """uvicorn has chosen its classes before it imports the app: what it makes of them is ours from now on."""
    H11Protocol.__new__ = staticmethod(lambda *args, **kwargs: object.__new__(Request))
    WebSocketsSansIOProtocol.__new__ = staticmethod(lambda *args, **kwargs: object.__new__(Socket))


def send_at_once(line: socket.socket) -> None:
    """An answer's head and body are two packets: without this option the second one waits until the browser has
    acknowledged the first, which takes it 40 ms. asyncio sets it only where a socket was made with TCP's number."""
    if line.family in (socket.AF_INET, socket.AF_INET6):
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class Fetched:
    """A connection over which a browser fetches what it is sent. uvicorn keeps an answer until then, however long."""

    def pause_writing(self) -> None:
        super().pause_writing()
        lines.find_room()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        lines.leave(self.transport)


class Request(Fetched, H11Protocol):
    """A connection over which requests come, one after the other; an idle one is closed by uvicorn."""

    def connection_made(self, transport) -> None:
        super().connection_made(transport)
        peer = self.client[0] if self.client else ""
        of_a_proxy = peer in _TrustedHosts(self.config.forwarded_allow_ips)
        if not lines.enter(transport, "" if of_a_proxy else network(peer), time.monotonic()):
            transport.abort()
        lines.keep_looking(self.loop)
        with suppress(AttributeError):  # of uvloop's, which reads as much at a time
            transport.max_size = READ
        if line := transport.get_extra_info("socket"):
            line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, IN_THE_SYSTEM)
            send_at_once(line)
        self.late = self.loop.call_later(HEAD_SECONDS, self._end_if_unasked)
        self.pieces = 0.0

    def data_received(self, data: bytes) -> None:
        """uvicorn reads on while an answer is made, to hear of somebody who goes, and keeps all that comes."""
        while data and not self.transport.is_closing() and self.transport.get_protocol() is self:  # no socket by now
            in_pieces = self._body_comes_in_pieces()
            at_once = SLICE if in_pieces or self.conn.their_state is h11.IDLE else len(data)
            part, data = data[:at_once], data[at_once:]
            super().data_received(part)
            if in_pieces:  # to each of them belong two ends of lines
                self.pieces = max(0.0, self.pieces + part.count(b"\r\n") / 2 - len(part) / PIECE)
            if self.pieces > PIECES:
                self._refuse("its body comes in crumbs")
            elif self.conn.their_state is h11.DONE and len(self.conn.trailing_data[0]) > AHEAD:
                self._refuse("it asks on and on before it was answered")
        if self._keeps_some_body():
            self.flow.pause_reading()  # until somebody asks for it: who waits for a turn keeps no more of it here

    def _keeps_some_body(self) -> bool:
        if self.conn.their_state is not h11.SEND_BODY or self.transport.is_closing():
            return False
        is_request = self.transport.get_protocol() is self  # and no socket by now
        return is_request and bool(self.cycle.body) and not self.cycle.response_complete

    def _body_comes_in_pieces(self) -> bool:
        """Each of them takes the server's time, also one of a single byte."""
        return self.conn.their_state is h11.SEND_BODY and any(name == b"transfer-encoding" for name, _ in self.headers)

    def _refuse(self, why: str) -> None:
        admission.refused["connections"] += 1
        log.warning("a connection is closed: %s", why)
        self.transport.abort()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.pieces = 0.0
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

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), SLICE):
            if not self.transport.is_closing():
                super().data_received(data[start : start + SLICE])

    def handle_events(self) -> None:
        """Each piece of a message takes the server's time, and so does a ping that says nothing."""
        now, count = time.monotonic(), len(self.conn.events)
        super().handle_events()
        self.pieces = max(0.0, self.pieces - (now - self.at) * PIECES_A_SECOND) + count
        self.at = now
        if self.pieces > PIECES:
            log.warning("a connection is closed: it sends too many pieces")
            self.transport.abort()
