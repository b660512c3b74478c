"""The choosers above the microscope: which model, how fine, what to compare with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from playground.errors import PlaygroundError
from playground.names import plain_name
from playground.samples import samples
from playground.serving import models, pictures, settings, traces
from playground.serving.browser import MINE
from playground.serving.preview import preview
from playground.serving.session import Session
from playground.ui import components, fetching, messages

QUICK_MB = 100  # a model of this size answers in about a second


def model_chooser(here: Session) -> None:
    """Models as cards."""
    state = st.session_state
    with st.popover(
        plain_name(here.wish.model), width="stretch", key="choosing",
        on_change="rerun",
    ):  # fmt: skip
        if not state.get("choosing"):
            return
        offered = models.cards()
        if settings.now().open:
            text = st.text_input(
                "Search all plain Vision Transformers of timm", key="search", placeholder="Search: clip base, deit …",
                label_visibility="collapsed",
            )  # fmt: skip
            if text:
                offered = models.search(text)
                st.caption(f"{len(offered)} found" if offered else "No model that loads is called so: try fewer words.")
        for here_or_not, words in ((True, "On this machine"), (False, "To fetch once")):
            group = [card for card in offered if card.here is here_or_not]
            if group:
                st.caption(words)
            for card in group:
                _card(here, card)


def _card(here: Session, card: models.Card) -> None:
    def choose() -> None:
        st.session_state.choosing = False
        if card.name != here.wish.model:
            fetching.want(lambda: st.session_state.here.use(card.name), card.name)

    beside, words = st.columns([1, 4], vertical_alignment="center") if _is_quick(card) else (None, st.container())
    if beside is not None:
        with beside:
            components.picture(pictures.as_jpeg(preview(here.picture, card.name, here.own)))
    facts = [f"for {card.suits}" if card.suits else "", f"{card.megabytes} MB" if card.megabytes else "", card.licence]
    small = " · ".join(filter(None, facts))
    with words.container(key=f"card-{'chosen' if card.name == here.wish.model else card.name}"):
        st.button(
            f"**{card.title}** {card.good_for}  \n:small[:gray[{small}]]", key=f"model-{card.name}",
            on_click=choose, width="stretch", type="tertiary",
        )  # fmt: skip


def _is_quick(card: models.Card) -> bool:
    """Whether a look through this model may be had while the cards are opened."""
    return card.here and card.megabytes <= QUICK_MB


def has_details(here: Session) -> bool:
    return models.details(here.wish.model) != [1]


def detail_chooser(here: Session, attempt: Callable) -> None:
    options = models.details(here.wish.model)
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
        own = {MINE + mine.id: mine for mine in reversed(here.choice.mine) if mine.id != here.picture.id}
        titles = {key: f"Yours: {mine.name}" for key, mine in own.items()}
        titles |= {s.name: s.title for s in samples() if s.name != here.picture.name}

        def choose_picture() -> None:
            if name := state.other_picture:
                picture = own.get(name) or pictures.sample(name)
                if attempt(here.compare, picture, here.wish.model):
                    state.comparing = False

        st.selectbox(
            "with another picture", titles, index=None, key="other_picture", format_func=titles.get,
            on_change=choose_picture,
        )  # fmt: skip
        where = {True: "on this machine", False: "to fetch"}
        names = {c.name: f"{c.title} · {where[c.here]}" for c in models.cards() if c.name != here.wish.model}

        def choose_model() -> None:
            if name := state.other_model:
                state.comparing = False
                fetching.want(lambda: state.here.compare(state.here.picture, name), name)

        st.selectbox(
            "or with another model on the same picture", names, index=None, key="other_model",
            format_func=names.get, on_change=choose_model,
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
        attempt(lambda: here.show(pictures.labelled(st.session_state.labelled)))

    st.slider(
        "or one of CIFAR-10, by its number", 0, max(1, last), key="labelled", on_change=choose,
        help="Dragged it goes far; with the keys ← and → it goes from one picture to the next.",
    )  # fmt: skip
    if not here.picture.sample and " no. " in here.picture.name:
        st.caption(messages.plain(here.picture.name))
