"""What all lessons share: how a page begins and ends, its charts, its exercises, the colours of the roles."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go
import streamlit as st

from playground.serving.session import Session
from playground.ui import fetching, guess
from playground.ui.components import component
from playground.ui.export_panel import exporter
from playground.ui.navigation import Setting, arrive, write_address
from playground.ui.pages import AFTER, BEFORE, PAGES, PARTS, after
from playground.ui.toolbar import toolbar

# One colour, one meaning, on every page and figure; they survive colour blindness.
QUERY, KEY, VALUE, CONVOLUTION, WEIGHT = "#0072B2", "#D55E00", "#009E73", "#56B4E9", "magma"

_MODEBAR = {
    "displaylogo": False,
    "toImageButtonOptions": {"format": "svg"},
    "modeBarButtonsToRemove": ["zoom2d", "pan2d", "select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
}


def begin(
    page: str, idea: str, settings: Mapping[str, Setting] | None = None, *, exports: str | None = None
) -> Session:
    """The page's title and its one idea, under the row of samples and models. Widgets whose `key` is the name of a
    setting stand in the address; `exports` is the layout of figures that shows what the page is about."""
    here = arrive(page, settings)
    toolbar(*([] if exports is None else [lambda: exporter(here, exports)]))
    if st.session_state["class"] == "no":
        _overview(page)
    with st.container(key="lesson"):
        st.header(PAGES[page].title, anchor=False)
        st.markdown(idea)
    return here


def _overview(page: str) -> None:
    """The whole model, with the part lit that the page is about."""
    boxes = [
        {
            "name": name.strip(), "page": about, "lit": page in lit,
            "group": "before" if name in BEFORE else "after" if name in AFTER else "layer",
        }
        for name, (about, lit) in PARTS.items()
    ]  # fmt: skip
    made = component("overview", "lessons/overview.js", "lessons/overview.css")(
        key="overview", data={"boxes": boxes, "questions": len(guess.IDS)}, on_go_change=lambda: None
    )
    if (made.go or {}).get("page") in PAGES:
        st.switch_page(PAGES[made.go["page"]].file, query_params=st.session_state.here.words(view=False))


def end() -> None:
    """The way on; what has been chosen goes into the address; and what may take minutes is done."""
    state = st.session_state
    following = after(PAGES[state.page])
    words = state.here.words(view=False)
    if state["class"] == "no":
        st.page_link(
            following.file, label=f"Next: {following.title}", icon=":material/arrow_forward:", query_params=words
        )
    write_address()
    fetching.follow()


def chart(figure: go.Figure, key: str, height: int = 320, name: str | None = None) -> None:
    """A chart in the page's theme; its camera button saves an SVG called after it."""
    figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 36, "b": 8}, hoverlabel={"align": "left"})
    config = _MODEBAR | {"toImageButtonOptions": {"format": "svg", "filename": name or key}}
    st.plotly_chart(figure, width="stretch", key=key, config=config)


def exercise(question: str, answer: str, hint: str = "", done: bool | None = None) -> None:
    """`done`: whether the page is in the state that the exercise asks for; None if it asks for words alone. With a
    hint, the answer comes one click later."""
    icon = ":material/check_circle:" if done else ":material/edit:"
    with st.expander(f"{question} **Done.**" if done else question, icon=icon):
        if hint and not done:
            st.markdown(f"*Hint:* {hint}")
            if not st.toggle("Show the answer", key=f"answer_{question[:40]}"):
                return
        st.markdown(answer)
