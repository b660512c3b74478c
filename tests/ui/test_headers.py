"""Headers of every answer, and Streamlit's routes that the app switches off."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from playground.serving.routes import WORDS_OF_ROUTE
from playground.ui.headers import POLICY, REFUSED_PATHS, Headers

CLOSED_PATHS = (
    "/_stcore/metrics", "/_stcore/metrics/", "//_stcore/metrics", "/x/_stcore/metrics", "/_stcore/agent/interact",
    "/_stcore/upload_file/a-session/a-file", "/%5fstcore/upload_file/a/b", "/_stcore/bidi-components/x/y.js",
    "/component/x/index.html", "/auth/login", "/oauth2callback",
)  # fmt: skip
OPEN_PATHS = (
    "/",
    "/patches",
    "/_stcore/health",
    "/_stcore/host-config",
    "/_stcore/stream",
    "/media/0123.csv",
    "/static/a.js",
)


@pytest.fixture
def http():
    async def answer_request(request) -> PlainTextResponse:
        return PlainTextResponse("streamlit")

    route = Route("/{path:path}", answer_request, methods=["GET", "PUT", "POST", "DELETE", "OPTIONS"])
    return TestClient(Starlette(routes=[route], middleware=[Middleware(Headers)]))


@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", CLOSED_PATHS)
def test_addresses_that_no_page_uses_are_refused(http, path, method):
    """For example, files uploaded by Streamlit's own route would stay in memory uncounted until a session ends."""
    answer = http.request(method, f"http://testserver{path}")
    assert (answer.status_code, "streamlit" in answer.text) == (404, False)
    assert answer.headers["Content-Security-Policy"].startswith(POLICY)


@pytest.mark.parametrize("path", OPEN_PATHS)
def test_addresses_that_pages_use_answer_with_our_headers(http, path):
    answer = http.get(path)
    assert (answer.status_code, answer.text) == (200, "streamlit")
    assert answer.headers["Content-Security-Policy"].startswith(POLICY)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_no_route_of_ours_is_closed():
    closed_routes = [
        route for route in WORDS_OF_ROUTE if any(part in f"{route.split(' ')[1]}/" for part in REFUSED_PATHS)
    ]
    assert closed_routes == []
