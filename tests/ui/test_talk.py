"""What one socket says."""

import asyncio
import time

from waiting import PATIENCE

from playground.ui import talk
from playground.ui.talk import Sockets


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

    async def talks(self) -> None:
        await Sockets(self.app)({"type": "websocket"}, self.receive, self.send)


def test_who_talks_without_a_pause_is_heard_more_slowly(monkeypatch):
    monkeypatch.setattr(talk, "MESSAGES_A_SECOND", {"quiet": 1e6, "busy": 1e-6})
    monkeypatch.setattr(talk.Server, "now", lambda _: "busy")

    async def heard() -> int:
        chatter = Chatter(10 * talk.MESSAGES)
        talking = asyncio.create_task(chatter.talks())
        for _ in range(100 * talk.MESSAGES):
            await asyncio.sleep(0)
        talking.cancel()
        return chatter.heard

    assert asyncio.run(heard()) == talk.MESSAGES
    monkeypatch.setattr(talk.Server, "now", lambda _: "quiet")

    async def all_of_it() -> int:
        chatter = Chatter(10 * talk.MESSAGES)
        await chatter.talks()
        return chatter.heard

    assert asyncio.run(all_of_it()) == 10 * talk.MESSAGES


def test_who_reads_nothing_is_not_answered_further(monkeypatch):
    monkeypatch.setattr(talk, "UNREAD_SECONDS", PATIENCE)

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
        talking = asyncio.create_task(chatter.talks())
        for _ in range(100):
            await asyncio.sleep(0)
        before = chatter.heard
        chatter.reads.set()
        await talking
        return before, chatter.heard

    assert asyncio.run(heard()) == (1, 2)


def test_a_server_that_computes_is_busy():
    server = talk.Server()
    assert server.now() == "quiet"
    server._at, server._spent = time.monotonic() - 10, time.process_time() - 6
    assert server.now() == "busy"
    server._at, server._spent = time.monotonic() - 10, time.process_time() - 1
    assert server.now() == "quiet"
