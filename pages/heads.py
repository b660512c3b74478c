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
        heads_atlas.guess_entropy()
    case "far":
        mean, spread = heads_numbers.measured(here, seen)
        st.markdown(
            "A figure of the ViT paper. Each mark is a head: across, its layer; upwards, its mean attention distance. "
            f"A 3 × 3 convolution with nine equal weights stays on the pink line in every layer. "
            f"{heads_far.near_or_far(mean)}"
        )
        lesson.chart(heads_far.scatter(seen, mean, spread), "distance", 380, "heads-distance-by-depth")
        heads_far.guess_even()
    case "off":
        st.markdown(
            "The result of a head is replaced by zeros, for all tokens, in a second pass. How do the tokens after "
            "every layer differ from those of the first pass?"
        )
        mean = heads_numbers.habits_here(here)
        heads_off.board(here, seen, mean)
        heads_off.switches(seen, mean)
        heads_off.guess_sharp(mean)
    case "sum":
        heads_sum.sum_of_heads(here, seen)
lesson.end()
