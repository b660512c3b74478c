"""The HTML of a page: it names our script before Streamlit's scripts."""

import html
import json
import re
from pathlib import Path

import pytest
import streamlit
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from playground.serving.routes import ROUTES
from playground.ui import components, toolbar
from playground.ui.toolbar import EarlyScript

PAGE = (Path(streamlit.__file__).parent / "static" / "index.html").read_text()


def titled(page: str) -> str:
    """The page with Streamlit's title and icon replaced by ours."""
    for their_bytes, our_bytes in toolbar.OUR_TEXTS.items():
        assert their_bytes.decode() in page
        page = page.replace(their_bytes.decode(), our_bytes.decode())
    return page


OURS = re.compile(r'<script type="module" async src="\./(.*?)" data-toolbar="(.*?)"></script>')
TOLD = re.compile(r'(?:<meta property="(?:og|twitter):[^>]*>\n?)+')  # written by serving/routes_figures.py
WAITING = re.compile(r"<template data-later>(.*?)</template>", re.DOTALL)


@pytest.fixture
def http():
    async def answer_request(request) -> Response:
        if request.url.path.endswith(".txt"):
            return PlainTextResponse(PAGE)
        status = 404 if request.url.path == "/nowhere/microscope" else 200
        return HTMLResponse(PAGE, status, headers={"ETag": "theirs", "Last-Modified": "yesterday"})

    return TestClient(
        Starlette(routes=[*ROUTES, Route("/{path:path}", answer_request)], middleware=[Middleware(EarlyScript)])
    )


@pytest.mark.parametrize("path", ["/", "/microscope", "/?sample=meadow", "/lab/microscope", "/heads"])
def test_a_page_names_our_script_first_and_what_it_names_answers(http, path):
    answer = http.get(path)
    script, settings = OURS.search(answer.text).groups()
    settings = json.loads(html.unescape(settings))
    assert answer.headers["Content-Encoding"] == "gzip"
    assert int(answer.headers["Content-Length"]) == answer.num_bytes_downloaded < len(answer.content) / 2
    unzipped_answer = http.get(path, headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in unzipped_answer.headers
    assert int(unzipped_answer.headers["Content-Length"]) == len(unzipped_answer.content)
    assert "export default" in http.get(f"/{script}").text
    assert http.get(f"/{settings['samples']}").json()["samples"]
    assert settings == json.loads(json.dumps(toolbar.same_for_all()))


@pytest.mark.parametrize("path", ["/c", "/c/ACDEF"])
def test_a_class_s_page_for_phones_names_its_own_script_alone(http, path):
    text = http.get(path).text
    assert "phone.js" in text
    assert "data-toolbar" not in text


@pytest.mark.parametrize("path", ["/", "/lab/microscope"])
def test_on_the_microscopes_page_streamlits_scripts_wait_and_nothing_else_is_lost(http, path):
    text = http.get(path).text
    (waiting_part,) = WAITING.findall(text)
    scripts = re.findall(r"static/js/[\w.-]+", PAGE)
    assert len(scripts) > 5
    assert re.findall(r"static/js/[\w.-]+", waiting_part) == scripts
    assert "static/js/" not in WAITING.sub("", text)
    assert TOLD.sub("", OURS.sub("", WAITING.sub(r"\1", text))) == titled(PAGE)


def test_on_a_lesson_they_begin_at_once(http):
    assert OURS.sub("", http.get("/heads").text) == titled(PAGE)


def test_a_page_that_is_written_in_another_way_begins_at_once(http, monkeypatch):
    page = PAGE.replace('<script type="module" crossorigin', "<script defer").replace("modulepreload", "prefetch")
    monkeypatch.setattr(f"{__name__}.PAGE", page)
    assert TOLD.sub("", OURS.sub("", http.get("/").text)) == titled(page)


def test_a_browser_asks_for_the_page_each_time_for_tomorrow_s_script_is_another(http):
    assert {"etag", "last-modified"} & set(http.get("/").headers) == set()


@pytest.mark.parametrize("path", ["/a.txt", "/nowhere/microscope", "/static/index.html"])
def test_what_is_no_page_stays_as_it_is(http, path):
    assert http.get(path).text == PAGE


def test_a_component_finds_the_app_s_root_by_our_script(http):
    assert 'querySelector("script[data-toolbar]").src.split("api/app/")' in components.STUB
    assert OURS.search(http.get("/lab/heads").text).group(1).startswith("api/app/")
