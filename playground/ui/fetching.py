"""A model that is not on this machine: the line that offers it, and the bar over the picture while it comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from playground.names import plain_name
from playground.serving import fetching, models, opening, pictures
from playground.serving.session import Session
from playground.ui import messages
from playground.ui.navigation import attempt

state = st.session_state
EVERY = 0.3  # seconds between two looks at what is coming


@dataclass(frozen=True)
class Offer:
    """One sentence and the button behind it."""

    sentence: str
    label: str
    names: tuple[str, ...]  # what is fetched first
    action: Callable[[], None]


def want(action: Callable[[], None], *names: str) -> None:
    """Does it as soon as these are on this machine; meanwhile the page goes on with what it has."""
    stop_waiting()
    if all(map(models.is_here, names)):
        attempt(action)
    else:
        state.fetching = (fetching.begin(*names), action)


def stop_waiting() -> None:
    if "fetching" in state:
        state.pop("fetching")[0].leave()


def follow() -> None:
    """At the end of a page's run: the bar, or what was to be done once the model is here."""
    if "fetching" not in state:
        return
    coming, action = state.fetching
    if not coming.over:
        _progress()
        return
    with st.container(key="errand"):
        bar = st.empty()
        bar.progress(1.0, f"{plain_name(coming.names[0])}: looking at the picture")
    done = coming.trouble is None and attempt(action)
    if coming.trouble:
        messages.error(coming.trouble)
    bar.empty()
    stop_waiting()  # here, so that a run which is interrupted takes it up again
    if done:
        st.rerun()


@st.fragment(run_every=EVERY)
def _progress() -> None:
    if "fetching" not in state:
        return
    coming, _ = state.fetching
    if coming.over:
        st.rerun()
    title, done, total = plain_name(coming.names[0]), coming.bytes / 1e6, coming.total / 1e6
    words = f"{title}: {done:.0f} of {total:.0f} MB" if total else f"{title}: looking for it"
    with st.container(key="errand", horizontal=True, vertical_alignment="center"):
        st.progress(min(1.0, done / total) if total else 0.0, f"{title}: loading it" if coming.arrived else words)
        st.button("Cancel", key="cancel", on_click=stop_waiting)


def offer(here: Session) -> Offer | None:
    """What would show this picture better, or what a link asked for."""
    real = plain_name(models.REAL)
    if name := here.missing:
        return _to_fetch(f"{plain_name(name)} is not on this machine:", "fetch it", lambda: state.here.use(name), name)
    if here.wish.model != "bundled":
        return None
    if opening.is_photograph(here.picture):
        sentence, label = "This small model knows drawings.", f"See it with {real}"
        if models.has_real():
            return Offer(sentence, label, (models.REAL,), lambda: state.here.use(models.REAL))
        return _to_fetch(sentence, label, lambda: state.here.use(models.REAL), models.REAL)
    if models.has_real():
        return None
    return _to_fetch("DINOv2 makes this work on photographs:", "fetch it", _show_first, models.REAL, "photographs")


def _to_fetch(sentence: str, label: str, action: Callable[[], None], *names: str) -> Offer | None:
    if not models.may_fetch(names[0]):
        return None
    size = sum(models.megabytes(name) for name in names if not models.is_here(name))
    return Offer(sentence, f"{label} ({size} MB)" if size else label, names, action)


def _show_first() -> None:
    state.here.chose_model = False
    state.here.show(pictures.sample(opening.first_sample()))


def draw_offer(here: Session) -> None:
    found = None if "fetching" in state else offer(here)
    here.advised = found is not None
    if found:
        with st.container(key="offer", horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(messages.plain(found.sentence), width="content")
            st.button(
                found.label, key="offered", type="tertiary", on_click=want, args=(found.action, *found.names),
            )  # fmt: skip
