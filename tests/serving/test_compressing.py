"""Text whose address holds a digest is compressed once; everything else goes as it is."""

import gzip

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from playground.serving import scripts
from playground.serving.scripts import Compressed

TEXT = b"let it be compressed; " * 500
ANSWERS = {  # path -> (type, body, more headers)
    "/api/app/0123/shell/app.js": ("text/javascript", TEXT, {}),
    "/static/js/index.js": ("application/javascript", TEXT, {"ETag": '"it"', "Accept-Ranges": "bytes"}),
    "/api/samples/0123": ("application/json", TEXT, {}),
    "/static/font.woff2": ("font/woff2", TEXT, {}),
    "/api/samples/meadow/0123.jpg": ("image/jpeg", TEXT, {}),
    "/api/trace/0123/layers": ("application/octet-stream", TEXT, {}),
    "/api/trace": ("application/json", TEXT, {}),
    "/figure.svg": ("image/svg+xml", TEXT, {}),
    "/static/small.js": ("text/javascript", b"short", {}),
    "/static/packed.js": ("text/javascript", gzip.compress(TEXT), {"Content-Encoding": "gzip"}),
    "/page": ("text/html", TEXT, {}),
}
COMPRESSED = {"/api/app/0123/shell/app.js", "/static/js/index.js", "/api/samples/0123"}


@pytest.fixture
def asked():
    """The requests that came through to what is below."""
    return []


@pytest.fixture
def http(asked):
    async def below(request) -> Response:
        asked.append(request)
        kind, body, more = ANSWERS[request.url.path]
        if request.headers.get("if-none-match") == more.get("ETag", "none"):
            return Response(status_code=304, headers=more)
        if request.headers.get("range"):
            return Response(body[:10], 206, {"Content-Range": f"bytes 0-9/{len(body)}"}, kind)
        status = 410 if "old" in request.query_params else 200
        return Response(body, status, more, kind)

    app = Starlette(routes=[Route(path, below) for path in ANSWERS], middleware=[Middleware(Compressed)])
    return TestClient(app)


@pytest.mark.parametrize("path", ANSWERS)
def test_what_arrives_is_what_was_sent_and_the_fixed_text_comes_compressed(http, path):
    answer = http.get(path, headers={"Accept-Encoding": "gzip"})
    sent = ANSWERS[path][1]
    assert answer.content == (TEXT if path == "/static/packed.js" else sent)
    encoded = answer.headers.get("Content-Encoding") == "gzip"
    assert encoded == (path in COMPRESSED or path == "/static/packed.js")
    if path in COMPRESSED:
        assert int(answer.headers["Content-Length"]) < len(sent) / 10
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert "Accept-Ranges" not in answer.headers


@pytest.mark.parametrize("path", sorted(COMPRESSED))
def test_it_is_compressed_once(http, asked, path):
    bodies = {http.get(path, headers={"Accept-Encoding": "gzip"}).content for _ in range(3)}
    assert bodies == {TEXT}
    assert len(asked) == 1


def test_words_that_mean_nothing_are_no_other_text(http, asked):
    for n in range(3):
        http.get(f"/static/js/index.js?{n}", headers={"Accept-Encoding": "gzip"})
    assert len(asked) == 1


@pytest.mark.parametrize("path", ["/page", "/api/trace", "/static/js/index.js"])
def test_what_is_asked_for_as_a_page_is_compressed_for_this_one_alone(http, asked, path):
    """It may say what is somebody's own, or something else than a page: nobody else may get it."""
    as_page = {"Accept-Encoding": "gzip", "Accept": "text/html,*/*"}
    first = http.get(path, headers=as_page)
    assert (first.headers["Content-Encoding"], first.content) == ("gzip", TEXT)
    http.get(path, headers=as_page)
    assert http.get("/page", headers=as_page).headers["Content-Type"].startswith("text/html")
    assert len(asked) == 3


def test_another_address_is_another_text(http, asked):
    for styles in ("a.css", "b.css", "a.css"):
        http.get(f"/api/app/0123/shell/app.js?styles={styles}", headers={"Accept-Encoding": "gzip"})
    assert len(asked) == 2


@pytest.mark.parametrize("accepted", [None, "identity", "br"])
def test_who_takes_no_gzip_gets_none(http, accepted):
    headers = {"Accept-Encoding": accepted} if accepted else {"Accept-Encoding": ""}
    http.get("/static/js/index.js", headers={"Accept-Encoding": "gzip"})  # it is kept compressed
    answer = http.get("/static/js/index.js", headers=headers)
    assert "Content-Encoding" not in answer.headers
    assert answer.content == TEXT


def test_a_browser_that_has_it_hears_so_and_a_part_is_a_part(http):
    http.get("/static/js/index.js", headers={"Accept-Encoding": "gzip"})
    assert http.get("/static/js/index.js", headers={"If-None-Match": '"it"'}).status_code == 304
    part = http.get("/static/js/index.js", headers={"Range": "bytes=0-9"})
    assert (part.status_code, part.content) == (206, TEXT[:10])


def test_head_is_answered_as_below(http, asked):
    assert http.head("/static/js/index.js").status_code == 200
    assert [request.method for request in asked] == ["HEAD"]


def test_what_is_refused_is_not_kept(http, asked):
    for _ in range(2):
        assert http.get("/api/app/0123/shell/app.js?old", headers={"Accept-Encoding": "gzip"}).status_code == 410
    assert len(asked) == 2


def test_what_is_below_does_not_compress_a_second_time(http, asked):
    """Queries and keys gain nothing by it, and it would be done at every request."""
    http.get("/api/trace/0123/layers", headers={"Accept-Encoding": "gzip"})
    http.get("/page", headers={"Accept-Encoding": "gzip"})
    assert ["accept-encoding" in request.headers for request in asked] == [False, True]


def test_no_more_is_kept_than_there_is_room_for(monkeypatch, asked, http):
    monkeypatch.setattr(scripts, "KEPT_TEXTS", 500)
    for n in range(50):
        http.get(f"/api/app/0123/shell/app.js?styles={n}", headers={"Accept-Encoding": "gzip"})
    kept = http.app.middleware_stack
    while not isinstance(kept, Compressed):
        kept = kept.app
    assert 0 < kept.kept.bytes <= 500
