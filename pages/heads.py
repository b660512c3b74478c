"""Heads: what each of them does, by its numbers, and what is lost without it."""

import streamlit as st

from playground.serving import traces
from playground.ui import lesson
from playground.ui.lessons import heads, heads_atlas, heads_far, heads_numbers, heads_off, heads_row, heads_sum

here = lesson.begin(
    "heads",
    "A layer asks several questions at once: every **head** has its own queries, keys and values. One idea at a time:",
    heads.SETTINGS,
)
seen = traces.trace(here.picture, here.wish, here.own)
match lesson.steps(heads.STEPS):
    case "row":
        heads_row.paint_a_row(here, seen)
    case "atlas":
        st.markdown(
            "One cell is one head, averaged over all patches. Point at a cell to read what the head mostly does; click "
            "it to see it in the microscope."
        )
        heads_atlas.atlas(here, seen, *heads_numbers.measured(here, seen))
    case "far":
        mean, spread = heads_numbers.measured(here, seen)
        st.markdown(
            "A figure of the ViT paper. Each mark is a head: across, its layer; upwards, its mean attention distance. "
            f"One 3 × 3 convolution stays on the blue line in every layer. {heads_far.near_or_far(mean)}"
        )
        lesson.chart(heads_far.scatter(seen, mean, spread), "distance", 380, "heads-distance-by-depth")
    case "off":
        st.markdown(
            "The result of a head is replaced by zeros, for all tokens, in a second pass. How do the tokens after "
            "every layer differ from those of the first pass?"
        )
        mean = heads_numbers.habits_here(here)
        heads_off.board(here, seen, mean)
        heads_off.switches(seen, mean)
        lesson.exercise(
            "Can a head with sharp weights still change almost nothing?",
            "Yes. Its weights say how values are mixed; but the values may be short, or W_O may make them short, so "
            f"that hardly anything arrives. {heads_numbers.least(mean)} That is why the card says what a head *adds* "
            "beside whom it *listens* to.",
        )
    case "sum":
        heads_sum.sum_of_heads(here, seen)
lesson.end()
