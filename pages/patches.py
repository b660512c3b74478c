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

here = lesson.begin(
    "patches",
    "Attention works on a set of vectors, not on pixels. So the picture is cut into **patches**. Each patch is laid "
    "out as one long row of numbers, and one learned matrix turns each row into a **token**. One idea at a time:",
    patches.SETTINGS,
)
match lesson.steps(patches.STEPS):
    case "cut":
        patches_cut.guess_patches(here)
        with guess.after("patches_tokens"):
            patches_cut.apart(here)
    case "filters":
        st.markdown(
            "Each number of a token comes from one **filter**: as many numbers as a patch has, so it can be shown as a "
            "picture. The answer is large where a patch looks like its filter. Point at one."
        )
        patches_filters.filters(here)
        patches_filters.guess_even()
    case "extra":
        patches_extra.extra_tokens(here)
    case "positions":
        st.markdown(
            "A token does not know where its patch was. In most ViTs a second vector is added, one for each place: its "
            "**position**; others turn queries and keys instead. Point at a place: how alike are the vectors of all "
            "the others?"
        )
        patches_positions.positions(here)
        patches_positions.guess_below()
    case "shuffle":
        patches_shuffle.guess_shuffle(here)
        with guess.after("patches_shuffle"):
            patches_shuffle.shuffle(here)
lesson.end()
