"""Uploads on their way to the server: slow and stalled ones take no room from others."""

import asyncio
import gc

import pytest
from starlette.requests import Request
from waiting import PATIENCE

from playground.serving import incoming, ledger
from playground.serving.answering import Refused
from playground.serving.cache import MB
from playground.serving.ledger import Room


class Upload:
    """An upload that sends these pieces. With `ends`, the last piece ends the body; without, the upload stalls."""

    def __init__(self, person: int, *pieces: bytes, ends: bool = False, length: int | None = None):
        self.pieces, self.ends = list(pieces), ends
        headers = [(b"x-playground-key", b"%022d" % person)]
        if length is not None:
            headers.append((b"content-length", b"%d" % length))
        self.scope = {"type": "http", "method": "POST", "path": "/api/pictures", "headers": headers}
        self.scope["client"] = ("203.0.113.5", 5)

    async def receive(self):
        if not self.pieces:
            await asyncio.Event().wait()  # stalls for ever
        piece = self.pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(self.pieces) or not self.ends}

    async def arrives(self) -> int:
        """The number of bytes that arrived, or the refusal's status as a negative number."""
        try:
            return len(await incoming.deliveries().read_body(Request(self.scope, self.receive)))
        except Refused as refused:
            return -refused.status


def upload_of(person: int, length: int = 100) -> Upload:
    return Upload(person, bytes(length // 2), bytes(length - length // 2), ends=True)


def bytes_under_way() -> int:
    return sum(delivery.bytes for delivery in incoming.deliveries().under_way)


@pytest.fixture(autouse=True)
def nothing_stays(own_app, monkeypatch):
    monkeypatch.setattr(incoming, "PIECE_SECONDS", PATIENCE)
    yield
    gc.collect()
    deliveries = incoming.deliveries()
    assert (deliveries.under_way, deliveries.beyond, dict(deliveries.person_locks)) == (set(), None, {})
    assert (ledger.files().taken, ledger.uploads().taken) == (0, 0)


def test_a_file_arrives():
    assert asyncio.run(upload_of(0).arrives()) == 100


def test_an_upload_that_stalls_is_refused(monkeypatch):
    monkeypatch.setattr(incoming, "PIECE_SECONDS", 0.05)
    assert asyncio.run(Upload(0, bytes(MB)).arrives()) == -408


def test_when_the_server_ends_every_upload_is_answered_also_one_that_waits_its_turn():
    async def answers() -> list[int]:
        stalled_task = asyncio.create_task(Upload(0, bytes(1000)).arrives())
        while not bytes_under_way():
            await asyncio.sleep(0)
        waiting_task = asyncio.create_task(Upload(0, bytes(1000)).arrives())
        await asyncio.sleep(0)
        incoming.deliveries().end_all()
        return await asyncio.gather(stalled_task, waiting_task)

    assert asyncio.run(answers()) == [-503, -503]


def test_uploads_that_trickle_take_no_place_from_others():
    """A hundred uploads that have sent little fill no room: only bytes that have arrived are counted."""

    async def bytes_of_another() -> int:
        slow_tasks = [asyncio.create_task(Upload(i, bytes(1000)).arrives()) for i in range(100)]
        while bytes_under_way() < 100 * 1000:
            await asyncio.sleep(0)
        byte_count = await upload_of(100, MB).arrives()
        for task in slow_tasks:
            task.cancel()
        await asyncio.gather(*slow_tasks, return_exceptions=True)
        return byte_count

    assert asyncio.run(bytes_of_another()) == MB


def test_where_there_is_no_room_stalled_uploads_end_first(monkeypatch):
    monkeypatch.setattr(incoming, "SLOW_SECONDS", 0.1)
    monkeypatch.setattr(ledger.uploads(), "capacity", 4 * MB)

    async def results_of_both_groups() -> tuple[list[int], list[int]]:
        stalled_tasks = [asyncio.create_task(Upload(i, bytes(MB)).arrives()) for i in range(4)]
        while bytes_under_way() < 4 * MB:  # the last upload may exceed the bound
            await asyncio.sleep(0)
        byte_counts = await asyncio.gather(*(upload_of(10 + i, 2 * MB).arrives() for i in range(4)))
        statuses = [task.result() for task in stalled_tasks if task.done()]
        for task in stalled_tasks:
            task.cancel()
        await asyncio.gather(*stalled_tasks, return_exceptions=True)
        return byte_counts, statuses

    results, end_statuses = asyncio.run(results_of_both_groups())
    assert results == [2 * MB] * 4
    assert end_statuses
    assert set(end_statuses) == {-408}


def test_pictures_of_a_class_that_do_not_fit_all_at_once_all_arrive(monkeypatch):
    """The room is full when half of each file has come. Then one file after the other is read to its end."""
    monkeypatch.setattr(ledger.uploads(), "capacity", 6 * MB)

    async def results_of_all() -> tuple[list[int], int]:
        uploads = [Upload(i, bytes(MB), bytes(MB), b"end", ends=True) for i in range(12)]
        tasks, most_at_once = [asyncio.create_task(upload.arrives()) for upload in uploads], 0
        while not all(task.done() for task in tasks):
            most_at_once = max(most_at_once, bytes_under_way())
            await asyncio.sleep(0)
        return [task.result() for task in tasks], most_at_once

    byte_counts, most_at_once = asyncio.run(results_of_all())
    assert byte_counts == [2 * MB + 3] * 12
    assert most_at_once <= 6 * MB + 2 * MB + 1000  # one upload may exceed the bound


def test_a_file_that_takes_too_long_ends(monkeypatch):
    class Trickling(Upload):
        async def receive(self):
            await asyncio.sleep(0.01)
            return {"type": "http.request", "body": b"x", "more_body": True}

    monkeypatch.setattr(incoming, "FILE_SECONDS", 0.3)
    assert asyncio.run(Trickling(0).arrives()) == -408


def test_a_file_that_is_too_large_is_refused_with_or_without_a_content_length(monkeypatch):
    monkeypatch.setattr(incoming, "LARGEST_FILE", MB)
    assert asyncio.run(Upload(0, b"", ends=True, length=MB + 1).arrives()) == -413
    assert asyncio.run(Upload(0, *[bytes(MB // 4)] * 5, ends=True).arrives()) == -413
    assert asyncio.run(Upload(0, *[bytes(MB // 4)] * 4, ends=True).arrives()) == MB


@pytest.mark.parametrize(("bound", "keys"), [(Room("files", 9, 2), (1, 1, 1)), (Room("files", 2, 9), (1, 2, 3))])
def test_more_uploads_than_there_is_room_for_are_refused_however_few_bytes_have_come(bound, keys, monkeypatch):
    """Once, each of 1,500 stalled uploads looked through all others, and the server answered nobody else."""
    monkeypatch.setattr(ledger, "files", lambda: bound)

    async def result_of_one_more() -> int:
        stalled_tasks = [asyncio.create_task(Upload(key, b"x").arrives()) for key in keys[:-1]]
        while bytes_under_way() < 1:
            await asyncio.sleep(0)
        byte_count = await Upload(keys[-1], b"x").arrives()
        for task in stalled_tasks:
            task.cancel()
        await asyncio.gather(*stalled_tasks, return_exceptions=True)
        return byte_count

    assert asyncio.run(result_of_one_more()) == -503
