"""Whoever calls the server by a name that is not its own is refused, before anything else looks at what they ask."""

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from playground.serving import admission, hosts
from playground.ui.headers import headers

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
        admission.refused["foreign names"] += 1
        named = " and ".join(hosts.hosts_named(scope))[:100]
        refusal = PlainTextResponse(REFUSAL.format(named=named), 403, headers() | {"Cache-Control": "no-store"})
        await refusal(scope, receive, send)  # to a socket, too: its browser is told the status
