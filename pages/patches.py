"""Patches: how a picture becomes a row of vectors, and what is lost and kept on the way."""

import streamlit as st

from playground.ui import guess, lesson
from playground.ui.lessons import (
    patches,
    patches_cut,
    patches_extra,
    patches_filters,
    patches_positions,
    patches_shuffle,
)

here = lesson.begin("patches", patches.TEXT.idea, patches.SETTINGS)
match lesson.steps(patches.STEPS):
    case "cut":
        patches_cut.guess_patches(here)
        with guess.after("patches_tokens"):
            patches_cut.apart(here)
    case "filters":
        st.markdown(patches.TEXT.steps["filters"].prose)
        patches_filters.filters(here)
        patches_filters.guess_even()
    case "extra":
        patches_extra.extra_tokens(here)
    case "positions":
        st.markdown(patches.TEXT.steps["positions"].prose)
        patches_positions.positions(here)
        patches_positions.guess_below()
    case "shuffle":
        patches_shuffle.guess_shuffle(here)
        with guess.after("patches_shuffle"):
            patches_shuffle.shuffle(here)
lesson.end()
