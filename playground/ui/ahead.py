"""Every page names our script before Streamlit's own, with what our toolbar shows on all of them. On the microscope's
page Streamlit's scripts wait in a template until our first picture is there: they take a second to build the page, and
the picture does not need them."""

from __future__ import annotations

import json
import re
from html import escape

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.serving import scripts
from playground.serving.hosts import path_of
from playground.ui import toolbar
from playground.ui.components import APP, APP_STYLES
from playground.ui.pages import MICROSCOPE

# Where another version of Streamlit writes them otherwise, they begin at once
STREAMLITS_OWN = re.compile(rb'(?:\s*<(?:script type="module"|link rel="modulepreload")[^>]*>(?:</script>)?)+')
PATHS = ("", MICROSCOPE.name)  # how the address of the microscope's page may end


class Ahead:
    """ASGI middleware: changes Streamlit's HTML."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or path_of(scope).startswith(("/api/", "/static/")):
            return await self.app(scope, receive, send)
        start: Message = {}
        pieces: list[bytes] = []

        async def with_script(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                is_page = MutableHeaders(scope=message).get("content-type", "").startswith("text/html")
                start = message if is_page and message["status"] == 200 else {}
            if not start:
                return await send(message)
            if message["type"] == "http.response.body":
                pieces.append(message.get("body", b""))
                if not message.get("more_body"):
                    await _send_page(path_of(scope), start, b"".join(pieces), send)

        return await self.app(scope, receive, with_script)


async def _send_page(path: str, start: Message, html: bytes, send: Send) -> None:
    page = html
    if path.rpartition("/")[2] in PATHS:
        page = STREAMLITS_OWN.sub(rb"<template data-later>\g<0></template>", html, count=1)
    page = page.replace(b"<title>", f"{line()}<title>".encode(), 1)
    headers = MutableHeaders(scope=start)
    headers["Content-Length"] = str(len(page))
    for name in ("ETag", "Last-Modified"):  # of Streamlit's file: our line may be another one tomorrow
        del headers[name]
    await send(start)
    await send({"type": "http.response.body", "body": page})


def line() -> str:
    script = scripts.address(APP, *APP_STYLES)
    told = escape(json.dumps(toolbar.same_for_all(), ensure_ascii=False))
    return f'<script type="module" async src="./{script}" data-toolbar="{told}"></script>'
