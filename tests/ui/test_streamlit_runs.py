"""A run of a page that follows another one at once: what the person chose is drawn, on the page where they are."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from unittest.mock import MagicMock, create_autospec

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.script_data import ScriptData
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.state import SessionState

from playground.ui import streamlit_runs


def test_a_part_of_a_page_runs_on_the_page_that_is_shown(monkeypatch):
    """Whatever page was shown when it asked: the browser wipes the one that it shows if a run is another's."""
    ran = []
    monkeypatch.setattr(ScriptRunner, "_run_script", lambda runner, asked: ran.append(asked.page_script_hash))
    monkeypatch.setattr(ScriptRequests, "_request_rerun_locked", ScriptRequests._request_rerun_locked)
    streamlit_runs.keep_parts_on_their_page()
    runner = create_autospec(ScriptRunner)
    runner._get_script_run_ctx.return_value.page_script_hash = "shown"
    ScriptRunner._run_script(runner, RerunData(page_script_hash="left", fragment_id_queue=["part"]))
    ScriptRunner._run_script(runner, RerunData(page_script_hash="next"))
    assert ran == ["shown", "next"]


def test_a_part_that_asks_while_another_page_waits_to_run_does_not_call_it_off(monkeypatch):
    monkeypatch.setattr(ScriptRunner, "_run_script", ScriptRunner._run_script)
    monkeypatch.setattr(ScriptRequests, "_request_rerun_locked", ScriptRequests._request_rerun_locked)
    streamlit_runs.keep_parts_on_their_page()
    requests = ScriptRequests()
    requests.request_rerun(RerunData("layer=2", page_script_hash="next", is_history_navigation=True))
    requests.request_rerun(RerunData("layer=1", page_script_hash="left", fragment_id="part"))
    run = requests.on_scriptrunner_ready().rerun_data
    assert (run.query_string, run.page_script_hash, run.is_history_navigation) == ("layer=2", "next", True)
    assert not run.fragment_id_queue


PAGE = """
import streamlit as st

@st.fragment
def part():
    st.text("a part")

st.text("the page")
st.session_state.setdefault("step", "the second")
st.selectbox("a step", ["the first", "the second"], key="step")
if st.toggle("a panel", key="panel"):
    st.text("what is in it")
if st.button("a button", key="button"):
    st.text("what it does")
part()
"""


class Talk:
    """A session whose browser says one thing after another."""

    def __init__(self, script: Path):
        self.session = AppSession(ScriptData(str(script)), MemoryUploadedFileManager("/"), ScriptCache(), None, {})

    def say(self, **what) -> None:
        page = self.session._client_state.page_script_hash
        self.session.request_rerun(ClientState(page_script_hash=page, **what))

    def part(self) -> str:
        return next(iter(self.session._fragment_storage._fragments))

    def choose(self, key: str, **value) -> WidgetStates:
        name = self.session._session_state._key_id_mapper.get_id_from_key(key)
        return WidgetStates(widgets=[WidgetState(id=name, **value)])

    async def heard(self) -> list[ForwardMsg]:
        while self.session._scriptrunner is not None:
            await asyncio.sleep(0.01)
        return self.session.flush_browser_queue()


def texts(heard: list[ForwardMsg]) -> list[str]:
    words = [message.delta.new_element.text.body for message in heard if message.WhichOneof("type") == "delta"]
    return [word for word in words if word]


@pytest.fixture
def talk(monkeypatch, tmp_path):
    """Runs somebody's talk with a server that has all our mends."""
    mended = {
        SessionState: ("register_widget",),
        AppSession: ("_create_scriptrunner", "_handle_scriptrunner_event_on_event_loop", "request_rerun"),
        ScriptRunner: ("_run_script",),
        ScriptRequests: ("_request_rerun_locked",),
    }
    for owner, names in mended.items():
        for name in names:
            monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setattr(PagesManager, "uses_pages_directory", False)
    monkeypatch.setattr(Runtime, "_instance", MagicMock(spec=Runtime))
    streamlit_runs.lose_nothing()
    script = tmp_path / "app.py"
    script.write_text(PAGE)

    async def ended(what: Callable[[Talk], Awaitable]):
        talk = Talk(script)
        try:
            return await what(talk)
        finally:
            talk.session.shutdown()

    return lambda what: asyncio.run(ended(what))


def test_a_part_that_asks_as_a_run_has_just_ended_does_not_lose_what_that_drew(talk):
    async def ask(talk: Talk) -> list[ForwardMsg]:
        talk.say()
        talk.session._scriptrunner._script_thread.join()  # and the server has not even heard that it began
        talk.say(fragment_id=talk.part())
        return await talk.heard()

    heard = talk(ask)
    assert texts(heard) == ["the page", "a part"]
    ends = [message.script_finished for message in heard if message.WhichOneof("type") == "script_finished"]
    assert ends == [ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY]


