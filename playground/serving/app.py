"""What a running server keeps: its models, traces, people, pictures and queues are parts of one App.

A part is what a function with `@part` makes; each App has its own, made when it is first needed. `ui/server.py` makes
the server of an App and puts it into Starlette's `app.state`, from where it is bound to every request; so two servers
in one process share nothing that they keep. A command and a page of the workbench have no request: they use `PROCESS`,
as the server that `python -m playground` starts does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

from starlette.types import ASGIApp, Receive, Scope, Send

Part = TypeVar("Part")


class App:
    def __init__(self) -> None:
        self._parts: dict[Callable[[], Any], Any] = {}
        self._locks: dict[Callable[[], Any], threading.Lock] = {}  # so that a part is made once

    def part(self, make: Callable[[], Part]) -> Part:
        if make not in self._parts:
            with self._locks.setdefault(make, threading.Lock()):
                if make not in self._parts:
                    self._parts[make] = make()
        return self._parts[make]


PROCESS = App()
_bound: ContextVar[App | None] = ContextVar("app", default=None)


def part(make: Callable[[], Part]) -> Callable[[], Part]:
    """Makes `make` a part of the App: called once in each."""

    @wraps(make, updated=())
    def value() -> Part:
        return (_bound.get() or PROCESS).part(make)

    return value


@contextmanager
def bound(app: App) -> Iterator[App]:
    token = _bound.set(app)
    try:
        yield app
    finally:
        _bound.reset(token)


class Bound:
    """ASGI middleware, the outermost one: what answers a request uses the parts of its server's App."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with bound(scope["app"].state.kept):
            await self.app(scope, receive, send)
