"""Before training: a cell of code to run, which shows that every row begins nearly even."""

from __future__ import annotations

import inspect

import streamlit as st

from playground.ui import lesson

WIDTHS, STARTS = (192, 384, 768, 1024), (0.01, 0.02, 0.05, 0.1)


@st.fragment
def cell() -> None:
    from playground.lessons import start

    st.markdown("**Before training.** How even is a row whose parameters are random? Run the cell, then change it.")
    st.code(inspect.getsource(start.even_at_the_start), language="python", wrap_lines=True)
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
    width = left.segmented_control("width", WIDTHS, default=768, key="start_width", required=True)
    deviation = middle.segmented_control("start", STARTS, default=0.02, key="start_deviation", required=True)
    if right.button("Run", icon=":material/play_arrow:", key="run_start"):
        st.session_state.ran = (width, deviation)
    if "ran" in st.session_state:
        width, deviation = st.session_state.ran
        weights = start.even_at_the_start(width=width, start=deviation)
        largest, even, broad = start.evenness(weights)
        st.markdown(
            f"`even_at_the_start(width={width}, start={deviation})`: the largest weight of a row is **{largest:.2%}** "
            f"on average, an even row’s is {even:.2%}; a row spreads over **{broad:.0f} of {len(weights)} tokens** (2 "
            "to the power of its entropy)."
        )
    wide = start.evenness(start.even_at_the_start(start=0.1))
    lesson.exercise(
        "Why is a row nearly even at the start? Find a start from which it is not.",
        "A query is a sum of width products with numbers of deviation *start*, so its numbers have a deviation of "
        "√width · start, 0.55 for 768 and 0.02, and so have a key’s. A scaled score then has one of width · start², "
        "0.31: e to such numbers are nearly alike. With a start of 0.1 it is 7.7, and a row comes to "
        f"{wide[2]:.1f} tokens.",
        hint="The deviation of a scaled score is width · start². Which start makes it large?",
    )
