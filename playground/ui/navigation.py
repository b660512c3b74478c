"""Where a person is: the page, what its address says, and the picture and model that go with them from page to page."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import streamlit as st

from playground.errors import PlaygroundError
from playground.serving import address, session
from playground.serving.session import Session
from playground.ui import messages, streamlit_private, tour

UNDER_WAY = 3.0  # seconds that a click may take from the browser to the page's run


@dataclass(frozen=True)
class Setting:
    """A choice of a page that stands in its address: one of `options`, in session state under the address's name."""

    default: object
    options: tuple

    @staticmethod
    def of(default: object, options: Iterable) -> Setting:
        return Setting(default, tuple(options))

    def read(self, text: str | None) -> object:
        """Addresses are hostile: what is not one of the options is the default."""
        return {str(option): option for option in self.options}.get(text, self.default)

    def found(self, name: str, given: Mapping[str, str]) -> object:
        """What an address says of it."""
        return self.read(given.get(name))


@dataclass(frozen=True)
class Steps(Setting):
    """Which step of a page is on the screen. An address that names none opens the step that one of its other words
    belongs to, as addresses did before the page had steps. It stands last among the settings of its page."""

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @staticmethod
    def by(titles: Iterable[str], **words: tuple[str, ...]) -> Steps:
        """`words` are the names of the settings that a step shows."""
        first, *_ = titles = tuple(titles)
        return Steps(first, titles, words)

    def found(self, name: str, given: Mapping[str, str]) -> object:
        if name in given:
            return self.read(given[name])
        return next((step for step, words in self.words.items() if any(word in given for word in words)), self.default)


CLASS = Setting.of("no", ("no", "yes"))  # of every page: a class link hides what a class does not need


def arrive(page: str, settings: Mapping[str, Setting] | None = None) -> Session:
    """At the start of a page's run. The address is read when a person comes to the page, goes back or types another
    one; what it leaves open stays as it was on the page before."""
    state, settings = st.session_state, {**(settings or {}), "class": CLASS}
    tour.turn(page)
    moved = state.get("page") != page
    given = _given(moved)
    if moved or given != state.get("address"):
        given = tour.read(page, given, moved)
        words, view = address.read(given)
        if "here" not in state:
            state.here, trouble = session.start(words, view)
        elif moved:
            trouble = state.here.arrive(words, view)
        else:
            former = state.here
            state.here, trouble = session.start(words, view)
            trouble = state.here.take_back(former, words) or trouble
        for name, setting in settings.items():
            state[name] = setting.found(name, given)
        if not moved and "fetching" in state:  # another address was asked for meanwhile
            state.pop("fetching")[0].leave()
        state.page, state.settings, state.address = page, settings, given
        if trouble:
            messages.error(trouble)
        # An address that says less than it could is left alone: a step more in the history would hold people back.
        if trouble or set(given) - set(words) - set(view) - set(settings) - set(tour.word(page)):
            write_address()
    for name, value in state.get("chosen", {}).items():
        if name in settings and name not in state:  # Streamlit forgets a widget that a run has not drawn
            state[name] = value
    return state.here


def _given(moved: bool) -> dict[str, str]:
    """The browser's address. A click that is on its way while the page writes a new one still brings the former: that
    is no wish to go back."""
    state, given = st.session_state, dict(st.query_params)
    if moved or streamlit_private.went_through_history():
        return given
    just_left = [words for words, at in state.get("left", []) if time.monotonic() - at < UNDER_WAY]
    return state.address if given in just_left else given


def words_now() -> dict[str, str]:
    """What a link to the page as it is now says."""
    state = st.session_state
    words = state.here.words(view=state.page == "microscope")
    former, state.chosen = state.get("chosen", {}), {}
    for name, setting in state.settings.items():
        state.chosen[name] = value = state.get(name, former.get(name, setting.default))
        if setting.found(name, words) != value:
            words[name] = str(value)
    return words | tour.word(state.page)


def write_address() -> None:
    state, words = st.session_state, words_now()
    if words != dict(st.query_params):
        state.left = [*state.get("left", [])[-9:], (dict(st.query_params), time.monotonic())]
        st.query_params.from_dict(words)
    state.address = words


def attempt(action: Callable, *arguments) -> bool:
    """Does it, and gives whether it could be done. If not, a sentence says why, and everything stays as it was. The
    address follows what has changed; what the microscope asks by itself changes nothing."""
    before = words_now()
    try:
        action(*arguments)
    except PlaygroundError as error:
        messages.error(str(error))
        return False
    if words_now() != before:
        write_address()
    return True
