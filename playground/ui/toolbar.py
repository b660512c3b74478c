"""Draws the toolbar on every page: it keeps the choice of picture, model and grid, and links to other pages.
`EarlyScript` makes the page's HTML load the toolbar's script before Streamlit's own scripts.

The toolbar is drawn before the page, so that Streamlit keeps it from page to page. On the microscope's page it reports
nothing to Streamlit; on a lesson's page it reports each choice, because the server computes the lesson's numbers.
"""

from __future__ import annotations

import gzip
import json
import re
from html import escape

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.models.names import plain_name
from playground.serving import models, pictures, routes_figures, routes_samples, scripts
from playground.serving.hosts import path_of
from playground.ui import streamlit_private
from playground.ui.components import APP_SCRIPT, APP_STYLES, SHARED_PAGE_FILES, app_component
from playground.ui.pages import ICON, LESSONS, MICROSCOPE, PAGES, TITLE, Page
from playground.version import __version__, repository

state = st.session_state


def draw(page: Page) -> None:
    if (target := state.pop("go", None)) and str(target.get("page")) in PAGES:
        _open_page(target)
    data = {
        "page": page.name,
        "arrived": state.get("arrived", 0),
        "answer": state.get("answer"),
        "run": streamlit_private.session_id(),  # a new id after a restart of the server
    }
    app_component("toolbar")(
        key="toolbar", data=data, default={"choice": None}, on_choice_change=lambda: None, on_go_change=_on_go
    )


def same_for_all() -> dict:
    """The part of the toolbar's data that is the same for everybody; `EarlyScript` writes this part into the HTML."""
    return {
        "samples": routes_samples.address(),
        "pages": [
            {
                "name": page.name,
                "short": page.short,
                "title": page.title,
                "number": LESSONS.index(page) + 1 if page in LESSONS else None,
                "exports": page.exports,
            }
            for page in PAGES.values()
        ],
        "labelled": pictures.labelled_set(),
        "titles": {card.name: card.title for card in models.cards()}
        | {models.PHOTOGRAPH_MODEL: plain_name(models.PHOTOGRAPH_MODEL)},
        "computes": scripts.computed_by_browsers(),  # models that browsers run
        "version": __version__,
        "shared": scripts.address(*SHARED_PAGE_FILES),
        "repository": repository(),
    }


def _on_go() -> None:
    """Opens the page chosen in the toolbar: {page, words of its address, view, key}."""
    target = state.toolbar.go
    state.go = target if isinstance(target, dict) else None


def _open_page(target: dict) -> None:
    state.came_with = read_message(target)
    state.read_again = True
    state.arrived = state.get("arrived", 0) + 1
    st.switch_page(PAGES[target["page"]].file, query_params=_as_strings(target.get("words")))


def read_message(message: object) -> dict[str, dict | str | None]:
    """{choice, settings, view, key, run} from the toolbar's message, which is unchecked input from a browser."""
    message = message if isinstance(message, dict) else {}
    fields = {part: _as_strings(message.get(part)) for part in ("choice", "view")}
    settings = message.get("settings")
    fields["settings"] = _as_strings(settings) if isinstance(settings, dict) else None
    return fields | {name: message[name] if isinstance(message.get(name), str) else None for name in ("key", "run")}


def _as_strings(words: object) -> dict[str, str]:
    return {str(key): str(word) for key, word in words.items()} if isinstance(words, dict) else {}


# The HTML of every page names our script, with the toolbar's data, before Streamlit's own scripts. Streamlit needs a
# second to build the page. On the microscope's page the first picture does not need Streamlit, so its scripts wait in a
# template until the picture is there.

# If a version of Streamlit writes these tags differently, the pattern finds nothing, and the scripts start at once
STREAMLIT_TAGS = re.compile(rb'(?:\s*<(?:script type="module"|link rel="modulepreload")[^>]*>(?:</script>)?)+')
MICROSCOPE_PATHS = ("", MICROSCOPE.name)  # the last part of an address that opens the microscope's page
# Streamlit's HTML has its own title until its scripts start, which may never happen on the microscope's page
OUR_TEXTS = {
    b"<title>Streamlit</title>": f"<title>{TITLE}</title>".encode(),
    b'href="./favicon.png"': (
        "href=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 100'>"
        f"<text y='.9em' font-size='90'>{ICON}</text></svg>\""
    ).encode(),
}


class EarlyScript:
    """ASGI middleware: inserts our script into Streamlit's HTML, and compresses the HTML if no proxy does."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Addresses that are not Streamlit's pages; on /c/ a lecture's audience answers by phone
        other_prefixes = ("/api/", "/static/", "/c/")
        if scope["type"] != "http" or f"{path_of(scope)}/".startswith("/next/"):  # which compresses its pages itself
            return await self.app(scope, receive, send)
        # Without accept-encoding, so that Streamlit does not compress numbers, which hardly become smaller
        plain_scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]}
        if scope["method"] != "GET" or f"{path_of(scope)}/".startswith(other_prefixes):
            return await self.app(plain_scope, receive, send)
        start: Message = {}
        pieces: list[bytes] = []

        async def send_with_script(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                is_page = MutableHeaders(scope=message).get("content-type", "").startswith("text/html")
                start = message if is_page and message["status"] == 200 else {}
            if not start:
                return await send(message)
            if message["type"] == "http.response.body":
                pieces.append(message.get("body", b""))
                if not message.get("more_body"):
                    await _send_page(scope, start, b"".join(pieces), send)

        return await self.app(plain_scope, receive, send_with_script)


async def _send_page(scope: Scope, start_message: Message, html: bytes, send: Send) -> None:
    page, head_tags = html, f"<script>{streamlit_private.BASE_SCRIPT}</script>{script_tag()}"
    if path_of(scope).rpartition("/")[2] in MICROSCOPE_PATHS:
        page = STREAMLIT_TAGS.sub(rb"<template data-later>\g<0></template>", html, count=1)
        request = Request(scope)
        root = str(request.url.replace(query="")).rpartition("/")[0]
        head_tags = routes_figures.preview_tags(request.query_params, f"{root}/") + head_tags
    for streamlit_text, our_text in OUR_TEXTS.items():
        page = page.replace(streamlit_text, our_text, 1)
    page = page.replace(b"<title>", f"{head_tags}<title>".encode(), 1)
    headers = MutableHeaders(scope=start_message)
    headers.add_vary_header("Accept-Encoding")
    if "gzip" in Headers(scope=scope).get("accept-encoding", ""):
        page = gzip.compress(page, mtime=0)
        headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(page))
    for name in ("ETag", "Last-Modified"):  # headers of Streamlit's own file, which lacks our script
        del headers[name]
    await send(start_message)
    await send({"type": "http.response.body", "body": page})


def script_tag() -> str:
    script = scripts.address(APP_SCRIPT, *APP_STYLES)
    record = escape(json.dumps(same_for_all(), ensure_ascii=False))
    return f'<script type="module" async src="./{script}" data-toolbar="{record}"></script>'
