"""Functions that the pages of all lessons share: a page's beginning and end, its questions and its charts."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from contextlib import AbstractContextManager
from itertools import pairwise

import plotly.graph_objects as go
import streamlit as st

from playground.lessons.lesson import Setting
from playground.lessons.questions import Question, plain_value
from playground.lessons.registry import EXERCISES, QUESTIONS
from playground.serving.here import Here
from playground.ui.components import as_dict, lesson_component
from playground.ui.navigation import arrive, tell_settings
from playground.ui.pages import AFTER_LAYERS, BEFORE_LAYERS, MODEL_PARTS, PAGES, next_page

_MODEBAR = {
    "displaylogo": False,
    "toImageButtonOptions": {"format": "svg"},
    "modeBarButtonsToRemove": ["zoom2d", "pan2d", "select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
}


def begin(page: str, idea: str, settings: Mapping[str, Setting] | None = None, first_step: str | None = None) -> Here:
    """Shows the page's title and, above the `first_step` only, its idea in one sentence. A widget whose `key` is
    the name of a setting keeps its value in the address."""
    subject = arrive(page, settings)
    st.session_state.titles = {}
    if st.session_state["class"] == "no":
        _overview(page)
    with st.container(key="lesson"):
        st.header(mathematics(PAGES[page].title), anchor=False)
        if first_step is None or st.session_state.step == first_step:
            st.markdown(mathematics(idea))
    return subject


def _overview(page: str) -> None:
    """Shows a drawing of the whole model, in which the part that the page explains is highlighted."""
    boxes = [
        {
            "name": name.strip(), "page": about_page, "lit": page in lit_pages,
            "group": "before" if name in BEFORE_LAYERS else "after" if name in AFTER_LAYERS else "layer",
        }
        for name, (about_page, lit_pages) in MODEL_PARTS.items()
    ]  # fmt: skip
    data = {"boxes": boxes, "questions": len(QUESTIONS), "exercises": len(EXERCISES), "step": _place()}
    result = lesson_component("overview")(key="overview", data=data, on_go_change=lambda: None)
    if (chosen_page := str(as_dict(result.go).get("page"))) in PAGES:
        st.switch_page(PAGES[chosen_page].file, query_params=st.session_state.here.words())


def mathematics(text: str) -> str:
    """The text with its formulas (roots, subscripts, powers) as LaTeX in Markdown. Code stays as it is."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else _formulas(part) for part in parts)


def _formulas(text: str) -> str:
    text = re.sub(r"(?<![\w`$])e\^(?:\(([^)]*)\)|([−-]?(?:∞|\d+(?:\.\d+)?)))", _power, text)
    text = re.sub(r"(?<![\w{`$])√(d_k|\d+)(?![\w}`])", r"$\\sqrt{\1}$", text)
    return re.sub(r"(?<![\w{`$])(d_k|W_[OQKV])(?![\w}`])", r"$\1$", text)


def _power(match: re.Match) -> str:
    power = re.sub(r"[a-z]{2,}", r"\\text{\g<0>}", match[1] or match[2])
    return f"$e^{{{power.replace('−', '-').replace('∞', chr(92) + 'infty')}}}$"


def with_subscripts(text: str) -> str:
    """The text with subscripts as HTML, for charts, which render no LaTeX."""
    return text.replace("d_k", "d<sub>k</sub>")


def steps(titles: Mapping[str, str]) -> str:
    """Offers the page's steps and returns the chosen step, the only one that is shown."""
    if len(titles) > 1:
        st.pills("Step", titles, format_func=titles.get, key="step", label_visibility="collapsed", required=True)
    st.session_state.titles = titles
    return st.session_state.step


def _on_next(step: str) -> None:
    st.session_state.step = step


def _place() -> str:
    """A text that names the page and its step; when the text changes, the browser scrolls to the top."""
    return f"{st.session_state.page} {st.session_state.get('step', '')}"


def end() -> None:
    """Shows the button to the next step or page, and reports the settings to the browser."""
    state = st.session_state
    if state["class"] == "no":
        _show_next_button()
    tell_settings("page")
    state.arriving = False


def _show_next_button() -> None:
    """Shows the button to the page's next step or, after the last step, to the next page."""
    state = st.session_state
    for (step, _), (next_step, title) in pairwise(state.titles.items()):
        if step == state.step:
            label = f"Next: {title.partition(' · ')[2]}"
            st.button(label, icon=":material/arrow_downward:", key="next_step", on_click=_on_next, args=(next_step,))
            return
    page, address_words = next_page(PAGES[state.page]), state.here.words()
    st.page_link(
        page.file, label=f"Next: {mathematics(page.title)}", icon=":material/arrow_forward:", query_params=address_words
    )


def chart(figure: go.Figure, key: str, height: int = 320, name: str | None = None) -> None:
    """Shows a chart in the page's theme. The chart's camera button saves an SVG file called `name`."""
    figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 36, "b": 8}, hoverlabel={"align": "left"})
    config = _MODEBAR | {"toImageButtonOptions": {"format": "svg", "filename": name or key}}
    st.plotly_chart(figure, width="stretch", key=key, config=config)


def with_minus_signs(text: str) -> str:
    """Writes negative numbers with a minus sign, not a hyphen."""
    return re.sub(r"(?<=[\s(*])-(?=\d)", "−", text)


# A question is asked before its answer is shown. The browser gets the true answer with the question, compares and
# stores the guess, and then shows the hidden parts of the page. No guess is sent anywhere.

state = st.session_state


def ask(question: Question, context: Hashable = "", afresh: bool = False) -> None:
    """Asks the question. A guess belongs to a `context`, such as a picture. In another context, a reader who has
    guessed before sees the answer and may guess again; with `afresh`, the answer is hidden until the next guess."""
    assert question.id in QUESTIONS, question.id
    context_fields = {"context": str(context), "afresh": afresh}
    lesson_component("guess")(key=f"guess_{question.id}", data=plain_value(question) | context_fields)


def after_question(id: str) -> AbstractContextManager:
    """A container that the browser hides until the guess; see `hiding_css`."""
    return st.container(key=f"after_{id}")


def hiding_css() -> str:
    """CSS that hides the container after each question until the guess (microscope/lessons/guess.js). A hidden
    container keeps its width, so that its charts get the right layout."""
    hidden_selectors = ", ".join(f'html:not([data-guessed~="{id}"]) .st-key-after_{id}' for id in QUESTIONS)
    return (
        f"{hidden_selectors} "
        f"{{ flex: none !important; height: 0 !important; min-height: 0 !important; overflow: hidden; "
        "&, & * { visibility: hidden !important; } }\n"
    )
