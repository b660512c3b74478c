"""The line by which a page names our script before Streamlit's."""

import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from playground.serving import routes_samples
from playground.serving.routes import ROUTES
from playground.ui.ahead import Ahead

PAGE = "<html><head><title>Streamlit</title><script src='theirs.js'></script></head><body>é</body></html>"


@pytest.fixture
def http():
    async def below(request) -> Response:
        if request.url.path.endswith(".txt"):
            return PlainTextResponse(PAGE)
        status = 404 if request.url.path == "/nowhere" else 200
        return HTMLResponse(PAGE, status, headers={"ETag": "theirs", "Last-Modified": "yesterday"})

    return TestClient(Starlette(routes=[*ROUTES, Route("/{path:path}", below)], middleware=[Middleware(Ahead)]))


def test_a_page_names_our_script_first_and_both_addresses_answer(http):
    answer = http.get("/")
    named = re.search(r'<script type="module" async src="\./(.*?)" data-samples="(.*?)">', answer.text)
    script, samples = named.groups()
    assert answer.text.index(script) < answer.text.index("theirs.js")
    assert answer.text.endswith("é</body></html>")
    assert int(answer.headers["Content-Length"]) == len(answer.content)
    assert "export default" in http.get(f"/{script}").text
    assert samples == routes_samples.address()
    assert http.get(f"/{samples}").json()["samples"]


def test_a_browser_asks_for_the_page_each_time_for_tomorrow_s_script_is_another(http):
    answer = http.get("/patches")
    assert {"etag", "last-modified"} & set(answer.headers) == set()


@pytest.mark.parametrize("path", ["/a.txt", "/nowhere", "/static/index.html"])
def test_what_is_no_page_stays_as_it_is(http, path):
    assert http.get(path).text == PAGE
