"""Middleware for every answer: adds security headers, hides parts of Streamlit, and checks the requested host name."""

from __future__ import annotations

import hashlib
from base64 import b64encode

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.serving import hosts, ledger, settings
from playground.ui.streamlit_private import BASE_SCRIPT

# The page loads nothing from another host, sends nothing to it, and is framed by none. Each directive allows:
#   script-src       Streamlit's files and ours. blob: the few lines of a component that import our script.
#                    wasm-unsafe-eval: protobuf's 64-bit numbers. The digests: one line in Streamlit's index.html, and
#                    ours.
#   style-src        styles that Streamlit and Plotly write into the page
#   img-src          thumbnails, pictures in Markdown, exported figures
#   font-src         the fonts of the formulas
#   connect-src      the WebSocket, pictures and numbers. data: a photograph from the camera
POLICY = (
    "default-src 'none'; "
    "script-src 'self' blob: 'wasm-unsafe-eval' 'sha256-THxz9J9+wf7rhwR2YkXJoSZ13UCmYyC+3lNDv2+8ugA=' "
    f"'sha256-{b64encode(hashlib.sha256(BASE_SCRIPT.encode()).digest()).decode()}'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
# Addresses that are refused: Streamlit's metrics, and parts of Streamlit that our pages don't use
REFUSED_PATHS = (
    "/_stcore/metrics", "/_stcore/agent", "/_stcore/upload_file", "/_stcore/bidi-components", "/component/", "/auth/",
    "/oauth2callback",
)  # fmt: skip


def headers() -> dict[str, str]:
    return {
        "Content-Security-Policy": " ".join((POLICY, *settings.now().framed_by)),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }


class Headers:
    """ASGI middleware: adds the headers, and answers 404 for REFUSED_PATHS."""

    def __init__(self, app: ASGIApp):
        self.app = app
        self.headers = headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        is_refused = any(part in f"{scope['path']}/" for part in REFUSED_PATHS)
        app = PlainTextResponse("Not found", status_code=404) if is_refused else self.app
        return await app(scope, receive, send_with_headers)


# A request to a host name that is not the server's own is refused before anything else reads the request.


REFUSAL = (
    "This server is not known as {named}. If that is its name, start it with --allow-host NAME, "
    "or with the environment variable PLAYGROUND_HOSTS=NAME.\n"
)


class KnownHosts:
    """ASGI middleware, the outermost one: refuses requests and sockets to other host names."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or await hosts.is_answered(scope):
            return await self.app(scope, receive, send)
        ledger.refusals["foreign names"] += 1
        host_names = " and ".join(hosts.hosts_named(scope))[:100]
        refusal = PlainTextResponse(REFUSAL.format(named=host_names), 403, headers() | {"Cache-Control": "no-store"})
        await refusal(scope, receive, send)  # this answer refuses a WebSocket, too
