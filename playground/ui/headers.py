"""Middleware for every answer: adds security headers, hides parts of Streamlit, and checks the requested host name."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.serving import hosts, ledger, settings
from playground.ui import workbench
from playground.ui.site import page

# No page loads anything from another host, or sends anything there. Only sites of PLAYGROUND_FRAMED_BY may frame it.
# ui/site/page.py explains what the learner's page needs. The workbench needs what Streamlit needs:
#   script-src       blob: the script of its component. The digest: one line in Streamlit's index.html
#   style-src        styles that Streamlit and Plotly write into the page
#   font-src         the fonts of formulas
#   connect-src      data: a photograph from the camera
COMMON = "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
POLICY = f"{page.POLICY.format(script='')}; {COMMON}"
WORKBENCH_POLICY = (
    "default-src 'none'; "
    "script-src 'self' blob: 'wasm-unsafe-eval' 'sha256-THxz9J9+wf7rhwR2YkXJoSZ13UCmYyC+3lNDv2+8ugA='; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' blob:; font-src 'self' data:; "
    f"connect-src 'self' data:; {COMMON}"
)
REFUSED_PATHS = ("/_stcore/metrics", "/_stcore/agent", "/component/", "/auth/", "/oauth2callback")  # of Streamlit


def headers(policy: str = POLICY) -> dict[str, str]:
    return {
        "Content-Security-Policy": " ".join((policy, *settings.now().framed_by)),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }


class Headers:
    """ASGI middleware: adds the headers, and answers 404 for REFUSED_PATHS."""

    def __init__(self, app: ASGIApp, base: str):
        self.app, self.workbench_path = app, f"{base}{workbench.PATH}/"
        self.headers, self.workbench_headers = headers(), headers(WORKBENCH_POLICY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        is_workbench = f"{scope['path']}/".startswith(self.workbench_path)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.workbench_headers if is_workbench else self.headers)
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
        if scope["type"] not in ("http", "websocket") or hosts.is_answered(scope):
            return await self.app(scope, receive, send)
        ledger.refusals()["foreign names"] += 1
        host_names = " and ".join(hosts.hosts_named(scope))[:100]
        refusal = PlainTextResponse(REFUSAL.format(named=host_names), 403, headers() | {"Cache-Control": "no-store"})
        await refusal(scope, receive, send)  # this answer refuses a WebSocket, too
