"""A download is made in a thread where no page runs, as the person who asked for it."""

import asyncio
import threading

import pytest
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from waiting import PATIENCE, until

from playground.errors import PlaygroundError
from playground.serving import asker, queue
from playground.serving.queue import MOST_OF_ONE, Queue
from playground.ui import export_panel, streamlit_private


class Person(asker.Nobody):
    def who(self) -> asker.Who:
        return asker.Who("me", "10.0.0.1")


@pytest.fixture
def line(monkeypatch):
    found = Queue(1)
    monkeypatch.setattr(queue, "passes", lambda: found)
    return found


@pytest.fixture
def download(line, monkeypatch):
    """What the page of a person gives to Streamlit."""

    def made() -> bytes:
        with queue.turn():
            return b"a file"

    monkeypatch.setattr(asker, "find", Person)
    return export_panel.for_them("png", made)


def in_a_thread(monkeypatch, download) -> tuple[threading.Thread, list]:
    """Where no page runs. The list gets what comes out."""
    out = []
    monkeypatch.setattr(asker, "find", asker.Nobody)

    def run() -> None:
        try:
            out.append(download())
        except Exception as error:
            out.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, out


def test_a_download_waits_as_the_person_who_asked_for_it(line, download, monkeypatch):
    with line.take():
        thread, out = in_a_thread(monkeypatch, download)
        until(line.waited_for, "it does not wait")
        assert line._line[-1].who == asker.Who("me", "10.0.0.1")
    thread.join(PATIENCE)
    assert out == [b"a file"]
    assert asker.current().who() == asker.NOBODY


def test_a_person_s_downloads_count_as_their_questions(line, download, monkeypatch):
    with line.take():
        threads = [in_a_thread(monkeypatch, download)[0] for _ in range(MOST_OF_ONE)]
        until(lambda: len(line._line) == MOST_OF_ONE + 1, "they do not wait")
        last, out = in_a_thread(monkeypatch, download)
        last.join(PATIENCE)
        assert isinstance(out[0], PlaygroundError)
    for thread in threads:
        thread.join(PATIENCE)


def test_a_download_gives_up_when_its_session_has_left(line, monkeypatch):
    there = True
    monkeypatch.setattr(streamlit_private, "presence", lambda: lambda: there)
    monkeypatch.setattr(asker, "find", Person)
    made = []

    def make() -> bytes:
        with queue.turn():
            made.append("a file")
        return b""

    with line.take():
        thread, out = in_a_thread(monkeypatch, export_panel.for_them("png", make))
        until(line.waited_for, "it does not wait")
        there = False
        thread.join(PATIENCE)
    assert isinstance(out[0], queue.Left)
    assert made == []


# What Streamlit is asked for ------------------------------------------------------------------------------------------


def asked(request_id: str, file_id: str) -> BackendOperationRequest:
    request = BackendOperationRequest(request_id=request_id)
    request.deferred_file.file_id = file_id
    return request


def test_a_file_is_made_once_at_a_time_and_two_of_a_session(monkeypatch):
    begun = []

    async def talk() -> None:
        go = asyncio.Event()

        async def make(handler, request, session_id):
            begun.append((session_id, request.deferred_file.file_id))
            await go.wait()
            return BackendOperationResponse(request_id=request.request_id)

        monkeypatch.setattr(DeferredFileHandler, "handle", make)
        streamlit_private.bound_downloads()
        handler = DeferredFileHandler(None)
        mine = [
            asyncio.ensure_future(handler.handle(asked(f"{file} {n}", file), "me")) for n in range(9) for file in "ab"
        ]
        await asyncio.sleep(0)
        refused = await handler.handle(asked("c", "c"), "me")
        assert (refused.request_id, "wait for one of them" in refused.error_msg) == ("c", True)
        stranger = asyncio.ensure_future(handler.handle(asked("s", "s"), "stranger"))
        while len(begun) < 3:
            await asyncio.sleep(0)
        assert begun == [("me", "a"), ("me", "b"), ("stranger", "s")]
        go.set()
        answers = await asyncio.gather(*mine, stranger)
        assert [answer.request_id for answer in answers] == [f"{file} {n}" for n in range(9) for file in "ab"] + ["s"]
        await handler.handle(asked("a", "a"), "me")  # it may be made again
        assert begun[3:] == [("me", "a")]

    asyncio.run(talk())


def test_of_what_a_server_does_for_a_page_only_files_are_made(monkeypatch):
    heard = []
    monkeypatch.setattr(AppSession, "handle_backmsg", lambda session, message: heard.append(message))
    monkeypatch.setattr(MemoryUploadedFileManager, "get_upload_urls", MemoryUploadedFileManager.get_upload_urls)
    streamlit_private.hear_only()
    kinds = [field.name for field in BackendOperationRequest.DESCRIPTOR.oneofs_by_name["payload"].fields]
    assert {"deferred_file", "install_skills"} <= set(kinds)
    for kind in kinds:
        message = BackMsg()
        getattr(message.backend_operation_request, kind).SetInParent()
        AppSession.handle_backmsg(None, message)
    AppSession.handle_backmsg(None, BackMsg(backend_operation_request=BackendOperationRequest()))
    assert [message.backend_operation_request.WhichOneof("payload") for message in heard] == ["deferred_file"]
