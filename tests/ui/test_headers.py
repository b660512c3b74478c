"""Headers of every answer, Streamlit's routes that the app switches off, and answers that are sent in pieces."""

import asyncio
import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from playground.errors import PlaygroundError
from playground.serving import ledger, settings
from playground.serving.ledger import Visitor
from playground.ui import pieces
from playground.ui.headers import POLICY, WORKBENCH_POLICY, Headers
from playground.ui.headers import headers as our_headers

CLOSED_PATHS = (
    "/workbench/_stcore/metrics", "/workbench/_stcore/metrics/", "//_stcore/metrics",
    "/workbench/_stcore/agent/interact", "/workbench/component/x/index.html", "/workbench/auth/login",
    "/workbench/oauth2callback",
)  # fmt: skip
LEARNERS_PATHS = ("/", "/patches", "/workbenches", "/api/page/page.css")
WORKBENCH_PATHS = ("/workbench", "/workbench/", "/workbench/train", "/workbench/_stcore/upload_file/a/b")


@pytest.fixture
def http():
    async def answer_request(request) -> PlainTextResponse:
        return PlainTextResponse("answered")

    route = Route("/{path:path}", answer_request, methods=["GET", "PUT", "POST", "DELETE", "OPTIONS"])
    return TestClient(Starlette(routes=[route], middleware=[Middleware(Headers, base="")]))


@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", CLOSED_PATHS)
def test_addresses_that_no_page_uses_are_refused(http, path, method):
    answer = http.request(method, f"http://testserver{path}")
    assert (answer.status_code, "answered" in answer.text) == (404, False)
    assert "Content-Security-Policy" in answer.headers


@pytest.mark.parametrize("path", [*LEARNERS_PATHS, *WORKBENCH_PATHS])
def test_the_workbench_has_streamlit_s_policy_and_all_else_the_learner_s(http, path):
    answer = http.get(path)
    assert (answer.status_code, answer.text) == (200, "answered")
    policy = WORKBENCH_POLICY if path in WORKBENCH_PATHS else POLICY
    assert answer.headers["Content-Security-Policy"].strip() == policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_the_learner_s_page_runs_no_script_and_no_style_that_is_not_a_file_of_ours():
    rules = dict(rule.strip().split(" ", 1) for rule in POLICY.split(";") if " " in rule.strip())
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == "'self' 'wasm-unsafe-eval'"
    assert rules["style-src"] == "'self'"
    assert rules["frame-ancestors"] == "'self'"
    assert not re.search(r"https?:", POLICY + WORKBENCH_POLICY), "nothing is loaded from another host"


# Answers that are being sent


def test_an_answer_s_bytes_are_counted_until_all_are_sent():
    sent_pieces, bytes_held = [], []

    async def app(scope, receive, send):
        await send({"type": "http.response.body", "body": bytes(300_000)})

    async def send(message):
        sent_pieces.append(len(message["body"]))
        bytes_held.append(ledger.answers().taken)

    scope = {"type": "http", "method": "GET", "path": "/api/x", "headers": [], "client": ("10.0.0.1", 5)}
    asyncio.run(pieces.Pieces(app)(scope, None, send))
    assert sum(sent_pieces) == 300_000
    assert max(sent_pieces) == pieces.PIECE_BYTES
    assert bytes_held == [300_000] * len(sent_pieces)
    assert not pieces.on_the_way()
    assert ledger.answers().taken == 0


def test_where_memory_is_full_the_oldest_answer_of_the_greediest_network_gives_way(own_app, monkeypatch):
    monkeypatch.setattr(ledger.answers(), "capacity", 1000)

    async def drop_message(message):
        pass

    old_answer, stranger_answer, new_answer = (
        pieces.AnswerInPieces(Visitor("", f"10.{n}.0.1"), drop_message) for n in (1, 2, 1)
    )
    old_answer._find_room(400)
    stranger_answer._find_room(300)
    new_answer._find_room(300)
    assert (old_answer.is_dropped, stranger_answer.is_dropped) == (True, False)
    for answer in (stranger_answer, new_answer):
        answer.give_back()
    assert ledger.answers().taken == 0


def test_a_site_that_is_named_may_show_the_app_in_a_frame(monkeypatch):
    monkeypatch.setattr(settings, "now", lambda: settings.read({"PLAYGROUND_FRAMED_BY": "https://*.hall.example"}))
    assert our_headers()["Content-Security-Policy"] == f"{POLICY} https://*.hall.example"
    for wrong_site in ("hall.example", "*", "https://x; script-src *"):
        with pytest.raises(PlaygroundError, match="PLAYGROUND_FRAMED_BY is sites"):
            settings.read({"PLAYGROUND_FRAMED_BY": wrong_site})