@pytest.mark.parametrize(
    ("key", "value", "drawn", "again"),
    [
        ("panel", {"bool_value": True}, "what is in it", ["a part"]),
        ("button", {"trigger_value": True}, "what it does", ["the page", "what it does", "a part"]),
    ],
)
def test_what_is_chosen_in_the_moment_in_which_a_part_asks_is_drawn(talk, key, value, drawn, again):
    """The browser sends both as one, in the part's name. What the session knows already is nothing new."""

    async def choose(talk: Talk) -> list[list[str]]:
        talk.say()
        first = await talk.heard()
        said = []
        for _ in range(2):
            talk.say(fragment_id=talk.part(), widget_states=talk.choose(key, **value))
            said.append(texts(await talk.heard()))
        return [texts(first), *said]

    assert talk(choose) == [["the page", "a part"], ["the page", drawn, "a part"], again]


def test_a_part_of_a_page_that_is_being_left_does_not_bring_that_page_back(talk):
    async def leave(talk: Talk) -> list[str]:
        talk.say()
        await talk.heard()
        choice = talk.choose("panel", bool_value=True)
        talk.session.request_rerun(ClientState(page_script_hash="left", fragment_id=talk.part(), widget_states=choice))
        return texts(await talk.heard())

    assert talk(leave) == ["a part"]


def test_a_browser_is_told_what_is_chosen_until_it_says_that_it_shows_it(talk):
    """In the first run it may still be loading the widget's script, and hears only the next one."""

    def told(heard: list[ForwardMsg]) -> list[str]:
        elements = [message.delta.new_element for message in heard if message.WhichOneof("type") == "delta"]
        return [
            e.selectbox.raw_value for e in elements if e.WhichOneof("type") == "selectbox" and e.selectbox.set_value
        ]

    async def load(talk: Talk) -> list[list[str]]:
        said = []
        for widgets in (lambda: None, lambda: None, lambda: talk.choose("step", string_value="the first")):
            talk.say(widget_states=widgets())
            said.append(told(await talk.heard()))
        return said

    assert talk(load) == [["the second"], ["the second"], []]


def events(**values) -> WidgetStates:
    said = [{"event": name, "value": value} for name, value in values.items()]
    return WidgetStates(widgets=[WidgetState(id="drawing", json_trigger_value=json.dumps(said))])


def names(states: WidgetStates) -> dict[str, object]:
    (drawing,) = states.widgets
    return {event["event"]: event["value"] for event in json.loads(drawing.json_trigger_value)}


def test_of_two_messages_that_wait_for_a_run_s_end_both_are_heard(monkeypatch):
    """A photograph was dropped, and the microscope asked for something by itself."""
    monkeypatch.setattr(ScriptRequests, "_request_rerun_locked", ScriptRequests._request_rerun_locked)
    monkeypatch.setattr(AppSession, "request_rerun", AppSession.request_rerun)
    streamlit_runs.hear_all_that_was_said()
    requests = ScriptRequests()
    for said in (events(ask="one", photo="yours"), events(ask="another")):
        requests.request_rerun(RerunData(fragment_id="part", widget_states=said))
    requests.request_rerun(RerunData(fragment_id="part"))  # as a page does by itself
    assert names(requests.on_scriptrunner_ready().rerun_data.widget_states) == {"ask": "another", "photo": "yours"}


@pytest.mark.parametrize(("page", "heard"), [("shown", {"photo": "yours"}), ("next", {})])
def test_what_waits_is_heard_also_where_the_whole_page_is_to_be_drawn(monkeypatch, page, heard):
    """But not on the page that somebody goes to."""
    asked = []
    monkeypatch.setattr(AppSession, "_create_scriptrunner", lambda session, what: asked.append(what))
    monkeypatch.setattr(ScriptRequests, "_request_rerun_locked", ScriptRequests._request_rerun_locked)
    monkeypatch.setattr(AppSession, "request_rerun", AppSession.request_rerun)
    streamlit_runs.hear_all_that_was_said()
    running = create_autospec(ScriptRunner)
    running._requests = ScriptRequests()
    running._requests.request_rerun(
        RerunData(page_script_hash="shown", fragment_id="part", widget_states=events(photo="yours"))
    )

    async def ask() -> None:
        session = AppSession(ScriptData("app.py"), MemoryUploadedFileManager("/"), ScriptCache(), None, {})
        session._scriptrunner = running
        panel = WidgetStates(widgets=[WidgetState(id="panel", bool_value=True)])
        session.request_rerun(ClientState(page_script_hash=page, widget_states=panel))

    asyncio.run(ask())
    widgets = {widget.id: widget for widget in asked[0].widget_states.widgets}
    assert widgets.pop("panel").bool_value
    assert (names(WidgetStates(widgets=widgets.values())) if widgets else {}) == heard
