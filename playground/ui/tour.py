"""The guided tour: a card on every page, whose steps go from view to view. `?tour=3` in the address resumes it.

It runs on the picture and the model that a person has. When it ends or is left, they get back what they had before.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import streamlit as st

from playground.serving import address, opening, session
from playground.serving.session import Session
from playground.ui.components import component
from playground.ui.pages import MICROSCOPE, PAGES
from playground.ui.tour_steps import STEPS, Step

PLACES = {str(n): n for n in range(1, len(STEPS) + 1)}


@dataclass(frozen=True)
class Before:
    """What a person had when they began the tour."""

    here: Session
    page: str
    words: dict[str, str]  # of the page's address: every choice on it


def words(n: int, here: Session) -> dict[str, str]:
    """The address of a step, on the picture and in the model of this session."""
    step = _step(n)
    words = here.words(view=False)
    if step.page == MICROSCOPE.name:  # the patch that the picture is asked about first, where it shows most
        words |= opening.view(here.picture, here.wish) | {"query": opening.patch(here.picture, here.wish)}
    return words | step.words | {"tour": str(n)}


def word(page: str) -> dict[str, str]:
    """What of the tour stands in the address of a page."""
    n = st.session_state.get("tour")
    return {"tour": str(n)} if n and _step(n).page == page else {}


def turn(page: str) -> None:
    """First thing in a page's run: what was clicked on the card, or on the stage."""
    state = st.session_state
    n, lost = state.pop("tour_to", None), state.pop("tour_lost", None)
    if n in PLACES.values():
        _go(n, page)
    elif n is not None and "tour" in state:
        _end(page, lost)


def read(page: str, given: dict[str, str], moved: bool) -> dict[str, str]:
    """What an address says when it may hold a step. A step of its own alone means the step's view, and one of another
    page leads there. Who goes to another page, or back to before the tour, has left it."""
    state = st.session_state
    n = PLACES.get(given.get("tour"))
    if n is None:
        if state.pop("tour", None):
            _give_back()
        return given
    if "here" not in state:
        state.here, _ = session.start(*address.read(given))
    if _step(n).page != page:
        _go(n, page)
    alone = set(given) == {"tour"}
    given = words(n, state.here) if alone else given
    if new := n != state.get("tour"):
        _begin(n, {key: word for key, word in state.get("address", {}).items() if key != "tour"})
    if alone or (new and not moved):  # a link from a page to itself changes what is read, not the address that is seen
        st.query_params.from_dict(given)
    return given


def draw() -> None:
    """The card, with the step on it that the person has come to."""
    state = st.session_state
    if n := state.get("tour"):
        step, before = _step(n), state.get("before")
        data = {
            "n": n, "of": len(STEPS), "title": step.title, "text": step.text, "task": step.task, "point": step.point,
            "keep": step.keep, "roomy": state.page == MICROSCOPE.name, "slim": step.slim,
            "before": before and before.words | {"page": before.page},
        }  # fmt: skip
        card = component(
            "tour", "shell/tour.js", "shell/tour.css", box="<div data-tour></div>", shadow=False
        )  # its outline lies over the page
        card(key="tour_card", data=data, on_go_change=_on_go)


def _on_go() -> None:
    state, said = st.session_state, st.session_state.tour_card.go or {}
    state.tour_to = said.get("to", 0)
    if isinstance(lost := said.get("lost"), dict):  # the page was reloaded: the browser still knows
        state.tour_lost = {str(key): str(word) for key, word in list(lost.items())[:40]}


def _go(n: int, page: str) -> None:
    step, state = _step(n), st.session_state
    given = words(n, state.here)
    if step.page == page:
        _begin(n, state.get("address", {}))
        st.query_params.from_dict(given)
    else:
        if "tour" not in state and "page" in state:
            _remember(state.get("address", {}))
        st.switch_page(PAGES[step.page].file, query_params=given)


def _begin(n: int, former: dict[str, str]) -> None:
    """A step shows its own view, whatever was chosen before."""
    state = st.session_state
    if "tour" not in state and "before" not in state and "page" in state:
        _remember(former)
    if "here" in state:
        state.here.alone()
    state.tour, state.pages = n, False  # the menu that it was begun from is closed


def _remember(words: dict[str, str]) -> None:
    state = st.session_state
    state.before = Before(copy(state.here), state.page, words)


def _give_back() -> Before | None:
    """The picture, the model and the view that there were before the tour."""
    state = st.session_state
    before = state.pop("before", None)
    if before:
        state.here = before.here
        state.here.tell_view(before.here.view)
    return before


def _end(page: str, lost: dict[str, str] | None) -> None:
    """Back to the page that the tour began on, as it was. Who came by a link to a step stays where they are, or goes to
    the microscope once they have seen it all."""
    state = st.session_state
    finished = state.pop("tour") == len(STEPS)
    before, words = _give_back(), {key: word for key, word in st.query_params.items() if key != "tour"}
    wanted = page
    if before:
        wanted, words = before.page, before.words
    elif lost and lost.get("page") in PAGES:
        wanted = lost.pop("page")
        words = lost
    elif finished:
        wanted, words = MICROSCOPE.name, state.here.words(view=False)
    if wanted != page:
        st.switch_page(PAGES[wanted].file, query_params=words)
    st.query_params.from_dict(words)
    if words is lost or (finished and not before):
        return  # it is read as if it had been typed
    state.address = dict(st.query_params)  # it has been read: everything else stays as it is
    for name, setting in state.settings.items() if before else ():
        state[name] = setting.found(name, words)


def _step(n: int) -> Step:
    return STEPS[n - 1]
