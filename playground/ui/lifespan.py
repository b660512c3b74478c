"""The server's life: it warms up at the start, forgets people who have left, and ends quickly."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from types import FrameType

from starlette.applications import Starlette

from playground.serving import cache, incoming, people, starting
from playground.ui import workbench

WARM_UP_AFTER = 2.0  # seconds from the server's start: the first picture on a laptop comes before the warm-up
OPEN_FILES = 65536  # the number of files that the process may have open
FORGET_EVERY = 60.0  # seconds between two rounds of `_forget_the_gone`
# Python's switch interval in seconds: the time for which another thread may keep the interpreter while the event loop
# waits. For one answer the event loop waits a dozen times. With Python's default of 5 ms, an answer took a tenth of a
# second longer while a page ran.
SWITCH_INTERVAL = 0.0005
LAST_SECONDS = 3  # most seconds from a signal to the end of the process


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    _open_more_files()
    sys.setswitchinterval(SWITCH_INTERVAL)
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        _end_soon_after(signal_number)
    forget_task = asyncio.create_task(_forget_the_gone())
    warm_up_timer = threading.Timer(WARM_UP_AFTER, copy_context().run, [starting.warm_up])
    warm_up_timer.daemon = True
    warm_up_timer.start()
    async with workbench.running():
        yield
    forget_task.cancel()


def _open_more_files() -> None:
    """Raises the limit of open files: a class of 300 exceeds the usual 1,024."""
    with suppress(ImportError, ValueError, OSError):  # missing on Windows, forbidden on some systems
        import resource

        soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        limit = OPEN_FILES if hard_limit == resource.RLIM_INFINITY else min(hard_limit, OPEN_FILES)
        if soft_limit != resource.RLIM_INFINITY and soft_limit < limit:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard_limit))


async def _forget_the_gone() -> None:
    while True:
        await asyncio.sleep(FORGET_EVERY)
        people.everybody().forget_the_gone()
        await asyncio.to_thread(cache.give_back_free)


def _end_soon_after(number: signal.Signals) -> None:
    """Ends the process LAST_SECONDS after the signal. The server would wait for every connection and thread, such as a
    long computation; an alarm of the operating system does not."""
    former_handler, loop = signal.getsignal(number), asyncio.get_running_loop()
    deliveries = incoming.deliveries()

    def end(number: int, frame: FrameType | None) -> None:
        if hasattr(signal, "alarm"):  # not on Windows
            signal.alarm(LAST_SECONDS)
        loop.call_soon_threadsafe(deliveries.end_all)
        if callable(former_handler):
            former_handler(number, frame)

    signal.signal(number, end)
