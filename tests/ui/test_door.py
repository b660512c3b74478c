"""Limits on what one socket sends: how fast, and which messages reach Streamlit."""

import asyncio

import pytest
from playground.ui.door import Door
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.proto.ClientState_pb2 import ClientState

from playground.ui import door

WEBSOCKET = {"type": "websocket", "headers": [], "client": ("10.0.0.1", 5)}
STOP_MESSAGE = BackMsg(stop_script=True).SerializeToString()
HALF_MESSAGE = BackMsg(rerun_script=ClientState(query_string="sample=meadow")).SerializeToString()[:-5]


class Chatter:
    """A client that sends `count` messages at once, and reads answers only when `may_read` is set."""

    def __init__(self, count: int):
        self.messages_left, self.heard_count, self.may_read = count, 0, asyncio.Event()

    async def receive(self):
        if not self.messages_left:
            return {"type": "websocket.disconnect"}
        self.messages_left -= 1
        return {"type": "websocket.receive", "bytes": STOP_MESSAGE}

    async def send(self, message):
        await self.may_read.wait()

    async def app(self, scope, receive, send):
        while (await receive())["type"] == "websocket.receive":
            self.heard_count += 1

    async def talks(self) -> None:
        await Door(self.app)(WEBSOCKET, self.receive, self.send)


def test_a_browser_that_sends_without_a_pause_is_heard_more_slowly(monkeypatch):
    monkeypatch.setattr(door, "MESSAGES_A_SECOND", 1e-6)

    async def count_heard() -> int:
        chatter = Chatter(10 * door.MESSAGES_AT_ONCE)
        task = asyncio.create_task(chatter.talks())
        for _ in range(100 * door.MESSAGES_AT_ONCE):
            await asyncio.sleep(0)
        task.cancel()
        return chatter.heard_count

    assert asyncio.run(count_heard()) == door.MESSAGES_AT_ONCE
    monkeypatch.setattr(door, "MESSAGES_A_SECOND", 1e6)

    async def count_all() -> int:
        chatter = Chatter(10 * door.MESSAGES_AT_ONCE)
        await chatter.talks()
        return chatter.heard_count

    assert asyncio.run(count_all()) == 10 * door.MESSAGES_AT_ONCE


def talk_through_door(*messages: dict) -> tuple[list[str], list[dict]]:
    """(kinds of these messages that reach Streamlit, messages that go back to the browser)"""
    messages_to_come, received, sent = [*messages, {"type": "websocket.disconnect", "code": 1000}], [], []

    async def receive():
        return messages_to_come.pop(0)

    async def send(message):
        sent.append(message)

    async def streamlit(scope, receive, send):
        while (message := await receive())["type"] == "websocket.receive":
            received.append(BackMsg.FromString(message["bytes"]).WhichOneof("type"))

    asyncio.run(Door(streamlit)(WEBSOCKET, receive, send))
    return received, sent


def to_asgi(message: BackMsg) -> dict:
    return {"type": "websocket.receive", "bytes": message.SerializeToString()}


def message_of(kind: str) -> BackMsg:
    message, field = BackMsg(), BackMsg.DESCRIPTOR.fields_by_name[kind]
    if field.message_type:
        getattr(message, kind).SetInParent()
    else:
        setattr(message, kind, True)
    return message


MESSAGE_KINDS = [field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields]


@pytest.mark.parametrize("kind", MESSAGE_KINDS)
def test_streamlit_hears_only_what_our_pages_say(kind):
    """Other messages are attacks: two bytes empty everybody's caches, and one asks for a million upload addresses."""
    is_ours = kind in ("rerun_script", "stop_script", "app_heartbeat")
    received, sent = talk_through_door(to_asgi(message_of(kind)), to_asgi(BackMsg(app_heartbeat=True)))
    assert received == [kind, "app_heartbeat"] if is_ours else ["app_heartbeat"]
    assert sent == []


def test_the_kinds_of_messages_that_were_attacks_are_tested():
    assert {"clear_cache", "file_urls_request", "backend_operation_request", "set_run_on_save"} <= set(MESSAGE_KINDS)
    kinds = {field.name for field in BackendOperationRequest.DESCRIPTOR.oneofs_by_name["payload"].fields}
    assert {"deferred_file", "install_skills"} <= kinds


def test_a_dropped_message_slows_a_browser_down_as_a_heard_one_does(monkeypatch):
    slowed_talks = []

    async def record_talk(talk) -> None:
        slowed_talks.append(talk)

    monkeypatch.setattr(door.Talk, "_slow_down", record_talk)
    talk_through_door(*[to_asgi(BackMsg(clear_cache=True))] * 30)
    assert len(slowed_talks) == 30


@pytest.mark.parametrize("message", [b"\xff\xff\xff", HALF_MESSAGE], ids=["noise", "half a message"])
def test_bytes_that_are_no_message_close_the_socket(message):
    received, sent = talk_through_door(
        {"type": "websocket.receive", "bytes": message}, to_asgi(BackMsg(stop_script=True))
    )
    assert received == []
    assert sent == [{"type": "websocket.close", "code": 1002}]


@pytest.mark.parametrize("message", [{"text": "clear_cache"}, {"bytes": b""}, {"bytes": None, "text": ""}])
def test_texts_and_empty_messages_are_passed_over(message):
    received, sent = talk_through_door({"type": "websocket.receive"} | message, to_asgi(BackMsg(stop_script=True)))
    assert (received, sent) == (["stop_script"], [])
