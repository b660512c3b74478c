"""The choosers above the microscope: which model, how fine, what to compare with."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import streamlit as st
from tqdm.auto import tqdm

from playground.errors import PlaygroundError
from playground.names import plain_name
from playground.samples import samples
from playground.serving import models, pictures, traces
from playground.serving.session import Session
from playground.ui import messages

Errand = tuple[str, Callable[[], None]]  # a model whose weights are fetched first, and what to do then


def send(name: str, action: Callable[[], None]) -> None:
    """Leaves it for the end of the page's run: a download may take minutes, and the page is on the screen by then."""
    st.session_state.errand = (name, action)


def run(errand: Errand) -> None:
    """Fetches the model's weights, with a bar that shows how far they are, and goes on."""
    name, action = errand
    with st.container(key="errand"):
        bar = st.empty()

    class Report(tqdm):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **{**options, "disable": False, "file": io.StringIO()})

        def update(self, n=1):
            super().update(n)
            if self.total:
                done, total = self.n / 1e6, self.total / 1e6
                bar.progress(min(1.0, done / total), f"{name}: {done:.0f} of {total:.0f} MB")

    try:
        bar.progress(0.0, f"{name}: looking for it")
        models.fetch(name, Report)
        bar.progress(1.0, f"{name}: looking at the picture")
        action()
    finally:
        bar.empty()


def model_chooser(here: Session) -> None:
    names = [models.default(), *models.offers()]
    if here.wish.model not in names:
        names.append(here.wish.model)

    def choose() -> None:
        name = (st.session_state.model or "").strip()
        if name and name != here.wish.model:
            send(name, lambda: here.use(name))

    st.session_state.model = here.wish.model  # also when the choice could not be had
    st.selectbox(
        "Model", names, key="model", on_change=choose, format_func=models.offer_line, accept_new_options=True,
        label_visibility="collapsed",
    )  # fmt: skip


def detail_chooser(here: Session, attempt: Callable) -> None:
    options = models.details(here.wish.model)
    if options == [1]:
        return
    grids = {d: "{} × {}".format(*traces.grid(here.picture, replace(here.wish, detail=d))) for d in options}
    st.session_state.detail = here.wish.detail if here.wish.detail in options else 1
    st.selectbox(
        "Patches", options, key="detail", on_change=lambda: attempt(here.refine, st.session_state.detail),
        format_func=grids.get, label_visibility="collapsed",
    )  # fmt: skip


def compare_chooser(here: Session, attempt: Callable) -> None:
    state = st.session_state
    with st.popover("Compare", icon=":material/compare:", width="stretch", key="comparing", on_change="rerun"):
        if not state.get("comparing"):
            return
        titles = {s.name: s.title for s in samples() if s.name != here.picture.name}

        def choose_picture() -> None:
            name = state.other_picture
            if name and attempt(here.compare, pictures.sample(name), here.wish.model):
                state.comparing = False

        st.selectbox(
            "with another picture", titles, index=None, key="other_picture", format_func=titles.get,
            on_change=choose_picture,
        )  # fmt: skip
        names = [name for name in (models.default(), "untrained", *models.offers()) if name != here.wish.model]

        def choose_model() -> None:
            if name := state.other_model:
                state.comparing = False
                send(name, lambda: here.compare(here.picture, name))

        st.selectbox(
            "or with another model on the same picture", list(dict.fromkeys(names)), index=None, key="other_model",
            format_func=plain_name, on_change=choose_model,
        )  # fmt: skip


def labelled_chooser(here: Session, attempt: Callable) -> None:
    """CIFAR-10's pictures by number; nothing where no folder of them is named."""
    if (folder := pictures.labelled_folder()) is None:
        return
    from playground.training import datasets

    try:
        last = datasets.count(folder) - 1
    except PlaygroundError as error:
        st.caption(messages.plain(str(error)))
        return

    def choose() -> None:
        if (number := st.session_state.labelled) is not None:
            attempt(lambda: here.show(pictures.labelled(number)))

    st.number_input(
        f"or one of CIFAR-10, 0 to {last:,}", 0, last, None, 1, key="labelled", on_change=choose,
        placeholder="its number",
    )  # fmt: skip
    if not here.picture.sample and " no. " in here.picture.name:
        st.caption(messages.plain(here.picture.name))
