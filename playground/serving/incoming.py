"""Files on their way to the server. Each lies in memory until all of it has come: whoever stalls must not fill that, or
nobody's file arrives any more."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import AsyncExitStack
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect, Request

from playground.serving import people
from playground.serving.admission import BOUNDS, refused
from playground.serving.answering import Refused, who
from playground.serving.asker import Who
from playground.serving.cache import MB

LARGEST = 32 * MB  # of one file, the same limit as open_image has
PIECE_SECONDS, FILE_SECONDS = 15.0, 120.0  # until the next piece of one comes, and until all of it is there
STEP = 2**18  # bytes; whoever brings them within SLOW_SECONDS is brisk, and bytes that trickle make nobody brisk
SLOW_SECONDS = 4.0
LOOK_AGAIN = 0.1  # seconds, where there was no room

TOO_LARGE = f"The file is too large: up to {LARGEST // MB} MB can be opened."


class Delivery:
    """What has come of one file; `end` breaks it off."""

    def __init__(self, limit: asyncio.Timeout, who: Who):
        self._limit, self.who = limit, who
        self.pieces: list[bytes] = []
        self.bytes = 0
        self.brisk = time.monotonic()  # when the last STEP was complete
        self.waits = False  # for room

    def take(self, piece: bytes) -> None:
        if self.bytes // STEP != (self.bytes + len(piece)) // STEP:
            self.brisk = time.monotonic()
        self.bytes += len(piece)
        self.pieces.append(piece)

    def end(self) -> None:
        under_way.discard(self)
        self._limit.reschedule(0)


under_way: set[Delivery] = set()
_beyond: Delivery | None = None  # the one that goes on to its end where there is no room
_turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # of each person who brings something


async def read(request: Request) -> bytes:
    """The body, one of each person at a time. Refused says why it did not arrive."""
    if not _may_fit(request.headers.get("content-length", "0")):
        raise Refused(TOO_LARGE, 413)
    key = people.key_of(request) or ""
    turn = _turns.setdefault(key, asyncio.Lock())
    try:
        async with turn:
            return await _whole(request)
    except TimeoutError:
        raise Refused("The file stalled on its way: try again.", 408) from None
    except ClientDisconnect:
        raise Refused("The file broke off on its way.", 400) from None


def _may_fit(length: str) -> bool:
    """What a browser says of a file's length; one that says nothing of use is counted as the file comes."""
    return not (length.isascii() and length.isdecimal()) or (len(length) < 12 and int(length) <= LARGEST)


async def _whole(request: Request) -> bytes:
    async with asyncio.timeout(FILE_SECONDS) as limit, AsyncExitStack() as last:
        delivery = Delivery(limit, who(request))
        under_way.add(delivery)
        last.callback(under_way.discard, delivery)
        stream = aiter(request.stream())
        while True:
            try:
                async with asyncio.timeout(PIECE_SECONDS):
                    piece = await anext(stream)
            except StopAsyncIteration:
                return b"".join(delivery.pieces)
            if delivery.bytes + len(piece) > LARGEST:
                raise Refused(TOO_LARGE, 413)
            await _find_room(delivery, len(piece), last)
            delivery.take(piece)


async def _find_room(delivery: Delivery, count: int, last: AsyncExitStack) -> None:
    """All files may be waiting half-way: so one after the other goes on to its end, beyond the bound."""
    global _beyond
    while delivery is not _beyond and not _has_room(delivery, count):
        delivery.waits = True
        if _beyond is None:
            _beyond = delivery
            last.callback(_leave_beyond, delivery)
            break
        _end_the_slowest()
        await asyncio.sleep(LOOK_AGAIN)
    if delivery.waits:
        delivery.waits, delivery.brisk = False, time.monotonic()


def _has_room(delivery: Delivery, count: int) -> bool:
    held, bound = _held(), BOUNDS["uploads"]
    home = delivery.who.address
    return held.total() + count <= bound.everybody and (not home or held[home] + count <= bound.network)


def _held() -> Counter[str]:
    """Bytes, by network."""
    held: Counter[str] = Counter()
    for delivery in under_way:
        held[delivery.who.address] += delivery.bytes
    return held


def _leave_beyond(delivery: Delivery) -> None:
    global _beyond
    if _beyond is delivery:
        _beyond = None


def _end_the_slowest() -> None:
    """Of the network that has most on its way."""
    held, now = _held(), time.monotonic()
    slow = [delivery for delivery in under_way if not delivery.waits and now - delivery.brisk > SLOW_SECONDS]
    if slow:
        refused["uploads"] += 1
        min(slow, key=lambda delivery: (-held[delivery.who.address], delivery.brisk)).end()
