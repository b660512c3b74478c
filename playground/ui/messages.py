"""Sentences in a corner of the page: what can't be done, how many come first, what happens behind the page."""

from __future__ import annotations

import re
import time

import streamlit as st

from playground.serving import asker, ledger
from playground.ui import streamlit_private

AGAIN_AFTER = 2.0  # seconds: a toast about waiting is prolonged as often


def plain(text: str) -> str:
    """Escapes user text for Markdown: what a person typed, or called a file, is shown as it is and fetches nothing."""
    return re.sub(r"[\\`*$<>\[\]~]|_(?!\w)|(?<!\w)_|:(?=\w)", r"\\\g<0>", " ".join(text.split()))


def error(sentence: str) -> None:
    st.toast(plain(sentence), icon=":material/error:", duration="long")


class OnPage:
    """The person whose page is being run, as the server knows them: see serving/asker.py."""

    def __init__(self):
        self._toast, self._before, self._at, self._times = None, 0, 0.0, 0

    def who(self) -> asker.Who:
        """Its socket's network. Of a visitor on the server's own machine Streamlit tells none, so their pages and their
        requests would be of two."""
        session = streamlit_private.session()
        home = ledger.seats.address_of(session)
        network = asker.network(st.context.ip_address) if home is None else home
        return asker.Who(st.session_state.get("key") or session, network)

    def stays(self) -> None:
        streamlit_private.stop_if_left()

    def waits(self, before: int) -> None:
        """One toast that follows the queue, and goes when the turn has come."""
        self.stays()
        if before == 0:
            streamlit_private.toast("Your turn", self._toast, icon="spinner", duration=1)
        elif before != self._before or time.monotonic() - self._at > AGAIN_AFTER:
            who = "person" if before == 1 else "people"
            seconds = 4 + self._times % 2  # the same duration again would not prolong it; if they leave, it goes soon
            sentence = f"Waiting: {before} {who} before you"
            self._toast = streamlit_private.toast(sentence, self._toast, icon="spinner", duration=seconds)
            self._before, self._at, self._times = before, time.monotonic(), self._times + 1

    def hears(self, sentence: str) -> None:
        st.toast(sentence, icon=":material/info:", duration="long")


def connect() -> None:
    """From now on the server tells things to the person on whose page it computes."""
    asker.find = lambda: OnPage() if streamlit_private.on_a_page() else asker.Nobody()
