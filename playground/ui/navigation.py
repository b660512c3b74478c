"""Keeps a person's page and address, and the picture and model, which stay the same from page to page.

Only the browser writes the address. A lesson's settings are values of Streamlit's widgets: the server reports them to
the browser (microscope/shell/address.js), which writes them into the address with the choice of picture and model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import streamlit as st

from playground.errors import PlaygroundError
from playground.lessons.lesson import Setting
from playground.serving import chosen, ledger, people, settings
from playground.serving.answering import Refused
from playground.serving.here import Here
from playground.ui import messages, streamlit_private
from playground.ui.components import app_component
from playground.ui.toolbar import read_message

CLASS = Setting.of("no", ("no", "yes"))  # a setting of every page: "yes" hides controls that a class does not need
MICROSCOPE = "microscope"


def arrive(page: str, settings: Mapping[str, Setting] | None = None) -> Here:
    """Called at the start of a page's run. Reads the address if the person has come to the page, gone back or typed an
    address. Settings that are not in the address stay as they were."""
    state, settings = st.session_state, {**(settings or {}), "class": CLASS}
    has_moved = state.get("page") != page or state.pop("read_again", False)
    address = _address_of(page, has_moved)
    if reads_address := has_moved or address != state.get("address") or "here" not in state:
        state.page, state.settings, state.address = page, settings, address
        _set_settings(address)
    # True until `tell_settings` has reported the page's settings
    state.arriving = state.get("arriving", False) or reads_address
    _update_choice(address if reads_address else None)
    bring_back_settings()
    return state.here


def bring_back_settings() -> None:
    """Sets the widgets' values again, because Streamlit forgets a widget that a run has not drawn, and a browser that
    is still loading a widget's script reports None. Also called when only a part of a page is drawn."""
    state = st.session_state
    for name, value in state.get("chosen", {}).items():
        if name in state.settings and state.get(name) is None:
            state[name] = value


def _set_settings(address: Mapping[str, str]) -> None:
    state = st.session_state
    for name, setting in state.settings.items():
        state.pop(name, None)  # another page may have a control of this name
        state[name] = setting.value_in(name, address)


def detach_settings(names: Iterable[str]) -> None:
    """For settings without a control on the page. Streamlit keeps our first value of a setting beside the value of its
    control. Once the control is gone, it would return the first one."""
    state = st.session_state
    for name in names:
        state[name] = state.pop(name)


def _update_choice(address: dict[str, str] | None) -> None:
    """Sets the picture and the model (`state.here`) from the address or from the toolbar's new report; without either,
    keeps the former ones."""
    state = st.session_state
    message = state.pop("came_with", None) or _from_toolbar()
    if message and message["settings"] is not None:  # the page was opened before the server was restarted
        _set_settings(message["settings"])
    state.arriving = state.arriving or bool(message)
    if message and "here" not in state and message["run"] == streamlit_private.session_id():
        address = None  # opened before the server was restarted: the choice is newer than the address
    if address is None and message is None:
        return _keep_choice()
    words, view = chosen.read_address(address) if address is not None else ({}, {})
    message = message or {"choice": {}, "view": {}, "key": None}
    key = message["key"] or state.get("key")
    former_here = state.get("here")
    words = words or message["choice"] or (former_here.words() if former_here else {})
    view = view or chosen.view_of(message["view"]) or (former_here.view if former_here else {})
    state.key = key
    if key and people.KEY_PATTERN.fullmatch(key):
        ledger.seats.note_request(streamlit_private.session_id(), key)
    _open_choice(words, view, key)


def _from_toolbar() -> dict | None:
    """The toolbar's report of the choice; None if the report is not new."""
    state = st.session_state
    choice = (state.get("toolbar") or {}).get("choice")
    if not choice or choice == state.get("told"):
        return None
    state.told = choice
    return read_message(choice)


def _keep_choice() -> None:
    """Keeps the picture and model of the former run, and counts this run as a request of the person. The server may
    have forgotten the picture meanwhile."""
    here = st.session_state.here
    if trouble := st.session_state.pop("trouble", None):
        messages.error(trouble)
    if here.own_picture_id:
        _open_choice(here.words(), here.view, here.key, here)


def _open_choice(words: dict[str, str], view: dict[str, str], key: str | None, former_here: Here | None = None) -> None:
    state = st.session_state
    try:
        new_here = Here(words, view, key)
    except PlaygroundError as error:
        if state.page == MICROSCOPE:  # here the browser itself asks for the numbers and shows errors
            state.here = _replacement()
            return
        if isinstance(error, Refused) and (forgotten := error.fields.get("forgotten")):
            _send_again({"forgotten": forgotten} if key else {"needs": "key"}, words)
        state.here, state.trouble = _replacement(), str(error)
        state.answer = {"instead": state.here.words()}
        st.rerun()  # draws the toolbar again, which shows the choice
    if former_here is None or new_here.person is not former_here.person:  # else `state.here` stays as it is
        state.here = new_here
    state.pop("answer", None)


def _send_again(choice: dict[str, str], words: dict[str, str]) -> None:
    """Asks the browser, which has the picture and the key, to send the missing one; then the page is drawn again."""
    answer = choice | {"words": words}
    if st.session_state.get("answer") != answer:
        st.session_state.answer = answer
        st.rerun()  # draws the toolbar again, which passes the answer to the browser
    # A browser that computes asks the person before it sends the photograph
    stays_in_browser = settings.now().compute == "browser"
    st.caption(
        "This lesson needs your photograph." if stays_in_browser else "Your photograph is on its way to the server."
    )
    st.stop()


def _replacement() -> Here:
    """The picture and model to show if the chosen ones are not available."""
    here = st.session_state.get("here") or Here({})
    try:
        _ = here.picture
    except Refused:  # the server has forgotten the person's own picture
        here = Here({})
    return here


def _address_of(page: str, has_moved: bool) -> dict[str, str]:
    """The words of the address if the person opened a new address; else {}, because the browser rewrites the address
    and Streamlit's copy is outdated."""
    state = st.session_state
    return dict(st.query_params) if has_moved or streamlit_private.went_through_history() else state.address


def _settings_now() -> dict[str, str]:
    """The settings as parameters of an address, without those that have their default value."""
    state, parameters = st.session_state, {}
    former_values, state.chosen = state.get("chosen", {}), {}
    for name, setting in state.settings.items():
        state.chosen[name] = value = state.get(name, former_values.get(name, setting.default))
        if setting.value_in(name, parameters) != value:
            parameters[name] = str(value)
    return parameters


def tell_settings(part: str) -> None:
    """Reports a lesson's settings to the browser, which writes them into the address. `part` names the part of the page
    that reports, because a part may be redrawn alone. A change of a setting adds an entry to the browser's history,
    unless a new page or picture has just added one."""
    state, settings = st.session_state, _settings_now()
    state.address = state.here.words() | settings
    message = {
        "run": streamlit_private.session_id(),
        "page": state.page,
        "settings": settings,
        "step": not state.arriving,
    }
    number, former_message = state.get("told_settings", (0, None))
    state.told_settings = (number + (message != former_message), message)
    app_component("settings")(key=f"settings_{part}", data=message | {"n": state.told_settings[0]})
