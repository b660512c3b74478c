"""Answers to requests: they are held until their turn, work ends when its asker leaves, errors are sentences."""

import asyncio

import httpx2 as httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from waiting import PATIENCE, until

from playground.errors import Busy, PlaygroundError
from playground.serving import answering, ledger, queue
from playground.serving.answering import Refused, answer
from playground.serving.ledger import Room
from playground.serving.queue import Queue
from serving.visits import ANNA, BERT, assert_refused


@pytest.fixture
def line(monkeypatch):
    """A queue with one place at work, which a test takes with `with line.take(): …`."""
    line = Queue(1)
    monkeypatch.setattr(queue, "passes", lambda: line)
    monkeypatch.setattr(answering, "LOOK_EVERY", 0.05)
    monkeypatch.setattr(queue, "LOOK_EVERY", 0.01)
    yield line
    until(lambda: not ledger.requests.taken, "no request is at work")
    assert line.at_work + line.line == []


def client_of(work) -> httpx.AsyncClient:
    async def endpoint(request: Request) -> Response:
        return await answer(request, work)

    app = Starlette(routes=[Route("/", endpoint)])
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://testserver")


def compute_in_turn(served_keys: list) -> Response:
    with queue.turn():
        served_keys.append(queue.current().visitor.person)
    return PlainTextResponse("done")


def has_length(line: Queue, count: int) -> bool:
    return len(line.at_work + line.line) == count


async def wait_until(condition) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)


def test_a_request_is_held_until_its_turn_and_computed_once(line):
    served_keys = []

    async def visit() -> httpx.Response:
        async with client_of(lambda: compute_in_turn(served_keys)) as http:
            with line.take():
                request_task = asyncio.create_task(http.get("/", headers=ANNA))
                await wait_until(lambda: has_length(line, 2))
                await asyncio.sleep(4 * answering.LOOK_EVERY)
                assert not request_task.done()
            return await request_task

    assert asyncio.run(visit()).text == "done"
    assert served_keys == [ANNA["X-Playground-Key"]]


def test_the_work_ends_when_the_browser_leaves(line):
    served_keys, messages = [], []

    async def visit() -> None:
        async def endpoint(request: Request) -> Response:
            return await answer(request, lambda: compute_in_turn(served_keys))

        has_left = asyncio.Event()

        async def receive():
            await has_left.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            messages.append(message)

        scope = {
            "type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [], "client": ("10.0.0.1", 1),
        }  # fmt: skip
        with line.take():
            request_task = asyncio.create_task(Route("/", endpoint).app(scope, receive, send))
            await wait_until(lambda: has_length(line, 2))
            has_left.set()
            await wait_until(lambda: has_length(line, 1))
            await request_task
        await wait_until(lambda: not ledger.requests.taken)

    asyncio.run(visit())
    assert served_keys == []
    assert [message.get("status") for message in messages[:1]] == [answering.BROWSER_LEFT]


def test_long_work_ends_between_two_pieces_when_the_browser_leaves(line):
    pieces = []

    def work() -> Response:
        with queue.turns() as give_way:
            while True:
                pieces.append(1)
                give_way()

    async def visit() -> None:
        async with client_of(work) as http:
            request_task = asyncio.create_task(http.get("/", headers=ANNA))
            await wait_until(lambda: pieces)
            request_task.cancel()
            await wait_until(lambda: not ledger.requests.taken)

    asyncio.run(visit())


