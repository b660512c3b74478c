"""Who gets a socket, a seat and a turn, and who loses them to others."""

import asyncio

import pytest
from playground.ui.door import Door
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from waiting import PATIENCE

from playground.serving import ledger
from playground.serving.hosts import is_foreign
from playground.serving.ledger import Ledger, Seats, Visitor
from playground.ui import door

WEBSOCKET = {"type": "websocket", "headers": [], "client": ("10.0.0.1", 5)}


@pytest.fixture
def seats(monkeypatch):
    seats = Seats(Ledger(), capacity=2)
    monkeypatch.setattr(ledger, "seats", seats)
    return seats


class Browser:
    """A browser that opens a socket and sends the messages that a test puts into `outbox`."""

    def __init__(self, sockets: Door, address: str = "10.0.0.1", **headers: str):
        self.sockets, self.outbox, self.sent = sockets, asyncio.Queue(), []
        header_pairs = [(name.encode(), word.encode()) for name, word in headers.items()]
        self.scope = {"type": "websocket", "headers": header_pairs, "client": (address, 5)}

    def open(self) -> asyncio.Task:
        self.task = asyncio.create_task(self.sockets(self.scope, self.outbox.get, self._send))
        return self.task

    async def _send(self, message: dict) -> None:
        self.sent.append(message)

    def ask_for_page(self) -> None:
        page = BackMsg(rerun_script=ClientState()).SerializeToString()
        self.outbox.put_nowait({"type": "websocket.receive", "bytes": page})

    def leave(self) -> None:
        self.outbox.put_nowait({"type": "websocket.disconnect", "code": 1000})


async def streamlit(scope, receive, send) -> None:
    """Stands for Streamlit: reads all messages and answers none."""
    while (await receive())["type"] == "websocket.receive":
        pass


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


CLOSE_MESSAGES = [{"type": "websocket.close", "code": 1013}]


def test_no_more_sockets_are_open_than_there_is_room_for(seats, monkeypatch):
    async def messages_of_all() -> list[list[dict]]:
        sockets = Door(streamlit)
        browsers = [Browser(sockets, f"10.{number}.0.1") for number in range(3)]
        for browser in browsers:
            browser.open()
        await settle()
        for browser in browsers:
            browser.leave()
        await asyncio.gather(*(browser.task for browser in browsers))
        assert not seats.open
        return [browser.sent for browser in browsers]

    assert asyncio.run(messages_of_all()) == [[], [], CLOSE_MESSAGES]


def test_a_socket_that_asks_for_no_page_is_closed_and_one_that_does_stays(seats, monkeypatch):
    monkeypatch.setattr(ledger, "NEW_PAGE_SECONDS", 0.0)

    async def messages_of_both() -> tuple[list, list]:
        sockets = Door(streamlit)
        silent_browser, asking_browser = Browser(sockets), Browser(sockets)
        asking_browser.ask_for_page()
        asking_browser.open()
        await settle()
        await silent_browser.open()
        await settle()
        assert len(seats.open) == 1
        asking_browser.leave()
        await asking_browser.task
        return silent_browser.sent, asking_browser.sent

    assert asyncio.run(messages_of_both()) == (CLOSE_MESSAGES, [])


def test_a_socket_gives_way_to_a_newcomer_of_another_network(seats, monkeypatch):
    async def messages_of_all() -> list[list[dict]]:
        sockets = Door(streamlit)
        browsers = [Browser(sockets, address) for address in ("10.0.0.1", "10.0.0.1", "10.9.0.2")]
        for browser in browsers[:2]:
            browser.ask_for_page()
            browser.open()
        await settle()
        browsers[2].open()
        await settle()
        browsers[0].task.exception()  # reads the result, so that asyncio does not complain
        for browser in browsers[1:]:
            browser.leave()
            await browser.task
        return [browser.sent for browser in browsers]

    assert asyncio.run(messages_of_all()) == [CLOSE_MESSAGES, [], []]


def test_a_socket_that_the_server_s_end_cancels_gives_its_seat_back(seats):
    async def run_stopped() -> None:
        browser = Browser(Door(streamlit))
        browser.open()
        await settle()
        browser.task.cancel()
        await browser.task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run_stopped())
    assert not seats.open


def get(path: str, **headers: str) -> list[dict]:
    """The ASGI messages that answer a GET."""
    sent, headers_sent = [], [(name.replace("_", "-").encode(), word.encode()) for name, word in headers.items()]
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers_sent, "client": ("10.0.0.2", 5)}

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        sent.append(message)

    asyncio.run(Door(app)(scope, None, send))
    return sent


@pytest.mark.parametrize("path", ["/patches", "/teach/"])
def test_when_the_server_is_full_a_page_says_so_and_tries_again(seats, monkeypatch, path):
    assert get(path)[0]["status"] == 200
    monkeypatch.setattr(seats, "has_room", lambda network: False)
    first_message, body_message = get(path)
    assert first_message["status"] == 503
    assert (b"retry-after", b"10") in first_message["headers"]
    assert b"Full, trying again" in body_message["body"]
    assert b'http-equiv="refresh"' in body_message["body"]
    assert b"<script" not in body_message["body"]
    for open_path in ("/api/models", "/healthz", "/figure.svg", "/static/js/index.js", "/_stcore/health"):
        assert get(open_path)[0]["status"] == 200  # open pages go on working


