"""Heads: what each of them does, by its numbers, and what is lost without it."""

import streamlit as st

from playground.serving import traces
from playground.ui import lesson
from playground.ui.lessons import heads

here = lesson.begin(
    "heads",
    "A layer asks several questions at once: every **head** has queries and keys of its own, so each listens in its "
    "own way. Below, one cell is one head, all its patches taken together. Point at a cell to read its habit; click "
    "it to see it at work in the microscope.",
    heads.SETTINGS,
    exports="atlas",
)
seen = traces.trace(here.picture, here.wish, here.own)

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
    "The ViT paper draws every head at its layer, as high as it looks far. A convolution stays on its blue line in "
    "every layer; heads may look across the whole picture in the first one."
)
lesson.chart(heads.scatter(seen, mean, spread), "distance", 380, "heads-distance-by-depth")

st.subheader("Switch a head off", anchor=False)
st.markdown(
    "Its answer is replaced by zeros, in this one pass, for all tokens. What does the rest of the network miss?"
)
heads.board(here, seen, mean)

lesson.exercise(
    "Switch off one bright head, then all heads of its layer. Which costs more, and why is it not the sum?",
    "All of them, but rarely as much as the single losses added up: heads of a layer do similar work, and what one "
    "leaves out the others partly carry. The tokens also go past the layer unchanged, on the skip connection.",
)
lesson.exercise(
    "In some models a head is called idle. Does that mean that its attention is even?",
    "No. Its weights may be as sharp as any; but what it mixes is short, or W_O makes it short, so that hardly "
    "anything arrives. That is why the card says what a head *adds* beside whom it *listens* to.",
)
lesson.end()
