"""If a person leaves a page while one of its fragments asks for a run, the fragment is not run: the next page stays."""

import asyncio

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from playground.ui.lifespan import PageTracker


def rerun_message(page: str, part: str = "") -> dict:
    message = BackMsg()
    message.rerun_script.page_script_hash, message.rerun_script.fragment_id = page, part
    return {"type": "websocket.receive", "bytes": message.SerializeToString()}


def begins(page: str, part: str = "") -> dict:
    message = ForwardMsg()
    message.new_session.page_script_hash = page
    message.metadata.run.fragment_ids.extend(part and [part])
    return {"type": "websocket.send", "bytes": message.SerializeToString()}


def leads_to(page: str) -> dict:
    message = ForwardMsg()
    message.navigation.page_script_hash = page
    return {"type": "websocket.send", "bytes": message.SerializeToString()}


END = {"type": "websocket.disconnect"}


def talk(*messages: dict) -> tuple[list[tuple[str, str]], list[str]]:
    """([(page, fragment)] of the runs that these messages start, pages that the browser is told to show)"""
    received, sent, pending = [], [], []

    async def receive() -> dict:
        return pending.pop() if pending else END

    async def send(message: dict) -> None:
        if (forward := ForwardMsg.FromString(message["bytes"])).WhichOneof("type") == "new_session":
            sent.append(forward.new_session.page_script_hash)

    async def go() -> None:
        line = PageTracker(receive, send)
        for message in messages:
            if message["type"] == "websocket.send":
                await line.send(message)
                continue
            pending.append(message)
            if data := (await line.receive()).get("bytes"):
                rerun = BackMsg.FromString(data).rerun_script
                received.append((rerun.page_script_hash, rerun.fragment_id))

    asyncio.run(go())
    return received, sent


def test_a_part_of_the_page_that_is_shown_is_heard():
    assert talk(rerun_message(""), begins("main"), leads_to("one"), rerun_message("one", "a")) == (
        [("", ""), ("one", "a")],
        ["main"],
    )


def test_a_part_of_a_page_that_was_left_is_not_heard():
    received, _ = talk(rerun_message("one"), begins("one"), rerun_message("two"), rerun_message("one", "a"))
    assert received == [("one", ""), ("two", "")]
    received, _ = talk(
        rerun_message("one"), begins("one"), begins("two"), rerun_message("one", "a"), rerun_message("two", "b")
    )
    assert received == [("one", ""), ("two", "b")]


def test_a_part_that_asked_before_its_page_was_left_is_drawn_on_the_next_page():
    received, sent = talk(
        rerun_message("one"),
        begins("one"),
        rerun_message("one", "a"),
        begins("two"),
        begins("one", "a"),
        rerun_message("two", "b"),
    )
    assert sent == ["one", "two", "two"]
    assert received == [("one", ""), ("one", "a"), ("two", "b")]
