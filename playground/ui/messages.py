"""Shows short notices in a corner of the page: errors, the place in the queue, background work."""

from __future__ import annotations

import re
import time

import streamlit as st

from playground.serving import ledger, queue
from playground.ui import streamlit_private

PROLONG_AFTER = 2.0  # seconds after which a toast about waiting is prolonged


def escape_markdown(text: str) -> str:
    """Escapes user text for Markdown: a file's name is shown as it is and can't fetch anything."""
    return re.sub(r"[\\`*$<>\[\]~]|_(?!\w)|(?<!\w)_|:(?=\w)", r"\\\g<0>", " ".join(text.split()))


def error(sentence: str) -> None:
    st.toast(escape_markdown(sentence), icon=":material/error:", duration="long")


class OnPage:
    """The Asker (serving/queue.py) of a thread that runs a page: the person who opened the page."""

    def __init__(self):
        self._toast, self._former_ahead, self._shown_at, self._toast_count = None, 0, 0.0, 0

    def visitor(self) -> ledger.Visitor:
        """The person, with the network that the ledger has for the page's socket. Streamlit gives no address for a
        browser on the server's own machine: there a person's pages and requests would count as two people."""
        session = streamlit_private.session_id()
        known_network = ledger.seats.address_of(session)
        network = ledger.network(st.context.ip_address) if known_network is None else known_network
        return ledger.Visitor(st.session_state.get("key") or session, network)

    def raise_if_left(self) -> None:
        streamlit_private.stop_if_left()

    def waits(self, ahead: int) -> None:
        """Shows the number of people ahead in one toast, and removes the toast at the end of the wait."""
        self.raise_if_left()
        if ahead == 0:
            streamlit_private.toast("Your turn", self._toast, icon="spinner", duration=1)
        elif ahead != self._former_ahead or time.monotonic() - self._shown_at > PROLONG_AFTER:
            noun = "person" if ahead == 1 else "people"
            seconds = 4 + self._toast_count % 2  # an unchanged duration would not prolong the toast
            sentence = f"Waiting: {ahead} {noun} before you"
            self._toast = streamlit_private.toast(sentence, self._toast, icon="spinner", duration=seconds)
            self._former_ahead, self._shown_at = ahead, time.monotonic()
            self._toast_count += 1

    def hears(self, sentence: str) -> None:
        st.toast(sentence, icon=":material/info:", duration="long")


def connect() -> None:
    """Connects the server's messages to the page whose run they belong to."""
    queue.find_asker = lambda: OnPage() if streamlit_private.on_a_page() else queue.Nobody()
