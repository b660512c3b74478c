"""The row on top of every page: other pages, the samples, a picture of one's own, the model, and what a page adds."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from playground.errors import PlaygroundError
from playground.serving import address, pictures
from playground.serving.browser import FORGET, MINE
from playground.ui import choosers, fetching, streamlit_private, tour
from playground.ui.components import strip
from playground.ui.navigation import attempt
from playground.ui.pages import LESSONS, MICROSCOPE, PAGES, TEACH
from playground.version import __version__

state = st.session_state


def toolbar(*more: Callable[[], None]) -> None:
    """Each of `more` draws one chooser in a column of its own. A class link shows the scene alone."""
    here = state.here
    if state.get("class") == "yes":
        tour.draw()
        return
    bar = st.container(key="toolbar")
    with bar:
        widths = [1.45, 4.3, 1.5, 1.5, *[1.3] * len(more)]
        pages, samples, opening, model, *others = st.columns(widths, gap="xsmall", vertical_alignment="center")
    with (
        pages,
        st.popover(PAGES[state.page].short, icon=":material/menu:", width="stretch", key="pages", on_change="rerun"),
    ):
        if state.get("pages"):  # its links say what is shown now
            _menu()
    with samples:
        strip(
            "strip", here.choice.strip(),
            lambda: show_sample(state.strip.pick), lambda: show_photo(state.strip.photo),
        )  # fmt: skip
    with (
        opening,
        st.popover("Open picture", icon=":material/image:", width="stretch", key="opening", on_change="rerun"),
    ):
        if state.get("opening"):
            _open()
    with model:
        choosers.model_chooser(here)
    for column, draw in zip(others, more, strict=True):
        with column:
            draw()
    with bar:  # inside it, for what comes and goes between elements of a page makes those below it begin anew
        fetching.draw_offer(here)
    tour.draw()


def _menu() -> None:
    words = state.here.words(view=False)
    st.page_link(MICROSCOPE.file, label=MICROSCOPE.title, icon=MICROSCOPE.icon, query_params=words)
    for number, page in enumerate(LESSONS, start=1):
        st.page_link(page.file, label=f"{number} · {page.title}", icon=page.icon, query_params=words)
    st.page_link(TEACH.file, label=TEACH.title, icon=TEACH.icon, query_params=words)
    st.page_link(MICROSCOPE.file, label="Guided tour", icon=":material/tour:", query_params=tour.words(1, state.here))
    st.caption(f"Attention Playground {__version__}")


def _open() -> None:
    st.file_uploader("A picture of your own", key="file", on_change=_on_file, args=("file",), max_upload_size=32)
    if st.toggle("or one from the camera"):  # nobody is asked for their camera who has not asked for it
        st.camera_input("Photo", key="camera", on_change=_on_file, args=("camera",), label_visibility="collapsed")
    choosers.labelled_chooser(state.here, attempt)


def show_sample(name: object) -> None:
    mine = next((mine for mine in state.here.choice.mine if name == MINE + mine.id), None)
    if mine is not None:
        attempt(state.here.show, mine)
    elif str(name).startswith(FORGET):
        attempt(state.here.forget)
    elif known := address.readable({"sample": str(name)}).get("sample"):
        attempt(state.here.show, pictures.sample(known))


def show_photo(photo: object) -> None:
    """One that was dropped or pasted: the page has uploaded it, and says under which name."""
    said = photo if isinstance(photo, dict) else {}
    attempt(lambda: state.here.show(_dropped(str(said.get("file")), str(said.get("name", "picture")))))


def _dropped(file: str, name: str) -> pictures.Picture:
    data = streamlit_private.uploaded(file)
    if data is None:
        raise PlaygroundError("The picture did not arrive in one piece: drop it again.")
    return pictures.upload(data, name)


def _on_file(key: str) -> None:
    photo = state[key]
    if photo is not None and attempt(lambda: state.here.show(pictures.upload(photo.getvalue(), photo.name))):
        state.opening = False
