"""Receives, sends and deletes people's own pictures, which are kept in memory under a person's key. Also reads uploads
of any kind, with limits of size and time."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from urllib.parse import unquote
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.serving import ledger, people, pictures
from playground.serving.answering import Refused, answer, answered, own_pages_only, sentence_response, visitor
from playground.serving.cache import MB
from playground.serving.ledger import Visitor
from playground.serving.pictures import Picture

PRIVATE = {"Cache-Control": "private, no-store"}


@own_pages_only
async def bring(request: Request) -> Response:
    """Takes an upload: the request's body is the file, a header holds the file's name."""
    key = people.key_of(request)
    try:
        data = await read_body(request)
    except Refused as refused:
        return sentence_response(str(refused), refused.status)
    name = unquote(request.headers.get("x-playground-name", "picture"))

    def work() -> Response:
        picture = pictures.upload(data, name)
        people.enter(key).take(picture)
        return JSONResponse(picture_record(picture), headers=PRIVATE)

    return await answer(request, work)


@own_pages_only
@answered
def take_labelled(request: Request) -> Response:
    """Takes a picture of the labelled data set by number, as if it had been uploaded."""
    text = request.query_params.get("number", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        raise Refused(f"A picture's number is written in digits; given was {text[:20]!r}.")
    picture = pictures.labelled_picture(int(text))
    people.enter(people.key_of(request)).take(picture)
    return JSONResponse(picture_record(picture), headers=PRIVATE)


def picture_record(picture: Picture) -> dict:
    return {"id": picture.id, "title": picture.name, "thumb": picture.thumbnail}


async def show(request: Request) -> Response:
    person = people.person_of(request)
    picture = person and person.pictures.get(request.path_params["id"])
    if not picture:
        return sentence_response("There is no such picture of yours on the server.", 404)
    return Response(picture.jpeg, media_type="image/jpeg", headers=PRIVATE)


@own_pages_only
async def forget_picture(request: Request) -> Response:
    person = people.person_of(request)
    if person is None or not person.drop(request.path_params["id"]):
        return sentence_response("There is no such picture of yours on the server.", 404)
    return Response(status_code=204)


@own_pages_only
async def forget_all(request: Request) -> Response:
    people.forget(people.key_of(request))
    return Response(status_code=204)


ROUTES = [
    Route("/api/pictures", bring, methods=["POST"]),
    Route("/api/pictures", forget_all, methods=["DELETE"]),
    Route("/api/pictures/{id}.jpg", show),
    Route("/api/pictures/{id}", forget_picture, methods=["DELETE"]),
    Route("/api/labelled", take_labelled, methods=["POST"]),
]


# Each upload in progress lies in memory until it is complete, so slow senders must not be able to fill the memory.

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
        ledger.uploads.take_beyond(self.visitor, len(piece))

    def leave(self) -> None:
        deliveries.discard(self)
        ledger.uploads.give_back(self.visitor, self.bytes)

    def end(self) -> None:
        deliveries.discard(self)
        self._limit.reschedule(0)


deliveries: set[Delivery] = set()
# The one upload that may exceed the limit of `ledger.uploads`, so that it comes to its end.
_delivery_beyond: Delivery | None = None
_looked_at = 0.0  # time of the last search for slow uploads
_is_ending = False  # whether the server has got the signal to end
_person_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # person -> lock around an upload


async def read_body(request: Request) -> bytes:
    """Reads a request's body, one upload of each person at a time. Raises Refused with the reason if it fails."""
    if not _may_fit(request.headers.get("content-length", "0")):
        raise Refused(TOO_LARGE, 413)
    asker = visitor(request)
    person_lock = _person_locks.setdefault(asker.person, asyncio.Lock())
    with ledger.files.holding(asker) as trouble:
        if trouble:
            if trouble == "everybody":
                _end_the_slowest(ledger.files.holdings)  # so that the person's next try finds room
            raise Refused(FULL_SENTENCES[trouble], 503)
        try:
            async with person_lock:
                return await _read_all(request, asker)
        except TimeoutError:
            if _is_ending:
                raise Refused("The server is restarting: try again.", 503) from None
            raise Refused("The file stalled on its way: try again.", 408) from None
        except ClientDisconnect:
            raise Refused("The file broke off on its way.", 400) from None


def end_all() -> None:
    """Answers all uploads, those that wait their turn too, because the process is about to end."""
    global _is_ending
    _is_ending = True
    for delivery in list(deliveries):
        delivery.end()


def _may_fit(length: str) -> bool:
    """Whether the declared length is small enough. True without a valid length: then arriving bytes are counted."""
    return not (length.isascii() and length.isdecimal()) or (len(length) < 12 and int(length) <= LARGEST_FILE)


async def _read_all(request: Request, asker: Visitor) -> bytes:
    async with asyncio.timeout(FILE_SECONDS) as time_limit, AsyncExitStack() as exits:
        delivery = Delivery(time_limit, asker)
        deliveries.add(delivery)
        exits.callback(delivery.leave)
        if _is_ending:
            delivery.end()
        stream = aiter(request.stream())
        while True:
            try:
                async with asyncio.timeout(PIECE_SECONDS):
                    piece = await anext(stream)
            except StopAsyncIteration:
                return b"".join(delivery.pieces)
            if delivery.bytes + len(piece) > LARGEST_FILE:
                raise Refused(TOO_LARGE, 413)
            await _find_room(delivery, len(piece), exits)
            delivery.take(piece)


async def _find_room(delivery: Delivery, count: int, exits: AsyncExitStack) -> None:
    """Waits for room for `count` more bytes. All uploads together could fill the room before any of them is complete,
    so one upload at a time may exceed the limit."""
    global _delivery_beyond
    while delivery is not _delivery_beyond and ledger.uploads.trouble(delivery.visitor, count):
        delivery.is_waiting = True
        if _delivery_beyond is None:
            _delivery_beyond = delivery
            exits.callback(_leave_beyond, delivery)
            break
        _end_the_slowest(ledger.uploads.holdings)
        await asyncio.sleep(LOOK_EVERY)
    if delivery.is_waiting:
        delivery.is_waiting, delivery.stepped_at = False, time.monotonic()


def _leave_beyond(delivery: Delivery) -> None:
    global _delivery_beyond
    if _delivery_beyond is delivery:
        _delivery_beyond = None


def _end_the_slowest(holdings: ledger.Holdings) -> None:
    """Ends the slowest upload of the network that holds most. Runs at most once per LOOK_EVERY, because a search among
    hundreds of uploads takes long."""
    global _looked_at
    now = time.monotonic()
    if now - _looked_at < LOOK_EVERY:
        return
    _looked_at = now
    slow_deliveries = [
        delivery for delivery in deliveries if not delivery.is_waiting and now - delivery.stepped_at > SLOW_SECONDS
    ]
    if slow_deliveries:
        ledger.refusals["uploads"] += 1
        slowest = max(
            slow_deliveries, key=lambda delivery: (holdings.rank_of(delivery.visitor.address), -delivery.stepped_at)
        )
        slowest.end()
