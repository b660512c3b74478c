"""Reads uploads, with limits of size and time. Each lies in memory until it is complete, so slow senders must not be
able to fill the memory."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect, Request

from playground.serving import app, ledger
from playground.serving.answering import Refused, visitor
from playground.serving.cache import MB
from playground.serving.ledger import Visitor

LARGEST_FILE = 32 * MB  # most bytes of one file, as in open_image
PIECE_SECONDS, FILE_SECONDS = 15.0, 120.0  # most seconds between two pieces of a file, and for the whole file
STEP_BYTES = 2**18  # bytes: a sender of fewer within SLOW_SECONDS counts as slow
SLOW_SECONDS = 4.0
LOOK_EVERY = 0.1  # seconds between two looks for room

FULL_SENTENCES = {  # result of Room.trouble (ledger.py) -> the sentence for the person
    "key": "Too many of your pictures are on their way: wait until one has come, then bring the next.",
    "network": "So many pictures are on their way from your network that there is no room for one more: try again.",
    "everybody": "So many pictures are on their way that there is no room for one more: try again.",
}
TOO_LARGE = f"The file is too large: up to {LARGEST_FILE // MB} MB can be opened."


class Delivery:
    """An upload in progress, whose bytes are counted. `end` aborts the upload."""

    def __init__(self, limit: asyncio.Timeout, visitor: Visitor):
        self._limit, self.visitor = limit, visitor
        self.pieces: list[bytes] = []
        self.bytes = 0
        self.stepped_at = time.monotonic()  # the time at which the latest STEP_BYTES were complete
        self.is_waiting = False  # whether the upload waits for room in `ledger.uploads`

    def take(self, piece: bytes) -> None:
        if self.bytes // STEP_BYTES != (self.bytes + len(piece)) // STEP_BYTES:
            self.stepped_at = time.monotonic()
        self.bytes += len(piece)
        self.pieces.append(piece)
        ledger.uploads().take_beyond(self.visitor, len(piece))

    def end(self) -> None:
        self._limit.reschedule(0)


class Deliveries:
    def __init__(self) -> None:
        self.under_way: set[Delivery] = set()
        # The one upload that may exceed the limit of `ledger.uploads`, so that it comes to its end.
        self.beyond: Delivery | None = None
        self.is_ending = False  # whether the server has got the signal to end
        self._looked_at = 0.0  # time of the last search for slow uploads
        self.person_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # person -> around an upload

    async def read_body(self, request: Request) -> bytes:
        """Reads a request's body, one upload of each person at a time. Raises Refused with the reason if it fails."""
        if not _may_fit(request.headers.get("content-length", "0")):
            raise Refused(TOO_LARGE, 413)
        asker = visitor(request)
        person_lock = self.person_locks.setdefault(asker.person, asyncio.Lock())
        with ledger.files().holding(asker) as trouble:
            if trouble:
                if trouble == "everybody":
                    self._end_the_slowest(ledger.files().holdings)  # so that the person's next try finds room
                raise Refused(FULL_SENTENCES[trouble], 503)
            try:
                async with person_lock:
                    return await self._read_all(request, asker)
            except TimeoutError:
                if self.is_ending:
                    raise Refused("The server is restarting: try again.", 503) from None
                raise Refused("The file stalled on its way: try again.", 408) from None
            except ClientDisconnect:
                raise Refused("The file broke off on its way.", 400) from None

    def end_all(self) -> None:
        """Answers all uploads, those that wait their turn too, because the process is about to end."""
        self.is_ending = True
        for delivery in list(self.under_way):
            self._end(delivery)

    def _end(self, delivery: Delivery) -> None:
        self.under_way.discard(delivery)
        delivery.end()

    async def _read_all(self, request: Request, asker: Visitor) -> bytes:
        async with asyncio.timeout(FILE_SECONDS) as time_limit, AsyncExitStack() as exits:
            delivery = Delivery(time_limit, asker)
            self.under_way.add(delivery)
            exits.callback(self._leave, delivery)
            if self.is_ending:
                self._end(delivery)
            stream = aiter(request.stream())
            while True:
                try:
                    async with asyncio.timeout(PIECE_SECONDS):
                        piece = await anext(stream)
                except StopAsyncIteration:
                    return b"".join(delivery.pieces)
                if delivery.bytes + len(piece) > LARGEST_FILE:
                    raise Refused(TOO_LARGE, 413)
                await self._find_room(delivery, len(piece))
                delivery.take(piece)

    def _leave(self, delivery: Delivery) -> None:
        self.under_way.discard(delivery)
        ledger.uploads().give_back(delivery.visitor, delivery.bytes)
        if self.beyond is delivery:
            self.beyond = None

    async def _find_room(self, delivery: Delivery, count: int) -> None:
        """Waits for room for `count` more bytes. All uploads together could fill the room before any of them is
        complete, so one upload at a time may exceed the limit."""
        while delivery is not self.beyond and ledger.uploads().trouble(delivery.visitor, count):
            delivery.is_waiting = True
            if self.beyond is None:
                self.beyond = delivery
                break
            self._end_the_slowest(ledger.uploads().holdings)
            await asyncio.sleep(LOOK_EVERY)
        if delivery.is_waiting:
            delivery.is_waiting, delivery.stepped_at = False, time.monotonic()

    def _end_the_slowest(self, holdings: ledger.Holdings) -> None:
        """Ends the slowest upload of the network that holds most. Runs at most once per LOOK_EVERY, because a search
        among hundreds of uploads takes long."""
        now = time.monotonic()
        if now - self._looked_at < LOOK_EVERY:
            return
        self._looked_at = now
        slow = [each for each in self.under_way if not each.is_waiting and now - each.stepped_at > SLOW_SECONDS]
        if slow:
            ledger.refusals()["uploads"] += 1
            self._end(max(slow, key=lambda each: (holdings.rank_of(each.visitor.address), -each.stepped_at)))


deliveries = app.part(Deliveries)


def _may_fit(length: str) -> bool:
    """Whether the declared length is small enough. Without a valid one, the bytes are counted as they arrive."""
    return not (length.isascii() and length.isdecimal()) or (len(length) < 12 and int(length) <= LARGEST_FILE)
