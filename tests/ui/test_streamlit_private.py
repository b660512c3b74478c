"""Parts of Streamlit that are not promised: each test fails when one is gone, and says so before a page breaks."""

import dataclasses
import inspect
import logging
import re
import weakref
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import create_autospec

import pytest
import streamlit
from streamlit import delta_generator, logger, net_util, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import ScriptRunContext
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette.starlette_websocket import StarletteClientContext, StarletteSessionClient

from playground.ui import streamlit_private

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "playground" / "microscope" / "shell" / "streamlitparts.js"
FRONTEND = Path(streamlit.__file__).parent / "static" / "static" / "js"
WARNING = "During a fragment rerun, within a callback, displaying elements is not officially supported"


def test_of_a_session_s_uploads_only_the_last_are_kept():
    manager = MemoryUploadedFileManager("/upload")
    streamlit_private.keep_last(manager, most=2)
    for session in ("one", "another"):
        for number in range(5):
            manager.add_file(session, UploadedFileRec(str(number), f"{number}.jpg", "image/jpeg", bytes(10)))
    for session in ("one", "another"):
        assert [file.file_id for file in manager.get_files(session, list("01234"))] == ["3", "4"]


def test_of_all_uploads_the_last_are_kept_also_of_sessions_that_nobody_ends():
    manager = MemoryUploadedFileManager("/upload")
    streamlit_private.keep_last(manager, most_bytes=45)
    for number in range(9):
        name = f"{number}.jpg"
        manager.add_file(f"session {number}", UploadedFileRec(name, name, "image/jpeg", bytes(10)))
    kept = [name for number in range(9) for name in manager.file_storage.get(f"session {number}", {})]
    assert kept == ["5.jpg", "6.jpg", "7.jpg", "8.jpg"]
    manager.remove_session_files("session 8")
    manager.add_file("session 9", UploadedFileRec("9.jpg", "9.jpg", "image/jpeg", bytes(10)))
    assert "5.jpg" in manager.file_storage["session 5"]  # what has gone by itself makes room


class Person:
    """Somebody's session."""

    id = "somebody"


def test_who_left_is_forgotten_though_nobody_else_leaves():
    storage = MemorySessionStorage(ttl_seconds=0)
    manager = WebsocketSessionManager(storage, None, None, None)
    person = Person()
    person.holds = person  # a circle, as Streamlit's sessions are
    gone = weakref.ref(person)
    storage.save(SessionInfo(client=None, session=person, script_run_count=1))
    del person
    assert gone() is not None
    streamlit_private.expire(manager)
    assert gone() is None


def test_nobody_is_asked_for_our_address():
    from streamlit.web.server import server_util

    assert callable(net_util.get_external_ip)
    assert "net_util.get_external_ip," in inspect.getsource(server_util)  # looked up when it is called


def test_the_network_of_a_session_is_known(monkeypatch):
    socket = SimpleNamespace(headers={}, cookies={}, client=SimpleNamespace(host="10.0.0.1"))
    context = StarletteClientContext(socket)
    client = create_autospec(StarletteSessionClient, instance=True, client_context=context)
    monkeypatch.setattr(runtime, "exists", lambda: True)
    server = create_autospec(Runtime, instance=True)
    server.get_client.return_value = client
    monkeypatch.setattr(runtime, "get_instance", lambda: server)
    assert streamlit_private.network("its session") == "10.0.0.1"


def test_a_fresh_server_never_runs_pages_without_app_py(monkeypatch):
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    streamlit_private.use_our_pages()
    PagesManager(str(ROOT / "app.py"))  # which looks for pages/, unless it is told
    assert PagesManager.uses_pages_directory is False


def test_a_thread_knows_whether_it_runs_a_page():
    def page():
        import streamlit as st

        from playground.ui import streamlit_private

        st.text(str(streamlit_private.on_a_page()))

    assert not streamlit_private.on_a_page()
    assert AppTest.from_function(page).run().text[0].value == "True"


def test_any_look_at_the_session_s_state_stops_a_page_that_was_left():
    assert "_yield_callback()" in inspect.getsource(SafeSessionState.__getitem__)


def test_a_run_knows_whether_the_browser_went_back():
    assert "is_history_navigation" in {field.name for field in dataclasses.fields(ScriptRunContext)}
    assert not streamlit_private.went_through_history()


def test_a_toast_within_a_callback_leaves_no_warning():
    assert WARNING in inspect.getsource(delta_generator)
    record = logging.LogRecord("streamlit", logging.WARNING, "", 0, WARNING, (), None)
    log = logger.get_logger("root")  # as delta_generator says
    before = list(log.filters)
    streamlit_private.hush_toasts()
    assert not log.filter(record)
    log.filters[:] = before


@pytest.mark.parametrize("word", re.findall(r'^export const \w+ = "(.+?)";', SCRIPT.read_text("utf-8"), re.MULTILINE))
def test_the_page_s_parts_are_called_as_the_scripts_say(word):
    said = "test-connection-state" if "connection" in word else word.removeprefix("data-")
    assert any(said in file.read_text(encoding="utf-8") for file in FRONTEND.glob("*.js")), word


def test_the_scripts_name_streamlit_s_parts_in_one_file_alone():
    private = re.compile(r"data-testid|data-test-|data-stale|\bst[A-Z]\w+")
    files = [file for kind in ("js", "css") for file in SCRIPT.parent.parent.rglob(f"*.{kind}")]
    found = {file.name for file in files if private.search(file.read_text(encoding="utf-8"))}
    assert found == {SCRIPT.name}


@pytest.mark.parametrize("selector", streamlit_private.PARTS.values())
def test_the_page_s_parts_are_called_as_the_styles_say(selector):
    attribute, _, value = selector.strip("[]").replace('"', "").partition("=")
    word = value if attribute == "data-testid" else attribute
    files = [file for file in FRONTEND.glob("*.js") if word in file.read_text(encoding="utf-8")]
    assert files, f"nothing in Streamlit's frontend says {word}"


def test_streamlit_s_private_parts_are_named_in_two_files_alone():
    private = re.compile(r"streamlit\.runtime|streamlit import .*(net_util|runtime)|data-testid|data-stale")
    files = [*(ROOT / "playground").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]
    found = {file.name for file in files if private.search(file.read_text(encoding="utf-8"))}
    assert found == {"streamlit_private.py", "streamlit_runs.py"}


def test_nobody_empties_the_caches_of_everybody(monkeypatch):
    """A message of two bytes does that where Streamlit hears all that a browser may say."""
    heard = []
    monkeypatch.setattr(AppSession, "handle_backmsg", lambda session, message: heard.append(message.WhichOneof("type")))
    monkeypatch.setattr(MemoryUploadedFileManager, "get_upload_urls", MemoryUploadedFileManager.get_upload_urls)
    streamlit_private.hear_only()
    for message in (BackMsg(clear_cache=True), BackMsg(load_git_info=True), BackMsg(set_run_on_save=True)):
        AppSession.handle_backmsg(None, message)
    AppSession.handle_backmsg(None, BackMsg(stop_script=True))
    assert heard == ["stop_script"]
