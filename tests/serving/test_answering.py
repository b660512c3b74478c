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
from serving.visits import ANNA, BERT


@pytest.fixture
def line(monkeypatch):
    """A queue with one place at work, which a test takes with `with line.take(): …`."""
    line = Queue(1)
    monkeypatch.setattr(queue, "passes", lambda: line)
    monkeypatch.setattr(answering, "LOOK_EVERY", 0.05)
    monkeypatch.setattr(queue, "LOOK_EVERY", 0.01)
    yield line
    until(lambda: not ledger.requests().taken, "no request is at work")
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
        await wait_until(lambda: not ledger.requests().taken)

    asyncio.run(visit())
    assert served_keys == []
    assert [message.get("status") for message in messages[:1]] == [answering.BROWSER_LEFT]


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


def test_one_key_takes_no_more_places_than_its_share(line, monkeypatch):
    requests = Room("requests", 600, 4)
    monkeypatch.setattr(ledger, "requests", lambda: requests)
    statuses = statuses_at_once(line, *[ANNA] * 9, BERT, held=5)
    assert (statuses[:9].count(200), statuses[:9].count(503), statuses[9]) == (4, 5, 200)


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
