"""Before training: a cell of code to run, which shows that every row begins nearly even."""

from __future__ import annotations

import inspect

import streamlit as st

from playground.lessons.words.scale import TEXT
from playground.ui import lesson

STEP = TEXT.steps["model"]
UNEVEN = 0.5  # of all tokens: who hears fewer is far from even
WIDTHS, STARTS = (192, 384, 768, 1024), (0.01, 0.02, 0.05, 0.1)


@st.fragment
def cell() -> None:
    from playground.lessons import start

    lesson.say(STEP.said["start"])
    st.code(inspect.getsource(start.even_at_the_start), language="python", wrap_lines=True)
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
    width = left.segmented_control("width", WIDTHS, default=768, key="start_width", required=True)
    deviation = middle.segmented_control("start", STARTS, default=0.02, key="start_deviation", required=True)
    if right.button("Run", icon=":material/play_arrow:", key="run_start"):
        st.session_state.ran = (width, deviation)
    uneven: bool | str = False
    if "ran" in st.session_state:
        width, deviation = st.session_state.ran
        weights = start.even_at_the_start(width=width, start=deviation)
        largest, even, broad = start.evenness(weights)
        lesson.say(
            STEP.said["ran"], width=width, deviation=deviation, largest=largest, even=even, broad=broad,
            tokens=len(weights),
        )  # fmt: skip
        uneven = broad < UNEVEN * len(weights) or "even"
    lesson.exercises(STEP, {"scale_start": uneven}, wide=start.evenness(start.even_at_the_start(start=0.1))[2])
