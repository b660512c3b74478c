"""The toolbar, one component on every page: it keeps the choice of picture, model and grid, and leads to other pages.

It is drawn before the page, so that Streamlit keeps it from page to page. On the microscope it says nothing to the
server's script; on a lesson it tells each choice, for the lesson's numbers are computed here.
"""

from __future__ import annotations

import streamlit as st

from playground.models.names import plain_name
from playground.serving import models, pictures, routes_samples, scripts
from playground.ui import streamlit_private
from playground.ui.components import app_component
from playground.ui.pages import LESSONS, PAGES, Page
from playground.ui.tour_steps import STEPS
from playground.version import __version__

state = st.session_state


def draw(page: Page) -> None:
    if (go := state.pop("go", None)) and str(go.get("page")) in PAGES:
        _leave(go)
    data = {
        "page": page.name,
        "arrived": state.get("arrived", 0),
        "answer": state.get("answer"),
        "run": streamlit_private.session(),  # another one where the server is another
    }
    app_component("toolbar")(
        key="toolbar", data=data, default={"choice": None}, on_choice_change=lambda: None, on_go_change=_on_go
    )


def same_for_all() -> dict:
    """What every page tells the toolbar, whoever looks; ahead.py writes it into the HTML."""
    return {
        "samples": routes_samples.address(),
        "pages": [
            {
                "name": page.name,
                "short": page.short,
                "title": page.title,
                "number": LESSONS.index(page) + 1 if page in LESSONS else None,
                "exports": page.exports,
            }
            for page in PAGES.values()
        ],
        "labelled": pictures.labelled_set(),
        "steps": [step.shown() for step in STEPS],
        "titles": {card.name: card.title for card in models.cards()} | {models.REAL: plain_name(models.REAL)},
        "computes": scripts.computed_by_browsers(),  # models that this person's own machine runs
        "version": __version__,
    }


def _on_go() -> None:
    """A page was chosen in the toolbar: {page, words: of its address, view, key}."""
    go = state.toolbar.go
    state.go = go if isinstance(go, dict) else None


def _leave(go: dict) -> None:
    state.came_with = heard(go)
    state.read_again = True
    state.arrived = state.get("arrived", 0) + 1
    st.switch_page(PAGES[go["page"]].file, query_params=_plain(go.get("words")))


def heard(said: object) -> dict[str, dict | str | None]:
    """{choice, settings, view, key, run} of what the toolbar says. A browser may say anything."""
    said = said if isinstance(said, dict) else {}
    plain = {part: _plain(said.get(part)) for part in ("choice", "view")}
    settings = said.get("settings")
    plain["settings"] = _plain(settings) if isinstance(settings, dict) else None
    return plain | {name: said[name] if isinstance(said.get(name), str) else None for name in ("key", "run")}


def _plain(words: object) -> dict[str, str]:
    return {str(key): str(word) for key, word in words.items()} if isinstance(words, dict) else {}
