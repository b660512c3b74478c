"""What happens behind a page is said in a corner of it: how many come first, what has become of the graphics card."""

from __future__ import annotations

import time

EVERY = 2.0  # seconds


class Waiting:
    """One person's wait for a turn: a sentence that follows the line, and goes when the turn has come."""

    def __init__(self):
        self._toast, self._before, self._at, self._times = None, 0, 0.0, 0

    def __call__(self, before: int) -> None:
        """Raises Streamlit's own exception when the page has been left: the place in the line is given back then."""
        import streamlit as st

        if not _on_a_page():
            return
        st.session_state.get("page")  # which raises it
        if before == 0:
            self._toast.toast("Your turn", icon="spinner", duration=1)
        elif before != self._before or time.monotonic() - self._at > EVERY:
            who = "person" if before == 1 else "people"
            show = self._toast.toast if self._toast else st.toast
            seconds = 4 + self._times % 2  # who leaves the page leaves it behind; the same again would not prolong it
            self._toast = show(f"Waiting: {before} {who} before you", icon="spinner", duration=seconds)
            self._before, self._at, self._times = before, time.monotonic(), self._times + 1


def said(sentence: str) -> None:
    import streamlit as st

    if _on_a_page():
        st.toast(sentence, icon=":material/info:", duration="long")


def _on_a_page() -> bool:
    """Or on nobody's: a warm-up, a test."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    return get_script_run_ctx(suppress_warning=True) is not None
