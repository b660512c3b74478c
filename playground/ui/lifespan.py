"""The server's life: what it is given at the start, what it forgets on its way, and a quick end."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from playground.serving import admission, memory, people, temporary

FILES = 65536  # that the process may have open
FORGET_EVERY = 60.0  # seconds
LOOK_EVERY = 0.05  # seconds, at how late the loop is
# Seconds that another thread of Python keeps it, while the loop wants to go on. An answer asks for it a dozen times, at
# each read and write: with Python's own 5 ms that was a tenth of a second as soon as one page was run.
TURN = 0.0005
LAST_SECONDS = 3  # from the signal to the end


@asynccontextmanager
async def lifespan(_) -> AsyncIterator[None]:
    _open_more_files()
    sys.setswitchinterval(TURN)
    temporary.find_a_folder()
    for number in (signal.SIGTERM, signal.SIGINT):
        _end_soon_after(number)
    going = [asyncio.create_task(work) for work in (_forget_the_gone(), _watch_the_lag())]
    yield
    for task in going:
        task.cancel()


def _open_more_files() -> None:
    """Each session takes four: of the 1,024 that a process is given to begin with, a class of 300 needs more."""
    with suppress(ImportError, ValueError, OSError):  # not on Windows; not everywhere allowed
        import resource

        has, may_have = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = FILES if may_have == resource.RLIM_INFINITY else min(may_have, FILES)
        if has != resource.RLIM_INFINITY and has < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, may_have))


async def _forget_the_gone() -> None:
    while True:
        await asyncio.sleep(FORGET_EVERY)
        people.forget_the_gone()
        await asyncio.to_thread(memory.trim)


async def _watch_the_lag() -> None:
    loop = asyncio.get_running_loop()
    while True:
        wanted = loop.time() + LOOK_EVERY
        await asyncio.sleep(LOOK_EVERY)
        admission.lag.note(loop.time() - wanted)


def _end_soon_after(number: signal.Signals) -> None:
    """The server waits for every connection and every thread before it ends; a stalled upload, a hung fetch or a long
    computation would keep it for as long. So the operating system ends it LAST_SECONDS after it was told to: an alarm
    needs none of this process's threads."""
    before = signal.getsignal(number)

    def end(number: int, frame) -> None:
        if hasattr(signal, "alarm"):  # not on Windows
            signal.alarm(LAST_SECONDS)
        if callable(before):
            before(number, frame)

    signal.signal(number, end)
