"""Shows a lesson's Run: its button, and, while it works, its progress and how to stop it."""

from __future__ import annotations

import streamlit as st

from playground.lessons.parts import Run
from playground.serving.here import Here
from playground.serving.works import Work

LOOK_EVERY = 0.7  # seconds
DROPPED = "Your result was dropped: the newer results of other people needed the memory. Run it again."
state = st.session_state


def of_this_session(here: Here) -> bool:
    """Gives the runs to the subject, and says whether one of them is at work. Asked while another step is on view too:
    it keeps the place in the queue."""
    here.works = state.setdefault("works", {})
    for work in here.works.values():
        work.look()
    return not all(work.over for work in here.works.values())


def offer(run: Run) -> None:
    work: Work | None = state.works.get(run.id)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(_state_of(work), width="content") if work else None
        if work and not work.over:
            label = "Stop" if work.begun else "Leave the queue"
            st.button(label, icon=":material/stop:", key="stop_work", on_click=work.stop)
        elif st.button(run.label, icon=":material/play_arrow:", key=f"run_{run.id}", type="primary"):
            state.works[run.id] = Work(run, work)
            st.rerun()


def _state_of(work: Work) -> str:
    if work.over:
        if work.trouble:
            return f"It broke off: {work.trouble}"
        return DROPPED if work.let_go else ""
    if not work.begun and (before := work.look()):
        others = "**One is before you.**" if before == 1 else f"**{before} are before you.**"
        return f"{others} They come one after the other; yours begins by itself."
    return work.words or "Beginning…"
