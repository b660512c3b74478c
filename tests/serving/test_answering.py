"""Answers to requests: who waits is told so, work ends when its asker leaves, and errors are sentences."""

import asyncio
import threading

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
    monkeypatch.setattr(answering, "TICKET_AFTER", 0.05)
    monkeypatch.setattr(queue, "TELL_EVERY", 0.01)
    yield line
    until(lambda: not answering._open_jobs, "no request is at work")
    answering._waiting_jobs.clear()
    assert line.at_work + line.line == []


def client_of(work) -> httpx.AsyncClient:
    async def endpoint(request: Request) -> Response:
        return await answer(request, work)

    app = Starlette(routes=[Route("/", endpoint)])
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://testserver")


def compute_in_turn(served_keys: list) -> Response:
    with queue.turn():
        served_keys.append(queue.current().visitor().person)
    return PlainTextResponse("done")


def has_length(line: Queue, count: int) -> bool:
    return len(line.at_work + line.line) == count


async def wait_until(condition) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)


def test_a_waiting_person_hears_how_many_come_first_and_gets_the_answer_with_a_ticket(line):
    served_keys = []

    async def visit() -> tuple:
        async with client_of(lambda: compute_in_turn(served_keys)) as http:
            with line.take(), AnotherWaiter(line):
                first_reply = await http.get("/", headers=ANNA)
                ticket = {"X-Playground-Ticket": first_reply.headers["X-Playground-Ticket"]}
                second_reply = await http.get("/", headers=ANNA | ticket)
            return first_reply, second_reply, await final_answer_of(http, ANNA, second_reply)

    first_reply, second_reply, final_answer = asyncio.run(visit())
    assert (first_reply.status_code, second_reply.status_code) == (202, 202)
    assert first_reply.json() == {"before": 2, "again": answering.ASK_AGAIN_MS}
    assert second_reply.headers["X-Playground-Ticket"] == first_reply.headers["X-Playground-Ticket"]
    assert first_reply.headers["Cache-Control"] == "no-store"
    assert (final_answer.status_code, final_answer.text) == (200, "done")
    assert served_keys == [ANNA["X-Playground-Key"]], "it was computed once"


class AnotherWaiter:
    """Adds one more waiting ticket to the line, from a thread of its own."""

    def __init__(self, line: Queue):
        self.line, self.go = line, threading.Event()

    def __enter__(self):
        length = len(self.line.line)
        self.thread = threading.Thread(target=self._stand)
        self.thread.start()
        until(lambda: len(self.line.line) == length + 1, "they stand in the line")

    def _stand(self) -> None:
        with self.line.take():
            pass

    def __exit__(self, *_) -> None:
        pass


async def final_answer_of(http, visitor: dict, response: httpx.Response) -> httpx.Response:
    """Asks again with the ticket until the answer is no longer 202."""
    while response.status_code == 202:
        ticket = {"X-Playground-Ticket": response.headers["X-Playground-Ticket"]}
        response = await http.get("/", headers=visitor | ticket)
    return response


def test_an_image_of_a_page_that_has_no_key_waits_for_its_answer(line):
    """An <img> sends one request and cannot send a ticket, so this request waits."""

    async def visit() -> httpx.Response:
        async with client_of(lambda: compute_in_turn([])) as http:
            with line.take():
                request_task = asyncio.create_task(http.get("/"))
                await wait_until(lambda: has_length(line, 2))
                await asyncio.sleep(4 * answering.TICKET_AFTER)
                assert not request_task.done()
            return await request_task

    assert asyncio.run(visit()).text == "done"


def test_somebody_else_s_ticket_is_worth_nothing(line):
    served_keys = []

    async def visit() -> tuple:
        async with client_of(lambda: compute_in_turn(served_keys)) as http:
            with line.take():
                anna_s_response = await http.get("/", headers=ANNA)
                ticket = {"X-Playground-Ticket": anna_s_response.headers["X-Playground-Ticket"]}
                bert_s_response = await http.get("/", headers=BERT | ticket)
            await final_answer_of(http, BERT, bert_s_response)
            return anna_s_response, bert_s_response

    anna_s_answer, bert_s_answer = asyncio.run(visit())
    assert bert_s_answer.headers["X-Playground-Ticket"] != anna_s_answer.headers["X-Playground-Ticket"]
    assert BERT["X-Playground-Key"] in served_keys


