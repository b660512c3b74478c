"""Mounts the Streamlit app of app.py at /workbench. Without it (PLAYGROUND_WORKBENCH=no) Streamlit is not imported."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from playground.assets import APP
from playground.serving import hosts, ledger, settings

if TYPE_CHECKING:
    import streamlit as st

PATH = "/workbench"
FOREIGN_CODE = 1008  # the close code of a WebSocket that another host's page has opened


@cache
def _app() -> st.App:
    os.chdir(APP.parent)  # where Streamlit finds .streamlit/, its settings
    import streamlit as st

    st.get_option("server.port")  # reads the log settings now: read later, they would turn uvicorn's log on again
    return st.App(APP)


def mount(base: str) -> list[BaseRoute]:
    if not settings.now().workbench:
        return []
    return [Route(f"{base}{PATH}", _with_slash), Mount(f"{base}{PATH}", OwnPages(_app()))]


async def _with_slash(request: Request) -> RedirectResponse:
    return RedirectResponse(f".{PATH}/?{request.query_params}")


@asynccontextmanager
async def running() -> AsyncIterator[None]:
    if not settings.now().workbench:
        yield
        return
    async with _app().lifespan()(_app()):
        yield


class OwnPages:
    """ASGI middleware: closes a WebSocket that another host's page opens. Streamlit would ask the internet for this
    machine's address before it decides, and meanwhile the whole server would wait."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and hosts.is_foreign(Headers(scope=scope)):
            ledger.refusals()["foreign pages"] += 1
            return await send({"type": "websocket.close", "code": FOREIGN_CODE})
        await self.app(scope, receive, send)