@pytest.mark.parametrize("path", ["/", "/microscope"])
def test_the_microscope_needs_no_seat_and_hears_that_there_is_none(seats, monkeypatch, path):
    assert (b"x-playground-full", b"yes") not in get(path)[0].get("headers", [])
    monkeypatch.setattr(seats, "has_room", lambda network: False)
    (first_message,) = get(path)
    assert first_message["status"] == 200
    assert (b"x-playground-full", b"yes") in first_message["headers"]


def test_a_request_with_a_key_keeps_the_place_of_its_page(seats):
    seat = seats.enter("10.0.0.2", lambda: None)
    seat.session, seat.used_at = "its session", 0.0
    get("/api/models", x_playground_key="k" * 32, x_playground_run="another")
    get("/api/models", x_playground_key="short", x_playground_run="its session")
    assert (seat.key, seat.used_at) == ("", 0.0)
    get("/api/models", x_playground_key="k" * 32, x_playground_run="its session")
    assert seat.key == "k" * 32
    assert seat.used_at > 0


@pytest.mark.parametrize(
    ("origin", "is_refused"),
    [
        ("http://localhost:8501", False),
        ("https://localhost:8501", False),  # a proxy ends TLS
        ("http://localhost:9999", True),
        ("http://localhost", True),
        ("http://other.example:8501", True),
        ("null", True),
        (None, False),  # a client without an Origin is no browser
    ],
)
def test_only_pages_of_the_same_host_and_port_open_a_socket(seats, origin, is_refused):
    headers = {"host": "localhost:8501"} | ({"origin": origin} if origin else {})
    assert is_foreign(headers) is is_refused

    async def open_browser() -> Browser:
        browser = Browser(Door(streamlit), **headers)
        browser.leave()
        await browser.open()
        return browser

    assert asyncio.run(open_browser()).sent == ([{"type": "websocket.close", "code": 1008}] if is_refused else [])


# Runs of pages


def test_streamlit_hears_of_the_next_run_when_the_one_before_has_ended(seats, monkeypatch):
    """Once, sockets that asked for a page without a pause kept Streamlit's event loop busy."""
    monkeypatch.setattr(door, "RUN_WAIT_SECONDS", PATIENCE)

    async def run_counts() -> list[int]:
        runs, counts, run_ended = [], [], asyncio.Event()

        async def streamlit(scope, receive, send):
            while (await receive())["type"] == "websocket.receive":
                runs.append(1)
                await run_ended.wait()
                run_ended.clear()
                await send(message_of("script_finished"))

        greedy_browser = Browser(Door(streamlit))
        for _ in range(4):
            greedy_browser.ask_for_page()
        greedy_browser.open()
        for _ in range(4):
            await settle()
            counts.append(len(runs))
            run_ended.set()
        await settle()
        greedy_browser.leave()
        await greedy_browser.task
        return counts

    assert asyncio.run(run_counts()) == [1, 2, 3, 4]


def test_a_run_that_takes_long_holds_up_the_next_only_for_a_moment(seats, monkeypatch):
    monkeypatch.setattr(door, "RUN_WAIT_SECONDS", 0.01)

    async def messages_of_two_runs() -> list[dict]:
        messages = []

        async def streamlit(scope, receive, send):
            while (message := await receive())["type"] == "websocket.receive":
                messages.append(message)

        browser = Browser(Door(streamlit))
        for _ in range(2):
            browser.ask_for_page()
        browser.leave()
        await browser.open()
        return messages

    assert len(asyncio.run(messages_of_two_runs())) == 2


def message_of(kind: str) -> dict:
    message = ForwardMsg()
    setattr(message, kind, 0)
    return {"type": "websocket.send", "bytes": message.SerializeToString()}


# Answers that are being sent


def test_an_answer_s_bytes_are_counted_until_all_are_sent(seats):
    pieces, bytes_held = [], []

    async def app(scope, receive, send):
        await send({"type": "http.response.body", "body": bytes(300_000)})

    async def send(message):
        pieces.append(len(message["body"]))
        bytes_held.append(ledger.answers.taken)

    scope = {"type": "http", "method": "GET", "path": "/api/x", "headers": [], "client": ("10.0.0.1", 5)}
    asyncio.run(Door(app)(scope, None, send))
    assert sum(pieces) == 300_000
    assert max(pieces) == door.PIECE_BYTES
    assert bytes_held == [300_000] * len(pieces)
    assert not door.AnswerInPieces.on_the_way
    assert ledger.answers.taken == 0


def test_where_memory_is_full_the_oldest_answer_of_the_greediest_network_gives_way(monkeypatch):
    monkeypatch.setattr(ledger, "answers", ledger.Room("answers", 1000))

    async def drop_message(message):
        pass

    old_answer, stranger_answer, new_answer = (
        door.AnswerInPieces(Visitor("", f"10.{n}.0.1"), drop_message) for n in (1, 2, 1)
    )
    old_answer._find_room(400)
    stranger_answer._find_room(300)
    new_answer._find_room(300)
    assert (old_answer.is_dropped, stranger_answer.is_dropped) == (True, False)
    for answer in (stranger_answer, new_answer):
        answer.give_back()
    assert ledger.answers.taken == 0
