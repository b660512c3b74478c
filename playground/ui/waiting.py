"""What happens behind a page is said in a corner of it: how many come first, what has become of the graphics card."""

from __future__ import annotations

import time


def waiting(before: int) -> None:
    """Raises Streamlit's own exception when the page has been left: the place in the line is given back then."""
    import streamlit as st

    if not _on_a_page():
        return
    last = st.session_state.get("waited", (0.0, 0))
    if time.monotonic() - last[0] > 2 or last[1] != before:
        st.session_state.waited = (time.monotonic(), before)
        st.toast(f"Waiting for a turn: {before} before you", icon="spinner", duration="short")


def said(sentence: str) -> None:
    import streamlit as st

    if _on_a_page():
        st.toast(sentence, icon=":material/info:", duration="long")


def _on_a_page() -> bool:
    """Or on nobody's: a warm-up, a test."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    return get_script_run_ctx(suppress_warning=True) is not None