def test_a_ticket_is_worth_nothing_at_another_address_or_method_and_no_cache_keeps_its_answer(line):
    async def endpoint(request: Request) -> Response:
        def work() -> Response:
            with queue.turn():
                return PlainTextResponse(f"{request.method} {request.url.query}", headers={"Cache-Control": "public"})

        return await answer(request, work)

    async def visit() -> tuple:
        app = Starlette(routes=[Route("/", endpoint, methods=["GET", "POST"])])
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://testserver") as http:
            with line.take():
                reply = await http.get("/?a", headers=ANNA)
            headers = ANNA | {"X-Playground-Ticket": reply.headers["X-Playground-Ticket"]}
            elsewhere = [await http.get("/?b", headers=headers), await http.post("/?a", headers=headers)]
            return elsewhere, await http.get("/?a", headers=headers), await http.get("/?a", headers=ANNA)

    elsewhere, redeemed, plain = asyncio.run(visit())
    assert [reply.text for reply in elsewhere] == ["GET b", "POST a"]
    assert (redeemed.text, redeemed.headers["Cache-Control"]) == ("GET a", "no-store")
    assert (plain.text, plain.headers["Cache-Control"]) == ("GET a", "public")


def test_a_ticket_that_nobody_asks_for_is_dropped_and_its_work_is_not_begun(line, monkeypatch):
    monkeypatch.setattr(answering, "PATIENCE", 0.2)
    served_keys = []

    async def visit() -> None:
        async with client_of(lambda: compute_in_turn(served_keys)) as http:
            with line.take():
                assert (await http.get("/", headers=ANNA)).status_code == 202
                await wait_until(lambda: has_length(line, 1))
        await wait_until(lambda: not answering._open_jobs)

    asyncio.run(visit())
    assert served_keys == []
    monkeypatch.setattr(answering, "PATIENCE", -1)
    answering.drop_tickets()
    assert answering._waiting_jobs == {}


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
        await wait_until(lambda: not answering._open_jobs)

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
        queue.current().hears("The graphics card's memory is full × 2.")
        return JSONResponse({})

    async def visit() -> httpx.Response:
        async with client_of(work) as http:
            return await http.get("/")

    sentences = asyncio.run(visit()).headers["X-Playground-Says"]
    assert httpx.URL(f"http://x/?says={sentences}").params["says"] == "The graphics card's memory is full × 2."


# Too many questions ---------------------------------------------------------------------------------------------------


def statuses_at_once(line: Queue, *visitors: dict) -> list[int]:
    """The statuses that these visitors get when they all ask while the only place is taken."""

    async def visit() -> list[int]:
        async with client_of(lambda: compute_in_turn([])) as http:
            with line.take():
                tasks = [asyncio.create_task(http.get("/", headers=headers)) for headers in visitors]
                await wait_until(lambda: all(task.done() for task in tasks))
                replies = [task.result() for task in tasks]
                tickets = [reply.headers["X-Playground-Ticket"] for reply in replies if reply.status_code == 202]
                for ticket in tickets:
                    answering._waiting_jobs[ticket].has_left = True
        await wait_until(lambda: not answering._open_jobs)
        assert all(reply.json()["says"].endswith(".") for reply in replies if reply.status_code >= 400), replies
        return [reply.status_code for reply in replies]

    return asyncio.run(visit())


def test_one_key_takes_no_more_places_than_its_share(line, monkeypatch):
    monkeypatch.setattr(ledger, "requests", Room("requests", 600, 4))
    statuses = statuses_at_once(line, *[ANNA] * 9, BERT)
    assert (statuses[:9].count(202), statuses[:9].count(503), statuses[9]) == (4, 5, 202)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("testclient", "testclient"),
        ("not:an:address", "not:an:address"),
        (None, ""),
    ],
)
def test_an_ipv6_network_counts_as_one_address(address, network):
    assert ledger.network(address) == network
