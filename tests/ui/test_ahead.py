"""The HTML of a page: it names our script before Streamlit's scripts."""

import html
import json
import re
from pathlib import Path

import pytest
import streamlit
from playground.ui.streamlit_private import BASE_SCRIPT
from playground.ui.toolbar import EarlyScript
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from playground.serving.routes import ROUTES
from playground.ui import components, toolbar

STREAMLIT_PAGE = (Path(streamlit.__file__).parent / "static" / "index.html").read_text()


def with_our_title(page: str) -> str:
    """The page with Streamlit's title and icon replaced by ours, and the address of its server before them."""
    for their_bytes, our_bytes in toolbar.OUR_TEXTS.items():
        assert their_bytes.decode() in page
        page = page.replace(their_bytes.decode(), our_bytes.decode())
    return page.replace("<title>", f"<script>{BASE_SCRIPT}</script><title>", 1)


OUR_SCRIPT = re.compile(r'<script type="module" async src="\./(.*?)" data-toolbar="(.*?)"></script>')
PREVIEW_TAGS = re.compile(r'(?:<meta property="(?:og|twitter):[^>]*>\n?)+')  # written by serving/routes_figures.py
WAITING_SCRIPTS = re.compile(r"<template data-later>(.*?)</template>", re.DOTALL)


@pytest.fixture
def http():
    async def answer_request(request) -> Response:
        if request.url.path.endswith(".txt"):
            return PlainTextResponse(STREAMLIT_PAGE)
        status = 404 if request.url.path == "/nowhere/microscope" else 200
        return HTMLResponse(STREAMLIT_PAGE, status, headers={"ETag": "theirs", "Last-Modified": "yesterday"})

    return TestClient(
        Starlette(routes=[*ROUTES, Route("/{path:path}", answer_request)], middleware=[Middleware(EarlyScript)])
    )


@pytest.mark.parametrize("path", ["/", "/microscope", "/?sample=meadow", "/lab/microscope", "/heads"])
def test_each_page_names_our_script_first_and_the_files_named_there_are_served(http, path):
    answer = http.get(path)
    script, toolbar_data = OUR_SCRIPT.search(answer.text).groups()
    toolbar_data = json.loads(html.unescape(toolbar_data))
    assert answer.headers["Content-Encoding"] == "gzip"
    assert int(answer.headers["Content-Length"]) == answer.num_bytes_downloaded < len(answer.content) / 2
    unzipped_answer = http.get(path, headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in unzipped_answer.headers
    assert int(unzipped_answer.headers["Content-Length"]) == len(unzipped_answer.content)
    assert "export default" in http.get(f"/{script}").text
    assert http.get(f"/{toolbar_data['samples']}").json()["samples"]
    assert toolbar_data == json.loads(json.dumps(toolbar.same_for_all()))


@pytest.mark.parametrize("path", ["/c", "/c/ACDEF"])
def test_a_class_s_page_for_phones_names_its_own_script_alone(http, path):
    text = http.get(path).text
    assert "phone.js" in text
    assert "data-toolbar" not in text


@pytest.mark.parametrize("path", ["/", "/lab/microscope"])
def test_on_the_microscopes_page_streamlits_scripts_wait_and_nothing_else_is_lost(http, path):
    text = http.get(path).text
    (waiting_part,) = WAITING_SCRIPTS.findall(text)
    scripts = re.findall(r"static/js/[\w.-]+", STREAMLIT_PAGE)
    assert len(scripts) > 5
    assert re.findall(r"static/js/[\w.-]+", waiting_part) == scripts
    assert "static/js/" not in WAITING_SCRIPTS.sub("", text)
    assert PREVIEW_TAGS.sub("", OUR_SCRIPT.sub("", WAITING_SCRIPTS.sub(r"\1", text))) == with_our_title(STREAMLIT_PAGE)


def test_on_a_lesson_s_page_streamlit_s_scripts_begin_at_once(http):
    assert OUR_SCRIPT.sub("", http.get("/heads").text) == with_our_title(STREAMLIT_PAGE)


def test_if_streamlit_writes_its_page_in_another_way_its_scripts_begin_at_once(http, monkeypatch):
    page = STREAMLIT_PAGE.replace('<script type="module" crossorigin', "<script defer").replace(
        "modulepreload", "prefetch"
    )
    monkeypatch.setattr(f"{__name__}.STREAMLIT_PAGE", page)
    assert PREVIEW_TAGS.sub("", OUR_SCRIPT.sub("", http.get("/").text)) == with_our_title(page)


def test_no_header_lets_a_browser_keep_the_page(http):
    assert {"etag", "last-modified"} & set(http.get("/").headers) == set()


@pytest.mark.parametrize("path", ["/a.txt", "/nowhere/microscope", "/static/index.html"])
def test_an_answer_that_is_no_page_stays_as_it_is(http, path):
    assert http.get(path).text == STREAMLIT_PAGE


def test_a_component_finds_the_app_s_root_by_our_script(http):
    assert 'querySelector("script[data-toolbar]").src.split("api/app/")' in components.STUB
    assert OUR_SCRIPT.search(http.get("/lab/heads").text).group(1).startswith("api/app/")
