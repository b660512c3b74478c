"""Manages the server's life cycle: prepares Streamlit and warms up at the start, forgets people who have left, drops
requests of left pages, and ends the process quickly."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.serving import cache, ledger, people, routes_pictures, settings, starting
from playground.ui import messages, streamlit_private
from playground.ui.streamlit_private import fragment_and_page, message_and_page

WARM_UP_AFTER = 2.0  # seconds from the server's start: the first picture on a laptop comes before the warm-up
OPEN_FILES = 65536  # the number of files that the process may have open
FORGET_EVERY = 60.0  # seconds between two rounds of `_forget_the_gone`
# Python's switch interval in seconds: the time for which another thread may keep the interpreter while the event loop
# waits. For one answer the event loop waits a dozen times. With Python's default of 5 ms, an answer took a tenth of a
# second longer while a page ran.
SWITCH_INTERVAL = 0.0005
LAST_SECONDS = 3  # most seconds from a signal to the end of the process


@asynccontextmanager
async def lifespan(_) -> AsyncIterator[None]:
    _open_more_files()
    sys.setswitchinterval(SWITCH_INTERVAL)
    settings.find_a_folder()
    streamlit_private.ask_nobody_for_our_address()
    streamlit_private.hush_toasts()
    streamlit_private.hide_sessions()
    messages.connect()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        _end_soon_after(signal_number)
    forget_task = asyncio.create_task(_forget_the_gone())
    warm_up_timer = threading.Timer(WARM_UP_AFTER, starting.warm_up)
    warm_up_timer.daemon = True
    warm_up_timer.start()
    yield
    forget_task.cancel()


def _open_more_files() -> None:
    """Raises the limit of open files: a session takes four, so a class of 300 exceeds the usual 1,024."""
    with suppress(ImportError, ValueError, OSError):  # missing on Windows, forbidden on some systems
        import resource

        soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        limit = OPEN_FILES if hard_limit == resource.RLIM_INFINITY else min(hard_limit, OPEN_FILES)
        if soft_limit != resource.RLIM_INFINITY and soft_limit < limit:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard_limit))


async def _forget_the_gone() -> None:
    while True:
        await asyncio.sleep(FORGET_EVERY)
        ledger.seats.charge()
        people.forget_the_gone()
        await asyncio.to_thread(cache.give_back_free)


def _end_soon_after(number: signal.Signals) -> None:
    """Ends the process LAST_SECONDS after the signal. The server would wait for every connection and thread, such as a
    long computation; an alarm of the operating system does not."""
    former_handler, loop = signal.getsignal(number), asyncio.get_running_loop()

    def end(number: int, frame) -> None:
        if hasattr(signal, "alarm"):  # not on Windows
            signal.alarm(LAST_SECONDS)
        loop.call_soon_threadsafe(routes_pictures.end_all)
        if callable(former_handler):
            former_handler(number, frame)

    signal.signal(number, end)


# A drawing reports a choice with a delay, so a request may arrive from a page that was just left. Streamlit takes the
# page from the last request, and would draw the left page over the new one.


class LeftPages:
    """ASGI middleware that drops requests from a page that was left. It runs behind `Door`, which checks messages."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            return await self.app(scope, receive, send)
        tracker = PageTracker(receive, send)
        return await self.app(scope, tracker.receive, tracker.send)


class PageTracker:
    """The messages of one session, and the page that was last requested or shown."""

    def __init__(self, receive: Receive, send: Send):
        self._receive, self._send = receive, send
        self.page = ""

    async def receive(self) -> Message:
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return message
            fragment, page = fragment_and_page(message["bytes"])
            if not fragment:
                self.page = page or self.page
            if not fragment or page in (self.page, ""):
                return message

    async def send(self, message: Message) -> None:
        if data := message.get("bytes"):
            data, self.page = message_and_page(data, self.page)
            message = message | {"bytes": data}
        await self._send(message)
