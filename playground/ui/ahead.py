"""The page names our script, so that the browser fetches it, and what the first picture needs, while Streamlit's own
scripts still build the page."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.serving import routes_samples, scripts
from playground.ui.components import APP, APP_STYLES


class Ahead:
    """ASGI middleware: adds one line to Streamlit's HTML."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].startswith(("/api/", "/static/")):
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
                    await _send_page(start, b"".join(pieces), send)

        return await self.app(scope, receive, with_script)


async def _send_page(start: Message, html: bytes, send: Send) -> None:
    page = html.replace(b"<title>", f"{line()}<title>".encode(), 1)  # before Streamlit's own scripts
    headers = MutableHeaders(scope=start)
    headers["Content-Length"] = str(len(page))
    for name in ("ETag", "Last-Modified"):  # of Streamlit's file: our line may be another one tomorrow
        del headers[name]
    await send(start)
    await send({"type": "http.response.body", "body": page})


def line() -> str:
    script = scripts.address(APP, *APP_STYLES)
    return f'<script type="module" async src="./{script}" data-samples="{routes_samples.address()}"></script>'
