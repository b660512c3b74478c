"""Bounds over all connections. What one of them may do is tried at a real server, in tests/browser."""

import asyncio
import inspect
import os
import subprocess
import sys
from types import SimpleNamespace

import h11
import pytest
from browser.server import ROOT, free_port
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from waiting import PATIENCE

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
    class_ = [fills(lines, 1, key=f"{number:022}") for number in range(60)]
    hoarder = fills(lines, 70, key="h" * 22)
    assert not hoarder.ended  # 130 MB in all
    another = fills(lines, 30, key="a" * 22)
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


class Parsed:
    """A line over which a browser sends, as uvicorn's own classes meet it; `takes` are the bytes that were parsed."""

    def __init__(self, protocol, data_received, monkeypatch):
        self.takes, self.aborted = [], False
        monkeypatch.setattr(protocol, "data_received", lambda one, data: (self.takes.append(data), data_received(data)))

    def get_protocol(self):
        return self.protocol

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True


def a_request(monkeypatch, *head: str) -> tuple[Request, Parsed]:
    """One whose head has come, and whose body comes now."""
    conn = h11.Connection(h11.SERVER)

    def hear(data: bytes) -> None:
        conn.receive_data(data)
        while conn.next_event() not in (h11.NEED_DATA, h11.PAUSED):
            pass

    line, request = Parsed(H11Protocol, hear, monkeypatch), object.__new__(Request)
    line.protocol = request
    request.transport, request.conn, request.pieces, request.headers = line, conn, 0.0, []
    request.cycle = SimpleNamespace(body=b"", response_complete=False)
    request.data_received("\r\n".join(["POST / HTTP/1.1", "Host: x", *head, "", ""]).encode())
    request.headers = [tuple(word.strip().lower().encode() for word in line.split(":")) for line in head]
    return request, line


CHUNKED = "Transfer-Encoding: chunked"


def test_a_body_in_crumbs_ends_before_all_that_has_come_of_it_is_parsed(monkeypatch):
    """A read of 256 KB held 43,000 of them: everybody waited for four seconds, and one connection was enough."""
    request, line = a_request(monkeypatch, CHUNKED)
    request.data_received(b"1\r\nx\r\n" * 43_000)
    assert line.aborted
    assert len(b"".join(line.takes)) < 6 * (sockets.PIECES + 20) + sockets.SLICE


def test_crumbs_after_an_honest_beginning_end_as_soon(monkeypatch):
    request, line = a_request(monkeypatch, CHUNKED)
    request.data_received((b"1000\r\n" + bytes(4096) + b"\r\n") * 200)
    before = len(b"".join(line.takes))
    assert not line.aborted
    request.data_received(b"1\r\nx\r\n" * 43_000)
    assert line.aborted
    assert len(b"".join(line.takes)) - before < 6 * (sockets.PIECES + 20) + sockets.SLICE


@pytest.mark.parametrize("size", [1100, 1400, 16_384])
def test_a_body_that_a_proxy_passes_on_in_pieces_arrives(monkeypatch, size):
    request, line = a_request(monkeypatch, CHUNKED)
    for _ in range(4 * 2**20 // size):
        request.data_received(b"%x\r\n" % size + bytes(size) + b"\r\n")
    assert not line.aborted


def test_a_body_of_a_known_length_is_parsed_at_once_and_may_hold_anything(monkeypatch):
    request, line = a_request(monkeypatch, "Content-Length: 1000000")
    request.data_received(b"\r\n" * 100_000)
    assert not line.aborted
    assert len(line.takes[-1]) == 200_000


def test_of_a_read_full_of_pings_no_more_is_parsed_than_one_may_send(monkeypatch):
    """Each costs six bytes: a read held 43,000, and all were answered before the line was cut."""
    socket = object.__new__(Socket)

    def hear(data: bytes) -> None:
        socket.pieces += len(data) / 6
        line.aborted = socket.pieces > sockets.PIECES

    line = Parsed(WebSocketsSansIOProtocol, hear, monkeypatch)
    socket.transport, socket.pieces = line, 0.0
    socket.data_received(b"\x89\x80\0\0\0\0" * 43_000)
    assert len(b"".join(line.takes)) <= 6 * sockets.PIECES + sockets.SLICE


def test_of_a_body_that_nobody_asks_for_yet_little_is_kept_and_all_of_it_arrives_later():
    """Three hundred kilobytes of each of thousands of lines lay in memory, and counted nowhere."""
    length = 2 * MB

    async def brought() -> tuple[int, int]:
        asked, heard = asyncio.Event(), []

        async def app(scope, receive, send) -> None:
            await asked.wait()
            more = True
            while more:
                message = await receive()
                heard.append(len(message["body"]))
                more = message["more_body"]
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        config = Config(app, http=Request, lifespan="off", log_level="critical")
        config.load()
        requests, loop = [], asyncio.get_running_loop()

        def one() -> Request:
            requests.append(Request(config=config, server_state=ServerState(), app_state={}))
            return requests[-1]

        async with await loop.create_server(one, "127.0.0.1", 0) as server, asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode() + bytes(length))
            while not (requests and requests[0].flow and requests[0].flow.read_paused):
                await asyncio.sleep(0)
            kept = len(requests[0].cycle.body)
            asked.set()
            assert b"204" in await reader.readline()
            writer.close()
        return kept, sum(heard)

    kept, arrived = asyncio.run(brought())
    assert 0 < kept <= sockets.READ
    assert arrived == length


ENTRY = """
import os, signal, socket, sys, threading, time
from http.client import HTTPConnection

port = int(sys.argv[1])

def ask():
    while True:
        try:
            line = HTTPConnection("127.0.0.1", port)
            line.request("GET", "/healthz")
            line.getresponse().read()
            return line  # which stays open
        except OSError:
            time.sleep(0.05)

def look():
    try:
        line = ask()
        from playground.ui.sockets import lines
        (accepted,) = [transport.get_extra_info("socket") for transport in lines.open]
        print("TCP_NODELAY is", accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), flush=True)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=look, daemon=True).start()
"""
OURS = "from playground.__main__ import main; main(['--host', '127.0.0.1', '--port', str(port), '--no-browser'])"
STREAMLITS = (
    "from streamlit.web import cli\ncli.main(['run', 'app.py', '--server.address=127.0.0.1', f'--server.port={port}'])"
)


@pytest.mark.parametrize("entry", [OURS, STREAMLITS], ids=["python -m playground", "streamlit run app.py"])
def test_head_and_body_of_an_answer_leave_at_once(entry, tmp_path):
    """The option of a connection that the server has accepted, read in its process."""
    inherited = {name: word for name, word in os.environ.items() if not name.startswith("PLAYGROUND_")}
    server = subprocess.run(
        [sys.executable, "-c", ENTRY + entry, str(free_port())],
        cwd=ROOT,
        env=inherited | {"HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert "TCP_NODELAY is 1" in server.stdout, server.stdout + server.stderr
