"""Uploads on their way: each has its turn and its time. The rest of the doors is in tests/browser, at a real server."""

import asyncio

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, Router

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


def whole(app) -> Upload:
    return Upload(app, -1, HEAD, bytes(100), b"\r\n--edge--\r\n", ends=True)


def test_an_upload_arrives(app):
    upload = whole(app)
    assert asyncio.run(upload.status()) == 200
    assert upload.said[1]["body"] == b"100"


def test_who_stalls_is_told_so_and_others_get_their_turn(app):
    async def all_of_them() -> list[int]:
        stalling = [Upload(app, i, HEAD, bytes(2**21)).status() for i in range(2 * doors.UPLOADS)]
        return await asyncio.gather(*stalling, whole(app).status())

    assert asyncio.run(all_of_them()) == [408] * 2 * doors.UPLOADS + [200]


def test_who_stalls_often_keeps_nobody_else_waiting(app, monkeypatch):
    monkeypatch.setattr(doors, "PIECE_SECONDS", 60.0)

    async def another() -> tuple[int, int]:
        stalling = [asyncio.create_task(Upload(app, 0, HEAD).status()) for _ in range(2 * doors.UPLOADS)]
        while app.uploads._value == doors.UPLOADS:
            await asyncio.sleep(0)
        status = await whole(app).status()
        for task in stalling:
            task.cancel()
        return status, sum(task.done() for task in stalling)

    assert asyncio.run(another()) == (200, 0)


def test_no_more_than_a_few_lie_in_the_folder_for_temporary_files_at_once(app):
    async def most() -> int:
        waiting = [asyncio.create_task(Upload(app, i, HEAD).status()) for i in range(2 * doors.UPLOADS)]
        while not app.uploads.locked():
            await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        taken = doors.UPLOADS - app.uploads._value
        await asyncio.gather(*waiting)
        return taken

    assert asyncio.run(most()) == doors.UPLOADS


def test_an_upload_that_trickles_ends_too(app, monkeypatch):
    monkeypatch.setattr(doors, "UPLOAD_SECONDS", -1.0)
    assert asyncio.run(whole(app).status()) == 408
