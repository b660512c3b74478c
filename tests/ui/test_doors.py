"""Uploads on their way, and what one socket says. The rest of the doors is in tests/browser, at a real server."""

import asyncio
import time

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, Router
from waiting import PATIENCE

from playground.serving.cache import MB
from playground.ui import doors
from playground.ui.doors import Doors

HEAD = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n'
SCOPE = {
    "type": "http", "method": "PUT", "query_string": b"", "root_path": "",
    "headers": [(b"content-type", b"multipart/form-data; boundary=edge")],
}  # fmt: skip


class Upload:
    """Somebody who sends these pieces, and after the last one nothing more."""

    def __init__(self, app, session: int, *pieces: bytes, ends: bool = False):
        self.app, self.ends, self.said = app, ends, []
        self.scope = SCOPE | {"path": f"/{session}/file"}
        self.pieces = list(pieces)

    async def receive(self):
        if not self.pieces:
            await asyncio.Event().wait()  # for ever
        piece = self.pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(self.pieces) or not self.ends}

    async def send(self, message):
        self.said.append(message)

    async def status(self) -> int:
        await self.app(self.scope, self.receive, self.send)
        return self.said[0]["status"]


async def keep(request: Request) -> PlainTextResponse:
    form = await request.form()
    return PlainTextResponse(f"{len(await form['file'].read())}")


@pytest.fixture
def app(monkeypatch):
    monkeypatch.setattr(doors, "PIECE_SECONDS", 0.2)
    return Doors(Router([Route("/{session}/file", keep, methods=["PUT"])]))


def whole(app, session: int = -1, length: int = 100) -> Upload:
    return Upload(app, session, HEAD, bytes(length), b"\r\n--edge--\r\n", ends=True)


def test_an_upload_arrives(app):
    upload = whole(app)
    assert asyncio.run(upload.status()) == 200
    assert upload.said[1]["body"] == b"100"
    assert app.uploads.bytes == 0


def test_who_stalls_is_told_so(app):
    assert asyncio.run(Upload(app, 0, HEAD, bytes(MB)).status()) == 408
    assert app.uploads.bytes == 0


def test_a_session_brings_one_file_after_the_other(app, monkeypatch):
    monkeypatch.setattr(doors, "PIECE_SECONDS", PATIENCE)

    async def second() -> bool:
        stalling = asyncio.create_task(Upload(app, 0, HEAD).status())
        while not app.uploads.bytes:
            await asyncio.sleep(0)
        waiting = asyncio.create_task(whole(app, 0).status())
        assert await whole(app, 1).status() == 200  # somebody else's
        done = waiting.done()
        stalling.cancel()
        assert await waiting == 200
        return done

    assert asyncio.run(second()) is False


def test_uploads_that_trickle_take_no_place_from_others(app, monkeypatch):
    """A hundred that have brought little are no burden: only what they brought is counted."""
    monkeypatch.setattr(doors, "PIECE_SECONDS", PATIENCE)

    async def another() -> int:
        trickling = [asyncio.create_task(Upload(app, i, HEAD, bytes(1000)).status()) for i in range(100)]
        while app.uploads.bytes < 100 * 1000:
            await asyncio.sleep(0)
        status = await whole(app, length=MB).status()
        for task in trickling:
            task.cancel()
        return status

    assert asyncio.run(another()) == 200


def test_where_there_is_no_room_who_stalls_goes_first(app, monkeypatch):
    monkeypatch.setattr(doors, "PIECE_SECONDS", PATIENCE)
    monkeypatch.setattr(doors, "SLOW_SECONDS", 0.1)
    monkeypatch.setattr(app.uploads, "most", 3 * MB)

    async def all_of_them() -> list[int]:
        stalling = [asyncio.create_task(Upload(app, i, HEAD, bytes(MB)).status()) for i in range(3)]
        while app.uploads.bytes < 2 * MB:
            await asyncio.sleep(0)
        others = [whole(app, 10 + i, 2 * MB).status() for i in range(4)]
        return [*await asyncio.gather(*others), *await asyncio.gather(*stalling)]

    assert asyncio.run(all_of_them()) == [200] * 4 + [408] * 3
    assert app.uploads.bytes == 0


