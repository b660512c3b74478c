"""A real model with its own scale, and with another one in every layer."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from playground.analysis import scale as softmax
from playground.serving import traces
from playground.ui.here import Here
from playground.ui.lessons.scale import INSTEAD

state = st.session_state
BELOW = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0.5, "xanchor": "center"}


def passes(here: Here):
    """The pass with the model's own scale, and the one that has another scale in every layer."""
    on = here.traced()
    scale = softmax.scale_of(width(on), state.instead)
    return on, traces.trace(here.picture, replace(here.wish, scale=scale), here.own), scale


def width(seen) -> int:
    return round(seen.native_scale**-2)


def choose_instead(d: int) -> None:
    named = {power: words.replace("d_k", str(d)) for power, words in INSTEAD.items()}
    st.segmented_control(f"Instead of 1/$\\sqrt{{{d}}}$", INSTEAD, key="instead", format_func=named.get, required=True)
