"""The guided tour: a card on every page, whose steps go from view to view. `?tour=3` in the address resumes it.

Who goes to another page by the menu keeps the card, with the way back to the step on it.
"""

from __future__ import annotations

import streamlit as st

from playground.samples import SAMPLES
from playground.serving import models
from playground.ui.components import component
from playground.ui.pages import MICROSCOPE, PAGES
from playground.ui.tour_steps import STEPS, Step

PLACES = {str(n): n for n in range(1, len(STEPS) + 1)}


def words(n: int) -> dict[str, str]:
    """The address of a step: always the same picture and model, so that it talks about what is there."""
    return {"model": models.default(), "sample": SAMPLES[0].name, **_step(n).words, "tour": str(n)}


def word(page: str) -> dict[str, str]:
    """What of the tour stands in the address of a page."""
    n = st.session_state.get("tour")
    return {"tour": str(n)} if n and _step(n).page == page else {}


def turn(page: str) -> None:
    """First thing in a page's run: what was clicked on the card."""
    state = st.session_state
    n = state.pop("tour_to", None)
    if n is None:
        return
    finished = state.pop("tour", None) == len(STEPS) and n == 0
    if finished and page != MICROSCOPE.name:
        st.switch_page(MICROSCOPE.file, query_params=state.here.words(view=False))
    if n in PLACES.values():
        _go(n, page)
    elif "tour" in st.query_params:
        del st.query_params["tour"]
        state.address = dict(st.query_params)  # it has been read: everything else stays as it is


def read(page: str, given: dict[str, str], moved: bool) -> dict[str, str]:
    """What an address says when it may hold a step. A step of its own alone means the step's view, and one of another
    page leads there."""
    state = st.session_state
    n = PLACES.get(given.get("tour"))
    if n is None:
        if not moved:  # back to before the tour; who moved by the menu is still on it
            state.pop("tour", None)
        return given
    if _step(n).page != page:
        _go(n, page)
    alone = set(given) == {"tour"}
    given = words(n) if alone else given
    if new := n != state.get("tour"):
        _begin(n)
    if alone or (new and not moved):  # a link from a page to itself changes what is read, not the address that is seen
        st.query_params.from_dict(given)
    return given


def draw() -> None:
    """The card, with the step on it that the person has come to."""
    state = st.session_state
    if n := state.get("tour"):
        step = _step(n)
        data = {
            "n": n, "of": len(STEPS), "title": step.title, "text": step.text, "point": step.point, "keep": step.keep,
            "away": step.page != state.page, "room": PAGES[step.page].short, "roomy": state.page == "microscope",
        }  # fmt: skip
        card = component(
            "tour", "shell/tour.js", "shell/tour.css", box="<div data-tour></div>", shadow=False
        )  # its outline lies over the page
        card(key="tour_card", data=data, on_go_change=_on_go)


def _on_go() -> None:
    st.session_state.tour_to = (st.session_state.tour_card.go or {}).get("to", 0)


def _go(n: int, page: str) -> None:
    step = _step(n)
    if step.page == page:
        _begin(n)
        st.query_params.from_dict(words(n))
    else:
        st.switch_page(PAGES[step.page].file, query_params=words(n))


def _begin(n: int) -> None:
    """A step shows its own view, whatever was chosen before."""
    state = st.session_state
    if "here" in state:
        state.here.alone()
    state.tour, state.pages = n, False  # the menu that it was begun from is closed


def _step(n: int) -> Step:
    return STEPS[n - 1]
