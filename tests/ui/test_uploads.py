"""Uploads on their way."""

import asyncio

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, Router
from waiting import PATIENCE

from playground.serving.cache import MB
from playground.ui import uploads
from playground.ui.uploads import Uploads

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
    monkeypatch.setattr(uploads, "PIECE_SECONDS", 0.2)
    return Uploads(Router([Route("/{session}/file", keep, methods=["PUT"])]))


def whole(app, session: int = -1, length: int = 100) -> Upload:
    return Upload(app, session, HEAD, bytes(length), b"\r\n--edge--\r\n", ends=True)


def test_an_upload_arrives(app):
    upload = whole(app)
    assert asyncio.run(upload.status()) == 200
    assert upload.said[1]["body"] == b"100"
    assert app.bytes == 0


def test_who_stalls_is_told_so(app):
    assert asyncio.run(Upload(app, 0, HEAD, bytes(MB)).status()) == 408
    assert app.bytes == 0


def test_a_session_brings_one_file_after_the_other(app, monkeypatch):
    monkeypatch.setattr(uploads, "PIECE_SECONDS", PATIENCE)

    async def second() -> bool:
        stalling = asyncio.create_task(Upload(app, 0, HEAD).status())
        while not app.bytes:
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
    monkeypatch.setattr(uploads, "PIECE_SECONDS", PATIENCE)

    async def another() -> int:
        trickling = [asyncio.create_task(Upload(app, i, HEAD, bytes(1000)).status()) for i in range(100)]
        while app.bytes < 100 * 1000:
            await asyncio.sleep(0)
        status = await whole(app, length=MB).status()
        for task in trickling:
            task.cancel()
        return status

    assert asyncio.run(another()) == 200


def test_where_there_is_no_room_who_stalls_goes_first(app, monkeypatch):
    monkeypatch.setattr(uploads, "PIECE_SECONDS", PATIENCE)
    monkeypatch.setattr(uploads, "SLOW_SECONDS", 0.1)
    monkeypatch.setattr(uploads, "MOST", 3 * MB)

    async def all_of_them() -> list[int]:
        stalling = [asyncio.create_task(Upload(app, i, HEAD, bytes(MB)).status()) for i in range(3)]
        while app.bytes < 2 * MB:
            await asyncio.sleep(0)
        others = [whole(app, 10 + i, 2 * MB).status() for i in range(4)]
        return [*await asyncio.gather(*others), *await asyncio.gather(*stalling)]

    assert asyncio.run(all_of_them()) == [200] * 4 + [408] * 3
    assert app.bytes == 0


def test_a_class_whose_pictures_do_not_fit_all_at_once_loses_none(app, monkeypatch):
    """Half of each has come when there is no more room: one after the other goes on to its end."""
    monkeypatch.setattr(uploads, "MOST", 6 * MB)
    monkeypatch.setattr(uploads, "PIECE_SECONDS", PATIENCE)

    async def everybody() -> tuple[list[int], int]:
        halves = [Upload(app, i, HEAD, bytes(MB), bytes(MB), b"\r\n--edge--\r\n", ends=True) for i in range(12)]
        tasks, most = [asyncio.create_task(half.status()) for half in halves], 0
        while not all(task.done() for task in tasks):
            most = max(most, app.bytes)
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

    monkeypatch.setattr(uploads, "UPLOAD_SECONDS", 0.3)
    assert asyncio.run(Trickling(app, 0, HEAD).status()) == 408
