"""Where a person is: the page, what its address says, and the picture and model that go with them from page to page.

The browser alone writes the address. A lesson has settings that its widgets keep here, so it tells them to the browser
(microscope/shell/address.js), which writes them beside the choice.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from playground.errors import PlaygroundError
from playground.lessons.lesson import Setting
from playground.serving import chosen, ledger, people, settings
from playground.serving.answering import Refused
from playground.serving.here import Here
from playground.ui import messages, streamlit_private
from playground.ui.components import app_component
from playground.ui.toolbar import heard

CLASS = Setting.of("no", ("no", "yes"))  # of every page: a class link hides what a class does not need
MICROSCOPE = "microscope"


def arrive(page: str, settings: Mapping[str, Setting] | None = None) -> Here:
    """At the start of a page's run. The address is read when a person comes to the page, goes back or types another
    one; what it leaves open stays as it was on the page before."""
    state, settings = st.session_state, {**(settings or {}), "class": CLASS}
    moved = state.get("page") != page or state.pop("read_again", False)
    given = _given(page, moved)
    if read := moved or given != state.get("address") or "here" not in state:
        state.page, state.settings, state.address = page, settings, given
        _set(given)
    state.arriving = state.get("arriving", False) or read  # until the page has told its settings
    _look(given if read else None)
    bring_back_settings()
    return state.here


def bring_back_settings() -> None:
    """Streamlit forgets a widget that a run has not drawn; and a browser that still loads the widget's own script says
    None of it. Needed also where a part of a page is drawn alone."""
    state = st.session_state
    for name, value in state.get("chosen", {}).items():
        if name in state.settings and state.get(name) is None:
            state[name] = value


def _set(given: Mapping[str, str]) -> None:
    state = st.session_state
    for name, setting in state.settings.items():
        state[name] = setting.found(name, given)


def _look(given: dict[str, str] | None) -> None:
    """Sets what is looked at: what the address says, or what the toolbar has told since."""
    state = st.session_state
    said = state.pop("came_with", None) or _told()
    if said and said["settings"] is not None:  # the page was there before this server
        _set(said["settings"])
    state.arriving = state.arriving or bool(said)
    if said and "here" not in state and said["run"] == streamlit_private.session():
        given = None  # the page was there before this server, and a choice was made since
    if given is None and said is None:
        return _stay()
    words, view = chosen.read_address(given) if given is not None else ({}, {})
    said = said or {"choice": {}, "view": {}, "key": None}
    key = said["key"] or state.get("key")
    former = state.get("here")
    words = words or said["choice"] or (former.words() if former else {})
    view = view or chosen.view_of(said["view"]) or (former.view if former else {})
    state.key = key
    if key and people.KEY.fullmatch(key):
        ledger.seats.asks(streamlit_private.session(), key)
    _open(words, view, key)


def _told() -> dict | None:
    """What the toolbar says, if it says something new."""
    state = st.session_state
    said = (state.get("toolbar") or {}).get("choice")
    if not said or said == state.get("told"):
        return None
    state.told = said
    return heard(said)


def _stay() -> None:
    """The same picture as in the run before: a request of whose it is. The server may have forgotten it meanwhile."""
    here = st.session_state.here
    if trouble := st.session_state.pop("trouble", None):
        messages.error(trouble)
    if here.mine:
        _open(here.words(), here.view, here.key, here)


def _open(words: dict[str, str], view: dict[str, str], key: str | None, same: Here | None = None) -> None:
    state = st.session_state
    try:
        found = Here(words, view, key)
    except PlaygroundError as error:
        if state.page == MICROSCOPE:  # where the browser asks for the numbers, and says itself what can't be had
            state.here = _instead()
            return
        if isinstance(error, Refused) and (forgotten := error.more.get("forgotten")):
            _send_again({"forgotten": forgotten} if key else {"needs": "key"}, words)
        state.here, state.trouble = _instead(), str(error)
        state.answer = {"instead": state.here.words()}
        st.rerun()  # the toolbar, which shows the same, stands above
    if same is None or found.person is not same.person:  # the picture is where the person is
        state.here = found
    state.pop("answer", None)


def _send_again(what: dict[str, str], words: dict[str, str]) -> None:
    """The browser has the picture, and the key to it: it brings what is missing, and the page is drawn again."""
    answer = what | {"words": words}
    if st.session_state.get("answer") != answer:
        st.session_state.answer = answer
        st.rerun()  # the toolbar, drawn before this, has to be drawn again to tell the browser
    stays = settings.now().compute == "browser"  # then its browser asks before it sends it
    st.caption("This lesson needs your photograph." if stays else "Your photograph is on its way to the server.")
    st.stop()


def _instead() -> Here:
    """What is shown where something else can't be had."""
    here = st.session_state.get("here") or Here({})
    try:
        _ = here.picture
    except Refused:  # one's own, that the server has forgotten
        here = Here({})
    return here


def _given(page: str, moved: bool) -> dict[str, str]:
    """The address, where it leads to what is not here yet. Else the browser writes it, and Streamlit's own query is
    old."""
    state = st.session_state
    return dict(st.query_params) if moved or streamlit_private.went_through_history() else state.address


def _settings_now() -> dict[str, str]:
    """As they stand in the address: none that is as it opens."""
    state, words = st.session_state, {}
    former, state.chosen = state.get("chosen", {}), {}
    for name, setting in state.settings.items():
        state.chosen[name] = value = state.get(name, former.get(name, setting.default))
        if setting.found(name, words) != value:
            words[name] = str(value)
    return words


def tell_settings(part: str) -> None:
    """The browser writes the settings of a lesson into its address; a `part` of the page that is drawn alone tells them
    by itself. A new setting is a step to which Back leads; another page or picture has been one already."""
    state, settings = st.session_state, _settings_now()
    state.address = state.here.words() | settings
    now = {"run": streamlit_private.session(), "page": state.page, "settings": settings, "step": not state.arriving}
    n, former = state.get("told_settings", (0, None))
    state.told_settings = (n + (now != former), now)
    app_component("settings")(key=f"settings_{part}", data=now | {"n": state.told_settings[0]})
