"""The lesson on the rest of a layer: its steps, each drawn by block_STEP.py, and what stands in its address."""

from __future__ import annotations

import streamlit as st

from playground.lessons.settings import Setting, Written
from playground.lessons.words.block import TEXT

state = st.session_state

STEPS = TEXT.titles
MOST_LAYERS = 64
SETTINGS = {
    "box": Setting.of("Attention", (
        "Picture", "Patches", "Extra tokens", "Positions", "Norm", "Attention", "Add", "MLP", "Last norm", "Answer",
    )),
    "layer": Setting.of(-1, range(-1, MOST_LAYERS)),
    "patch": Written("", pattern=r"\d{1,3},\d{1,3}"),
    "step": Setting.of("whole", STEPS),  # the layer says none: it belongs to two steps
}  # fmt: skip


def chosen_layer(layers: int) -> int:
    """Which layer is shown: chosen on the page, at first the upper one."""
    from playground.pack import upper_layer

    if not 0 <= state.layer < layers:
        state.layer = upper_layer(layers)
    st.select_slider("Layer", range(layers), key="layer", width=420)
    return state.layer
