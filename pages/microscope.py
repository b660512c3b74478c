"""The microscope: hover a patch, see whom it listens to."""

import streamlit as st

from playground.serving import address
from playground.ui import choosers, fetching, streamlit_private
from playground.ui.components import lens
from playground.ui.export_panel import exporter
from playground.ui.navigation import arrive, attempt, write_address
from playground.ui.toolbar import show_photo, show_sample, toolbar

state = st.session_state


def on_view() -> None:
    state.here.hear_view(address.view_of(state.lens.view or ""))
    write_address()


def on_ask() -> None:
    state.asked = state.lens.ask


def on_scene() -> None:
    words = address.written(str((state.lens.scene or {}).get("address")))
    attempt(state.here.go, *address.read(words), words.get("mine"))


def on_tour() -> None:
    state.tour_to = 1


@st.fragment
def microscope() -> None:
    """A fragment: who chooses another sample does not wait for the rest of the page to be written again."""
    here = state.here
    if "tour_to" in state:  # "Show me" was pressed
        st.rerun()
    lens(
        "lens", here.blob(), view=on_view, ask=on_ask, tour=on_tour, scene=on_scene,
        pick=lambda: show_sample(state.lens.pick), photo=lambda: show_photo(state.lens.photo),
    )  # fmt: skip
    asked = state.pop("asked", None)
    if asked and attempt(here.answer, asked):  # the picture is on the screen; only now the question
        streamlit_private.run_again()
    if here.choice.first and attempt(here.finish):  # a first look is on the screen; only now the real one
        streamlit_private.run_again()


here = arrive("microscope")
toolbar(
    *([lambda: choosers.detail_chooser(here, attempt)] if choosers.has_details(here) else []),
    lambda: choosers.compare_chooser(here, attempt),
    lambda: exporter(here),
)
microscope()
fetching.follow()