def test_a_class_whose_pictures_do_not_fit_all_at_once_loses_none(app, monkeypatch):
    """Half of each has come when there is no more room: one after the other goes on to its end."""
    monkeypatch.setattr(app.uploads, "most", 6 * MB)
    monkeypatch.setattr(doors, "PIECE_SECONDS", PATIENCE)

    async def everybody() -> tuple[list[int], int]:
        halves = [Upload(app, i, HEAD, bytes(MB), bytes(MB), b"\r\n--edge--\r\n", ends=True) for i in range(12)]
        tasks, most = [asyncio.create_task(half.status()) for half in halves], 0
        while not all(task.done() for task in tasks):
            most = max(most, app.uploads.bytes)
            await asyncio.sleep(0)
        return [task.result() for task in tasks], most

    statuses, most = asyncio.run(everybody())
    assert statuses == [200] * 12
    assert most <= 6 * MB + 2 * MB + 1000  # one goes on beyond the bound


def test_an_upload_that_takes_too_long_ends(app, monkeypatch):
    class Trickling(Upload):
        async def receive(self):
            await asyncio.sleep(0.01)
            return {"type": "http.request", "body": self.pieces.pop(0) if self.pieces else b"x", "more_body": True}

    monkeypatch.setattr(doors, "UPLOAD_SECONDS", 0.3)
    assert asyncio.run(Trickling(app, 0, HEAD).status()) == 408


# What one socket says -------------------------------------------------------------------------------------------------


class Chatter:
    """Somebody who says `count` things at once, and reads what they are sent only when `reads` is set."""

    def __init__(self, count: int):
        self.left, self.heard, self.reads = count, 0, asyncio.Event()

    async def receive(self):
        if not self.left:
            return {"type": "websocket.disconnect"}
        self.left -= 1
        return {"type": "websocket.receive", "bytes": b"x"}

    async def send(self, message):
        await self.reads.wait()

    async def app(self, scope, receive, send):
        while (await receive())["type"] == "websocket.receive":
            self.heard += 1

    async def talk(self) -> None:
        await Doors(self.app)({"type": "websocket"}, self.receive, self.send)


def test_who_talks_without_a_pause_is_heard_more_slowly(monkeypatch):
    monkeypatch.setattr(doors, "MESSAGES_A_SECOND", {"quiet": 1e6, "busy": 1e-6})
    monkeypatch.setattr(doors.Busy, "now", lambda server: "busy")

    async def heard() -> int:
        chatter = Chatter(10 * doors.MESSAGES)
        talk = asyncio.create_task(chatter.talk())
        for _ in range(100 * doors.MESSAGES):
            await asyncio.sleep(0)
        talk.cancel()
        return chatter.heard

    assert asyncio.run(heard()) == doors.MESSAGES
    monkeypatch.setattr(doors.Busy, "now", lambda server: "quiet")

    async def all_of_it() -> int:
        chatter = Chatter(10 * doors.MESSAGES)
        await chatter.talk()
        return chatter.heard

    assert asyncio.run(all_of_it()) == 10 * doors.MESSAGES


def test_who_reads_nothing_is_not_answered_further(monkeypatch):
    monkeypatch.setattr(doors, "UNREAD_SECONDS", PATIENCE)

    async def heard() -> tuple[int, int]:
        chatter = Chatter(10)

        async def answers(scope, receive, send):
            await receive()
            sending = asyncio.create_task(send({"type": "websocket.send", "bytes": b"a picture"}))
            await asyncio.sleep(0)
            chatter.heard = 1
            await receive()
            chatter.heard = 2
            await sending

        chatter.app = answers
        talk = asyncio.create_task(chatter.talk())
        for _ in range(100):
            await asyncio.sleep(0)
        before = chatter.heard
        chatter.reads.set()
        await talk
        return before, chatter.heard

    assert asyncio.run(heard()) == (1, 2)


def test_a_server_that_computes_is_busy():
    busy = doors.Busy()
    assert busy.now() == "quiet"
    busy._at, busy._spent = time.monotonic() - 10, time.process_time() - 6
    assert busy.now() == "busy"
    busy._at, busy._spent = time.monotonic() - 10, time.process_time() - 1
    assert busy.now() == "quiet"
