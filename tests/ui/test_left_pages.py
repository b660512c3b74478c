"""If a person leaves a page while one of its fragments asks for a run, the fragment is not run: the next page stays."""

import asyncio

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from playground.ui.lifespan import PageTracker


def rerun_message(page: str, fragment: str = "") -> dict:
    message = BackMsg()
    message.rerun_script.page_script_hash, message.rerun_script.fragment_id = page, fragment
    return {"type": "websocket.receive", "bytes": message.SerializeToString()}


def run_message(page: str, fragment: str = "") -> dict:
    message = ForwardMsg()
    message.new_session.page_script_hash = page
    message.metadata.run.fragment_ids.extend(fragment and [fragment])
    return {"type": "websocket.send", "bytes": message.SerializeToString()}


def navigation_message(page: str) -> dict:
    message = ForwardMsg()
    message.navigation.page_script_hash = page
    return {"type": "websocket.send", "bytes": message.SerializeToString()}


END = {"type": "websocket.disconnect"}


def exchange(*messages: dict) -> tuple[list[tuple[str, str]], list[str]]:
    """([(page, fragment)] of the runs that these messages start, pages that the browser is told to show)"""
    received, sent, pending = [], [], []

    async def receive() -> dict:
        return pending.pop() if pending else END

    async def send(message: dict) -> None:
        if (forward_message := ForwardMsg.FromString(message["bytes"])).WhichOneof("type") == "new_session":
            sent.append(forward_message.new_session.page_script_hash)

    async def go() -> None:
        tracker = PageTracker(receive, send)
        for message in messages:
            if message["type"] == "websocket.send":
                await tracker.send(message)
                continue
            pending.append(message)
            if data := (await tracker.receive()).get("bytes"):
                rerun = BackMsg.FromString(data).rerun_script
                received.append((rerun.page_script_hash, rerun.fragment_id))

    asyncio.run(go())
    return received, sent


def test_a_fragment_of_the_shown_page_is_run():
    assert exchange(rerun_message(""), run_message("main"), navigation_message("one"), rerun_message("one", "a")) == (
        [("", ""), ("one", "a")],
        ["main"],
    )


def test_a_fragment_of_a_page_that_was_left_is_not_run():
    received, _ = exchange(rerun_message("one"), run_message("one"), rerun_message("two"), rerun_message("one", "a"))
    assert received == [("one", ""), ("two", "")]
    received, _ = exchange(
        rerun_message("one"),
        run_message("one"),
        run_message("two"),
        rerun_message("one", "a"),
        rerun_message("two", "b"),
    )
    assert received == [("one", ""), ("two", "b")]


def test_a_fragment_requested_before_its_page_was_left_is_drawn_on_the_next_page():
    received, sent = exchange(
        rerun_message("one"),
        run_message("one"),
        rerun_message("one", "a"),
        run_message("two"),
        run_message("one", "a"),
        rerun_message("two", "b"),
    )
    assert sent == ["one", "two", "two"]
    assert received == [("one", ""), ("one", "a"), ("two", "b")]
