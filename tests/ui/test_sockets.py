"""Bounds over all connections. What one of them may do is tried at a real server, in tests/browser."""

import asyncio
import inspect

import pytest
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from playground.serving.cache import MB
from playground.ui import sockets
from playground.ui.sockets import Fetched, Request, Socket


class Line:
    """A transport whose browser has still to fetch so much."""

    def __init__(self, waiting: int):
        self.waiting, self.ended = waiting, False

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def abort(self) -> None:
        self.ended = True


@pytest.fixture
def nobody(monkeypatch):
    monkeypatch.setattr(sockets, "unread", set())


def fills(megabytes: int, kind: type = Socket) -> Socket | Request:
    """Somebody who has not fetched so much yet."""
    one = object.__new__(kind)
    one.transport, one.writable = Line(megabytes * MB), asyncio.Event()
    one.flow = FlowControl(one.transport)
    one.transport.pause_reading = one.transport.resume_reading = lambda: None
    one.pause_writing()
    return one


@pytest.mark.parametrize("kind", [Socket, Request])
def test_when_too_much_is_not_fetched_who_holds_most_goes(nobody, kind):
    """Be it messages of pages, or layers that somebody asked for over HTTP."""
    class_ = [fills(2) for _ in range(60)]
    hoarder = fills(70, kind)
    assert not hoarder.transport.ended  # 190 MB in all
    another = fills(20)
    assert [one.transport.ended for one in (*class_, another)] == [False] * 61
    assert hoarder.transport.ended
    assert hoarder not in sockets.unread


def test_who_has_fetched_it_is_not_counted(nobody):
    former = [fills(50) for _ in range(3)]
    for socket in former:
        socket.resume_writing()
    assert not fills(100).transport.ended
    assert not any(socket.transport.ended for socket in former)


def test_uvicorn_still_has_what_this_stands_on():
    for ours, theirs in ((Request, H11Protocol), (Socket, WebSocketsSansIOProtocol)):
        assert ours.__mro__.index(Fetched) < ours.__mro__.index(theirs)
        for name, method in {**vars(Fetched), **vars(ours)}.items():
            if not name.startswith("_") and name != "end":
                assert (
                    inspect.signature(method).parameters.keys()
                    == inspect.signature(getattr(theirs, name)).parameters.keys()
                )
