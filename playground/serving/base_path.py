"""The path before the app: /attention where a company has several apps under one host, empty where it has a host of
its own. In the browser all addresses are relative, so that this is the one place that knows it.

Streamlit has its own parts under this path by itself (STREAMLIT_SERVER_BASE_URL_PATH, --server.baseUrlPath).
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

OPTION = "STREAMLIT_SERVER_BASE_URL_PATH"
PROBED = ("/healthz", "/readyz")
WITHIN = "playground.path"


class BasePath:
    """ASGI middleware: notes the path as the app knows it."""

    def __init__(self, app: ASGIApp, base: str):
        self.app, self.base = app, base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if self.base and path.startswith(f"{self.base}/"):
            scope = scope | {WITHIN: path.removeprefix(self.base)}
        await self.app(scope, receive, send)


def path_of(scope: Scope) -> str:
    """Such as /api/trace, whatever comes before it."""
    return scope.get(WITHIN) or scope.get("path", "")


def under(base: str, routes: Iterable[Route]) -> list[Route]:
    """The routes behind this path. Probes ask on the machine itself, and need not know it."""
    if not base:
        return list(routes)
    behind = (Route(f"{base}{one.path}", one.endpoint, methods=sorted(one.methods or ())) for one in routes)
    return [*behind, *(one for one in routes if one.path in PROBED)]


def read(option: str | None) -> str:
    """As Streamlit reads it: attention, /attention and /attention/ are the same."""
    name = (option or "").strip("/")
    return f"/{name}" if name else ""
