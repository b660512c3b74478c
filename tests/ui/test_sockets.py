"""Bounds over all connections. What one of them may do is tried at a real server, in tests/browser."""

import inspect

import pytest
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from playground.serving import admission
from playground.serving.admission import Bound
from playground.serving.cache import MB
from playground.ui import sockets
from playground.ui.sockets import Fetched, Lines, Request, Socket


class Wire:
    """A transport whose browser has still to fetch so much; and the request that is answered over it."""

    def __init__(self, waiting: int = 0, network: str = "", key: str = ""):
        self.waiting, self.ended = waiting, False
        self.scope = {"client": (network, 5), "headers": [(b"x-playground-key", key.encode())]}

    def get_protocol(self) -> "Wire":
        return self

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def abort(self) -> None:
        self.ended = True


@pytest.fixture
def lines():
    return Lines()


def fills(lines: Lines, megabytes: int, network: str = "", key: str = "", behind_a_proxy: bool = True) -> Wire:
    """Somebody who has not fetched so much yet."""
    one = Wire(megabytes * MB, network, key)
    assert lines.enter(one, "" if behind_a_proxy else network, 0)
    lines.find_room()
    return one


def test_when_too_much_is_not_fetched_who_holds_most_goes(lines):
    class_ = [fills(lines, 1, key=f"{number}") for number in range(60)]
    hoarder = fills(lines, 70, key="hoarder")
    assert not hoarder.ended  # 130 MB in all
    another = fills(lines, 30, key="another")
    assert [one.ended for one in (*class_, another)] == [False] * 61
    assert hoarder.ended
    assert hoarder not in lines.open


@pytest.mark.parametrize("behind_a_proxy", [False, True])
def test_the_network_that_fetches_least_gives_way_first(lines, behind_a_proxy):
    stranger = fills(lines, 20, "stranger", behind_a_proxy=behind_a_proxy)
    many = [fills(lines, 9, "many", behind_a_proxy=behind_a_proxy) for _ in range(12)]
    assert not stranger.ended
    assert sum(one.ended for one in many) == 1  # 99 MB are left of the 100


def test_in_a_network_the_key_that_fetches_least_gives_way_and_of_it_who_fetched_nothing_for_longest(lines):
    """Somebody without a key asked for six hundred answers, and somebody of the same hall was cut off."""
    greedy = [fills(lines, 1, "hall") for _ in range(95)]
    innocents = [fills(lines, 4, "hall", f"key{number}") for number in range(5)]
    assert [one.ended for one in innocents] == [False] * 5
    assert [one.ended for one in greedy] == [True] * 15 + [False] * 80


def test_who_has_fetched_it_is_not_counted(lines):
    for former in [fills(lines, 50) for _ in range(2)]:
        former.waiting = 0
    assert not fills(lines, 100).ended


def test_who_fetches_nothing_goes_and_who_fetches_slowly_stays(lines):
    nothing, trickle, slowly, whole = (fills(lines, 1) for _ in range(4))
    for second in range(0, 100, 5):
        trickle.waiting -= 100
        slowly.waiting -= 2**15  # every 5 s: a bad line
        whole.waiting = 0
        lines.look(float(second))
        if second == sockets.FETCH_SECONDS:
            assert not nothing.ended  # it has so long
    assert (nothing.ended, trickle.ended, slowly.ended, whole.ended) == (True, True, False, False)
    assert len(lines.open) == 2


def test_a_little_that_is_never_fetched_is_looked_at_too(lines):
    """A short answer pauses nothing, and uvicorn waits for its end without end."""
    half_read = Wire(1000)
    lines.enter(half_read, "", 0)
    lines.look(0)
    lines.look(sockets.FETCH_SECONDS + 1)
    assert half_read.ended


def test_connections_are_shared_by_networks(lines, monkeypatch):
    monkeypatch.setitem(admission.BOUNDS, "connections", Bound(6, 4))
    greedy = [Wire() for _ in range(6)]
    assert [lines.enter(one, "greedy", 0) for one in greedy] == [True] * 4 + [False] * 2
    assert lines.enter(Wire(), "a", 0)
    assert lines.enter(Wire(), "b", 0)
    assert lines.enter(Wire(), "c", 0)  # the server is full: the greediest gives way
    assert [one.ended for one in greedy] == [True] + [False] * 5
    assert not lines.enter(Wire(), "greedy", 0)
    assert len(lines.open) == 6


def test_a_proxy_has_as_many_as_all_people_behind_it(lines, monkeypatch):
    monkeypatch.setitem(admission.BOUNDS, "connections", Bound(6, 2))
    assert all(lines.enter(Wire(), "", 0) for _ in range(6))


def test_uvicorn_still_has_what_this_stands_on():
    for ours, theirs in ((Request, H11Protocol), (Socket, WebSocketsSansIOProtocol)):
        assert ours.__mro__.index(Fetched) < ours.__mro__.index(theirs)
        for name, method in {**vars(Fetched), **vars(ours)}.items():
            if not name.startswith("_"):
                assert (
                    inspect.signature(method).parameters.keys()
                    == inspect.signature(getattr(theirs, name)).parameters.keys()
                )
    assert "127.0.0.1" in sockets._TrustedHosts("127.0.0.1")
    assert "10.0.0.9" in sockets._TrustedHosts("*")
