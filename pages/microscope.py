"""The microscope: hover a patch, see whom it listens to."""

import streamlit as st

from playground.ui import address, offers
from playground.ui.components import lens
from playground.ui.exporting import exporter
from playground.ui.toolbar import run_errand, show_photo, show_sample, toolbar
from playground.ui.visit import arrive, attempt, write_address

state = st.session_state


def on_view() -> None:
    state.here.view = address.view_of(state.lens.view or "")
    write_address()


def on_ask() -> None:
    state.asked = state.lens.ask


@st.fragment
def microscope() -> None:
    """A fragment: who chooses another sample does not wait for the rest of the page to be written again."""
    here = state.here
    lens(
        "lens", here.blob(), view=on_view, ask=on_ask,
        pick=lambda: show_sample(state.lens.pick), photo=lambda: show_photo(state.lens.photo),
    )  # fmt: skip
    asked = state.pop("asked", None)
    if asked and attempt(here.answer, asked):  # the picture is on the screen; only now the question
        st.rerun(scope="fragment")


here = arrive("microscope")
toolbar(
    lambda: offers.detail_chooser(here, attempt),
    lambda: offers.compare_chooser(here, attempt),
    lambda: exporter(here),
)
microscope()
run_errand()