ERRORS = {
    "a busy machine": (Busy("50 people wait already: try again."), 503, "50 people wait already: try again."),
    "a sentence": (PlaygroundError("There is no layer 99."), 400, "There is no layer 99."),
    "a status": (Refused("It is gone.", 410), 410, "It is gone."),
    "a mistake of ours": (ZeroDivisionError("of /secret/path.py"), 500, "Something went wrong on the server"),
    "no memory": (MemoryError(), 500, "Something went wrong on the server"),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_is_answered_with_a_sentence_and_never_a_traceback(line, kind):
    error, status, sentence = ERRORS[kind]

    def work() -> Response:
        raise error

    async def visit() -> httpx.Response:
        async with client_of(work) as http:
            return await http.get("/", headers=ANNA)

    response = asyncio.run(visit())
    assert response.status_code == status
    assert response.json()["says"].startswith(sentence)
    assert "secret" not in response.text
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_answer_comes_even_if_its_cost_cannot_be_noted(line, monkeypatch):
    def fail(*_) -> None:
        raise RuntimeError("no cost")

    monkeypatch.setattr(ledger.costs, "charge", fail)

    async def ask() -> Response:
        async with client_of(lambda: PlainTextResponse("here")) as http, asyncio.timeout(PATIENCE):
            return await http.get("/", headers=ANNA)

    assert asyncio.run(ask()).text == "here"


def test_a_refusal_has_more_fields_where_the_browser_needs_them(line):
    def work() -> Response:
        raise Refused("It is not here.", 404, forgotten="its id")

    async def visit() -> httpx.Response:
        async with client_of(work) as http:
            return await http.get("/")

    response = asyncio.run(visit())
    assert response.json() == {"says": "It is not here.", "forgotten": "its id"}
    assert_refused(response, 404)


def test_a_sentence_that_the_work_says_comes_with_its_answer(line):
    def work() -> Response:
        queue.current().sentences.append("The graphics card's memory is full × 2.")
        return JSONResponse({})

    async def visit() -> httpx.Response:
        async with client_of(work) as http:
            return await http.get("/")

    sentences = asyncio.run(visit()).headers["X-Playground-Says"]
    assert httpx.URL(f"http://x/?says={sentences}").params["says"] == "The graphics card's memory is full × 2."


# Too many questions ---------------------------------------------------------------------------------------------------


def statuses_at_once(line: Queue, *visitors: dict, held: int) -> list[int]:
    """The statuses that these visitors get when they all ask while the only place is taken: `held` of them wait."""

    async def visit() -> list[int]:
        async with client_of(lambda: compute_in_turn([])) as http:
            with line.take():
                tasks = [asyncio.create_task(http.get("/", headers=headers)) for headers in visitors]
                await wait_until(lambda: sum(not task.done() for task in tasks) == held and has_length(line, 1 + held))
            replies = [await task for task in tasks]
        assert all(reply.json()["says"].endswith(".") for reply in replies if reply.status_code >= 400), replies
        return [reply.status_code for reply in replies]

    return asyncio.run(visit())


def headers_of_people(count: int) -> list[dict]:
    return [{"X-Playground-Key": f"{number:022d}"} for number in range(count)]


def test_when_the_server_is_full_it_says_so(line, monkeypatch):
    monkeypatch.setattr(ledger, "requests", Room("requests", 5))
    assert sorted(statuses_at_once(line, *headers_of_people(8), held=4)) == [200] * 4 + [503] * 4


def test_one_key_takes_no_more_places_than_its_share(line, monkeypatch):
    monkeypatch.setattr(ledger, "requests", Room("requests", 600, 4))
    statuses = statuses_at_once(line, *[ANNA] * 9, BERT, held=5)
    assert (statuses[:9].count(200), statuses[:9].count(503), statuses[9]) == (4, 5, 200)


def test_of_one_key_s_places_some_are_refused_by_the_queue_itself(line):
    """The queue counts a person's questions over all tabs and pages."""
    statuses = statuses_at_once(line, *[ANNA] * (queue.MOST_OF_KEY + 3), held=queue.MOST_OF_KEY)
    assert (statuses.count(200), statuses.count(503)) == (queue.MOST_OF_KEY, 3)


def test_a_network_with_very_many_keys_leaves_room_for_a_stranger(line, monkeypatch):
    monkeypatch.setattr(ledger, "requests", Room("requests", 8))
    real_visitor = answering.visitor

    def from_where(request: Request) -> ledger.Visitor:
        visitor = real_visitor(request)
        return ledger.Visitor(
            visitor.person, "elsewhere" if visitor.person == BERT["X-Playground-Key"] else "one network"
        )

    monkeypatch.setattr(answering, "visitor", from_where)
    statuses = statuses_at_once(line, *headers_of_people(20), BERT, held=7)
    assert (statuses[:20].count(200), statuses[:20].count(503), statuses[20]) == (6, 14, 200)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.1.2.3", "10.1.2.3/32"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("::ffff:10.1.2.3", "10.1.2.3/32"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("not:an:address", "not:an:address"),
        (None, ""),
    ],
)
def test_an_ipv6_network_counts_as_one_address(address, network):
    assert ledger.network(address) == network
