"""Heads: what each of them does, by its numbers, and what is lost without it."""

import streamlit as st

from playground.serving import traces
from playground.ui import lesson
from playground.ui.lessons import heads

here = lesson.begin(
    "heads",
    "A layer asks several questions at once: every **head** has its own queries, keys and values. Below, one cell is "
    "one head, averaged over all patches. Point at a cell to read what the head mostly does; click it to see it in "
    "the microscope.",
    heads.SETTINGS,
    exports="atlas",
)
seen = traces.trace(here.picture, here.wish, here.own)

heads.paint_a_row(here, seen)
if st.session_state.measure not in (offered := heads.measures_of(seen)):
    st.session_state.measure = heads.ENTROPY
with st.container(key="choices", horizontal=True, vertical_alignment="bottom"):
    st.segmented_control("Colour shows", offered, key="measure", format_func=heads.MEASURES.get, required=True)
    st.segmented_control("Measured on", heads.OVER, key="over", format_func=heads.OVER.get, required=True)
st.caption(f"{heads.SAYS[st.session_state.measure]} {heads.absent(seen)}")

bar = st.empty()
if st.session_state.over == heads.SAMPLES_ALL:
    mean, spread = heads.over_samples(here, bar.progress)
else:
    mean, spread = heads.habits(here, here.picture, here.wish, bar.progress), None
bar.empty()
heads.atlas(here, seen, mean, spread)

st.subheader("Near first, far later?", anchor=False)
st.markdown(
    "A figure of the ViT paper: one dot for each head; across, its layer; upwards, its mean attention distance. One "
    f"3 × 3 convolution stays on the blue line in every layer. {heads.near_or_far(mean)}"
)
lesson.chart(heads.scatter(seen, mean, spread), "distance", 380, "heads-distance-by-depth")

st.subheader("Switch a head off", anchor=False)
st.markdown(
    "The result of the head is replaced by zeros, for all tokens, in a second pass. How do the tokens after every "
    "layer differ from those of the first pass?"
)
heads.board(here, seen, mean)
st.subheader("Is a layer the sum of its heads?", anchor=False)
heads.sum_of_heads(here, seen)

lesson.exercise(
    "Can a head with sharp weights still change almost nothing?",
    "Yes. Its weights say how values are mixed; but the values may be short, or W_O may make them short, so that "
    f"hardly anything arrives. {heads.least(mean)} That is why the card says what a head *adds* beside whom it "
    "*listens* to.",
)
lesson.end()
