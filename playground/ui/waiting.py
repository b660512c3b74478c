"""Who waits for a turn is told how many come first, in a corner of the page."""

from __future__ import annotations

import time


def waiting(before: int) -> None:
    """Raises Streamlit's own exception when the page has been left: the place in the line is given back then."""
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    if get_script_run_ctx(suppress_warning=True) is None:  # nobody's page: a warm-up, a test
        return
    last = st.session_state.get("waited", (0.0, 0))
    if time.monotonic() - last[0] > 2 or last[1] != before:
        st.session_state.waited = (time.monotonic(), before)
        st.toast(f"Waiting for a turn: {before} before you", icon="spinner", duration="short")
