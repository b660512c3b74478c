"""What all lessons share: how a page begins and ends, its questions, its charts, its exercises."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from contextlib import AbstractContextManager
from itertools import pairwise

import plotly.graph_objects as go
import streamlit as st

from playground.lessons.lesson import Setting
from playground.lessons.questions import Question, plain
from playground.lessons.registry import EXERCISES, QUESTIONS
from playground.serving.here import Here
from playground.ui.components import lesson_component, words
from playground.ui.navigation import arrive, tell_settings
from playground.ui.pages import AFTER, BEFORE, PAGES, PARTS, after

_MODEBAR = {
    "displaylogo": False,
    "toImageButtonOptions": {"format": "svg"},
    "modeBarButtonsToRemove": ["zoom2d", "pan2d", "select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
}


def begin(page: str, idea: str, settings: Mapping[str, Setting] | None = None, first: str | None = None) -> Here:
    """The page's title, under the toolbar, and its one idea, which stands above its `first` step alone where it has
    steps. Widgets whose `key` is the name of a setting stand in the address."""
    here = arrive(page, settings)
    st.session_state.titles = {}
    if st.session_state["class"] == "no":
        _overview(page)
    with st.container(key="lesson"):
        st.header(mathematics(PAGES[page].title), anchor=False)
        if first is None or st.session_state.step == first:
            st.markdown(mathematics(idea))
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
    data = {"boxes": boxes, "questions": len(QUESTIONS), "exercises": len(EXERCISES), "step": _place()}
    made = lesson_component("overview")(key="overview", data=data, on_go_change=lambda: None)
    if (page := str(words(made.go).get("page"))) in PAGES:
        st.switch_page(PAGES[page].file, query_params=st.session_state.here.words())


def mathematics(text: str) -> str:
    """The root has its bar, what stands low stands low, and a power high; in what Streamlit reads as Markdown. Code
    stays as it is."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else _formulas(part) for part in parts)


def _formulas(text: str) -> str:
    text = re.sub(r"(?<![\w`$])e\^(?:\(([^)]*)\)|([−-]?(?:∞|\d+(?:\.\d+)?)))", _power, text)
    text = re.sub(r"(?<![\w{`$])√(d_k|\d+)(?![\w}`])", r"$\\sqrt{\1}$", text)
    return re.sub(r"(?<![\w{`$])(d_k|W_[OQKV])(?![\w}`])", r"$\1$", text)


def _power(found: re.Match) -> str:
    power = re.sub(r"[a-z]{2,}", r"\\text{\g<0>}", found[1] or found[2])
    return f"$e^{{{power.replace('−', '-').replace('∞', chr(92) + 'infty')}}}$"


def low(text: str) -> str:
    """The same in a chart, which knows no formulas."""
    return text.replace("d_k", "d<sub>k</sub>")


def steps(titles: Mapping[str, str]) -> str:
    """One idea on the screen at a time: the steps of a page to choose from, and the one that is chosen."""
    if len(titles) > 1:
        st.pills("Step", titles, format_func=titles.get, key="step", label_visibility="collapsed", required=True)
    st.session_state.titles = titles
    return st.session_state.step


def _on_next(step: str) -> None:
    st.session_state.step = step


def _place() -> str:
    """The page and its step: where it changes, the reader begins at the top."""
    return f"{st.session_state.page} {st.session_state.get('step', '')}"


def end() -> None:
    """The way on; and the browser is told what has been chosen."""
    state = st.session_state
    if state["class"] == "no":
        _way_on()
    tell_settings("page")
    state.arriving = False


def _way_on() -> None:
    """To the next step of the page, or from the last one to the next page."""
    state = st.session_state
    for (step, _), (following, title) in pairwise(state.titles.items()):
        if step == state.step:
            label = f"Next: {title.partition(' · ')[2]}"
            st.button(label, icon=":material/arrow_downward:", key="next_step", on_click=_on_next, args=(following,))
            return
    page, words = after(PAGES[state.page]), state.here.words()
    st.page_link(
        page.file, label=f"Next: {mathematics(page.title)}", icon=":material/arrow_forward:", query_params=words
    )


def chart(figure: go.Figure, key: str, height: int = 320, name: str | None = None) -> None:
    """A chart in the page's theme; its camera button saves an SVG called after it."""
    figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 36, "b": 8}, hoverlabel={"align": "left"})
    config = _MODEBAR | {"toImageButtonOptions": {"format": "svg", "filename": name or key}}
    st.plotly_chart(figure, width="stretch", key=key, config=config)


def minus(text: str) -> str:
    """Before a number stands a minus, not a hyphen."""
    return re.sub(r"(?<=[\s(*])-(?=\d)", "−", text)


# Guess, lock, reveal: a question before its answer. The truth goes to the browser with the question, which compares,
# keeps what was guessed and shows what was held back until then; no guess is sent anywhere.

state = st.session_state


def ask(question: Question, context: Hashable = "", afresh: bool = False) -> None:
    """Asks the question. With another `context`, such as another picture, it is a new one: who has guessed before sees
    the answer and may guess again, or, with `afresh`, has to guess first."""
    assert question.id in QUESTIONS, question.id
    more = {"context": str(context), "afresh": afresh}
    lesson_component("guess")(key=f"guess_{question.id}", data=plain(question) | more)


def after_question(id: str) -> AbstractContextManager:
    """What is drawn in here is seen when the question was guessed; see `held_back`."""
    return st.container(key=f"after_{id}")


def held_back() -> str:
    """The style that hides what comes after a question, until the browser has a guess (microscope/lessons/guess.js).
    It keeps its width, so that charts have theirs when they are shown."""
    hidden = ", ".join(f'html:not([data-guessed~="{id}"]) .st-key-after_{id}' for id in QUESTIONS)
    return (
        f"{hidden} {{ flex: none !important; height: 0 !important; min-height: 0 !important; overflow: hidden; "
        "&, & * { visibility: hidden !important; } }\n"
    )
