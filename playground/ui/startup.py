"""What happens once per server, when the first page of it is drawn."""

from __future__ import annotations

import logging
import sys
import threading

import streamlit as st

from playground.serving import decoding, memory, models, prepared, settings
from playground.ui import messages, streamlit_private

AFTER_THE_FIRST_PICTURE = 2.0  # seconds


@st.cache_resource(show_spinner=False)
def once_per_server() -> None:
    settings.now()  # a typing error in them is said now
    streamlit_private.ask_nobody_for_our_address()
    streamlit_private.hush_toasts()
    streamlit_private.hide_sessions()
    messages.connect()
    _log_to_stdout()
    background = threading.Timer(AFTER_THE_FIRST_PICTURE, _in_the_background)
    background.daemon = True
    background.start()


def _in_the_background() -> None:
    decoding.warm_up()
    models.warm_up()
    memory.settle()
    prepared.prepare_behind_everybody()


def _log_to_stdout() -> None:
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log = logging.getLogger("playground")
    log.handlers[:] = [handler]
    log.setLevel(logging.INFO)
    log.propagate = False
