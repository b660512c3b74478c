"""Patches: how a picture becomes a row of vectors, and what is lost and kept on the way."""

import streamlit as st

from playground.ui import lesson
from playground.ui.lessons import patches

here = lesson.begin(
    "patches",
    "Attention works on a set of vectors, not on pixels. So the picture is cut into **patches**, each patch is laid "
    "out as one long row of numbers, and one learned matrix turns each row into a **token**. Point at a patch.",
    patches.SETTINGS,
)
patches.guess_tokens(here)
patches.apart(here)
with st.container(key="lesson_filters"):
    lesson.exercise(
        "Halve the patch size. What happens to the number of tokens, and to attention?",
        "Four times as many tokens, and sixteen times as many weights: every token has a weight for every other.",
    )
    st.subheader("What the matrix looks for", anchor=False)
    st.markdown(
        "Each number of a token comes from one **filter**: as many numbers as a patch has, so it can be shown as a "
        "picture. The answer is large where a patch looks like its filter. Point at one."
    )
patches.filters(here)
with st.container(key="lesson_extra"):
    st.subheader("Tokens that are no patches", anchor=False)
    patches.extra_tokens(here)
with st.container(key="lesson_positions"):
    st.subheader("Where a patch lies", anchor=False)
    st.markdown(
        "A token does not know where its patch was. So a second vector is added, one for each place: its **position**. "
        "Point at a place: how alike are the vectors of all the others?"
    )
patches.positions(here)
with st.container(key="lesson_shuffle"):
    st.subheader("Without positions, order is nothing", anchor=False)
    st.markdown(
        "The same network gets the same patches in another order. With positions **off**, each patch listens to the "
        "same patches as before: if the input is permuted, the output is permuted in the same way. That is called "
        "**permutation equivariance**. Switch the positions **on**."
    )
patches.shuffle(here)
with st.container(key="lesson_end"):
    lesson.exercise(
        "A convolution has no table of positions. Why does it not need one?",
        "A convolution’s weights belong to places: this one for the pixel above, that one for the pixel at the left. "
        "Attention’s weights are computed from the tokens alone, wherever they stand.",
    )
lesson.end()
