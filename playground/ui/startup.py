"""What happens once per server, when the first page of it is drawn."""

from __future__ import annotations

import logging
import sys

import streamlit as st
from streamlit import net_util, runtime

from playground.serving import engine

KEPT_UPLOADS = 3  # of one session, in Streamlit's memory; a page reads its file at once


@st.cache_resource(show_spinner=False)
def once_per_server() -> None:
    net_util.get_external_ip = lambda: None  # asked for each page of another host, while everybody waits: up to 2 s
    _log_to_stdout()
    if runtime.exists():
        bound_uploads(runtime.get_instance().uploaded_file_mgr)
    engine.warm_up()


def bound_uploads(manager, most: int = KEPT_UPLOADS) -> None:
    """Whoever has a session open may send file after file without showing one: only the last ones are kept."""
    add = manager.add_file

    def add_file(session_id: str, file) -> None:
        add(session_id, file)
        for older in list(manager.file_storage[session_id])[:-most]:
            manager.remove_file(session_id, older)

    manager.add_file = add_file


def _log_to_stdout() -> None:
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log = logging.getLogger("playground")
    log.handlers[:] = [handler]
    log.setLevel(logging.INFO)
    log.propagate = False
    # Of sentences in a corner, each time one is said to somebody who waits: they replace nothing on a page.
    logging.getLogger("streamlit").addFilter(lambda record: "within a callback" not in str(record.msg))
