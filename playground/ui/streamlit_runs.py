"""What Streamlit loses where one run of a page follows another at once, kept. Tried with Streamlit 1.67.

A run is of the whole page, or of a part of it (a fragment) that asked. Each function says what a person met;
tests/ui/test_streamlit_runs.py fails when a part of Streamlit that it needs is gone.
"""

from __future__ import annotations

import json
from dataclasses import replace
from weakref import WeakSet

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import (
    ScriptRequests,
    ScriptRequestType,
    _coalesce_widget_states,
)
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.common import RegisterWidgetResult, WidgetMetadata, unpack_widget_state_value

CLICKS = ("trigger_value", "string_trigger_value", "json_trigger_value")
CHOICES = ("bool_value", "int_value", "double_value", "string_value", "double_array_value", "string_array_value")


def lose_nothing() -> None:
    keep_parts_on_their_page()
    show_what_was_drawn_last()
    hear_all_that_was_said()
    draw_all_that_was_chosen()
    tell_values_until_they_are_heard()


def keep_parts_on_their_page() -> None:
    """A part of a page may ask while the page is being left: a drawing tells a choice a moment after it was made.
    Streamlit takes the page from the last that asked, and the browser wipes the page that the person has gone to."""
    run, join = ScriptRunner._run_script, ScriptRequests._request_rerun_locked

    def run_on_its_page(runner, asked: RerunData) -> None:
        page = runner._get_script_run_ctx().page_script_hash  # none before the first run
        run(runner, replace(asked, page_script_hash=page) if asked.fragment_id_queue and page else asked)

    def join_on_its_page(requests, asked: RerunData) -> bool:
        waiting = requests._rerun_data
        if requests._state == ScriptRequestType.RERUN and asked.fragment_id and not waiting.fragment_id_queue:
            asked = replace(
                asked, page_script_hash=waiting.page_script_hash, page_name=waiting.page_name,
                query_string=waiting.query_string, is_history_navigation=waiting.is_history_navigation,
            )  # fmt: skip
        return join(requests, asked)

    ScriptRunner._run_script, ScriptRequests._request_rerun_locked = run_on_its_page, join_on_its_page


def show_what_was_drawn_last() -> None:
    """Of a run that has just ended, the server may still have to send what it drew, where it has much to do. Streamlit
    throws that away if a part of the page asks in this moment: an open panel stayed empty."""
    begin, handle = AppSession._create_scriptrunner, AppSession._handle_scriptrunner_event_on_event_loop
    ended = WeakSet()  # runs that nobody stopped

    def begin_next(session, asked: RerunData) -> None:
        if session._scriptrunner is not None:
            ended.add(session._scriptrunner)
        begin(session, asked)

    def handle_all(session, sender, event, *what, **more) -> None:
        now = session._scriptrunner
        if sender is now or sender not in ended:
            handle(session, sender, event, *what, **more)
        elif event != ScriptRunnerEvent.SHUTDOWN:
            session._scriptrunner = sender
            try:
                handle(session, sender, event, *what, **more)
            finally:
                session._scriptrunner = now

    AppSession._create_scriptrunner = begin_next
    AppSession._handle_scriptrunner_event_on_event_loop = handle_all


def hear_all_that_was_said() -> None:
    """While a run goes on, two messages may come. Of what a drawing says in both, Streamlit hears the second alone, and
    nothing of the first where the second is for the whole page: a photograph was dropped, and was not there."""
    join, request = ScriptRequests._request_rerun_locked, AppSession.request_rerun

    def join_all(requests, asked: RerunData) -> bool:
        if requests._state == ScriptRequestType.RERUN:
            asked = replace(asked, widget_states=with_events(requests._rerun_data.widget_states, asked.widget_states))
        return join(requests, asked)

    def request_all(session, said: ClientState | None) -> None:
        waiting = session._scriptrunner and session._scriptrunner._requests
        if said and not said.fragment_id and waiting:
            with waiting._lock:
                before = waiting._rerun_data
                if waiting._state == ScriptRequestType.RERUN and before.page_script_hash == said.page_script_hash:
                    now = with_events(before.widget_states, said.widget_states)
                    said.widget_states.CopyFrom(_coalesce_widget_states(before.widget_states, now) or WidgetStates())
        request(session, said)

    ScriptRequests._request_rerun_locked, AppSession.request_rerun = join_all, request_all


def with_events(earlier: WidgetStates | None, later: WidgetStates | None) -> WidgetStates | None:
    """The later states; where a drawing's events are in both, the last of each name."""
    if not earlier or not later:
        return later
    before, both = {widget.id: widget.json_trigger_value for widget in earlier.widgets}, WidgetStates()
    both.CopyFrom(later)
    for widget in both.widgets:
        if widget.json_trigger_value and before.get(widget.id):
            events = json.loads(before[widget.id]) + json.loads(widget.json_trigger_value)
            widget.json_trigger_value = json.dumps(list({event["event"]: event for event in events}.values()))
    return both


def draw_all_that_was_chosen() -> None:
    """What is chosen in one moment comes as one message, in the name of the part that spoke first, and Streamlit draws
    that part alone: a panel that was opened as the microscope asked something stayed empty."""
    request = AppSession.request_rerun

    def request_all(session, said: ClientState | None) -> None:
        if said and said.fragment_id and session.has_fragment(said.fragment_id) and chose_elsewhere(session, said):
            said.fragment_id = ""  # the whole page
        request(session, said)

    AppSession.request_rerun = request_all


def chose_elsewhere(session: AppSession, said: ClientState) -> bool:
    """Whether something outside of the part that asks has another value than the session knows, or was clicked."""
    state = session._session_state
    if said.page_script_hash != session._client_state.page_script_hash:
        return False  # the page is being left
    for widget in said.widget_states.widgets:
        about, kind = state._get_widget_metadata(widget.id), widget.WhichOneof("value")
        if about is None or about.fragment_id == said.fragment_id or widget.id not in state:
            continue
        if kind in CLICKS and unpack_widget_state_value(widget):
            return True
        if kind in CHOICES and about.deserializer(unpack_widget_state_value(widget)) != state[widget.id]:
            return True
    return False


def tell_values_until_they_are_heard() -> None:
    """What a page has chosen for a widget, Streamlit tells the browser in one run alone. A browser that still loads
    the widget's script hears the next run instead: no step of the page was chosen, and below was nothing."""
    register = SessionState.register_widget

    def register_and_tell(state, about: WidgetMetadata, key: str | None) -> RegisterWidgetResult:
        heard = about.id in state._new_widget_state  # the browser says which value it shows
        known = about.id in state._old_state
        result = register(state, about, key)
        untold = known and not heard and result.value != about.deserializer(None)
        return replace(result, value_changed=True) if untold else result

    SessionState.register_widget = register_and_tell
