"""Before any answer: its headers, what is nobody's business, and whether the server was called by a name of its own."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.serving import hosts, ledger, settings

# Nothing is loaded from, sent to, or framed by another host. Why each word is there:
#   script-src       Streamlit's files and ours. blob: the few lines by which a component imports ours arrive as text.
#                    wasm-unsafe-eval: protobuf's 64-bit numbers. The digest: one line in Streamlit's index.html.
#   style-src        Streamlit's and Plotly's styles are written into the page
#   img-src          thumbnails, the pictures in Markdown, what is exported
#   font-src         the fonts of the formulas
#   connect-src      the WebSocket, pictures and numbers; data: a photograph from the camera
POLICY = (
    "default-src 'none'; "
    "script-src 'self' blob: 'wasm-unsafe-eval' 'sha256-THxz9J9+wf7rhwR2YkXJoSZ13UCmYyC+3lNDv2+8ugA='; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
# How much the server does, and parts of Streamlit that no page of ours uses
NOBODYS_BUSINESS = (
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
    """ASGI middleware."""

    def __init__(self, app: ASGIApp):
        self.app = app
        self.headers = headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        closed = any(part in f"{scope['path']}/" for part in NOBODYS_BUSINESS)
        app = PlainTextResponse("Not found", status_code=404) if closed else self.app
        return await app(scope, receive, with_headers)


# Whoever calls the server by a name that is not its own is refused, before anything else looks at what they ask.


REFUSAL = (
    "This server is not known as {named}. If that is its name, start it with --allow-host NAME, "
    "or with the environment variable PLAYGROUND_HOSTS=NAME.\n"
)


class KnownHosts:
    """ASGI middleware: the first that a request or a socket meets."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or await hosts.is_answered(scope):
            return await self.app(scope, receive, send)
        ledger.refused["foreign names"] += 1
        named = " and ".join(hosts.hosts_named(scope))[:100]
        refusal = PlainTextResponse(REFUSAL.format(named=named), 403, headers() | {"Cache-Control": "no-store"})
        await refusal(scope, receive, send)  # to a socket, too: its browser is told the status
