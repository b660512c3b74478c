"""What we use of Streamlit though it does not promise to keep it. Tried with Streamlit 1.67.

Each function says why it is needed; tests/ui/test_streamlit_private.py fails when a part is gone, and counts them.
"""

from __future__ import annotations

import logging
import os

import streamlit as st
from streamlit import config, logger, net_util
from streamlit.errors import StreamlitInvalidLayoutContextError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import websocket_session_manager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

RERUN, FINISHED = "rerun_script", "script_finished"
HEARD = (RERUN, "stop_script", "app_heartbeat")  # the messages of a browser that our pages need
PARTS = {  # of Streamlit's page, as selectors for the styles of frame.py; scripts name theirs in early.js
    "HEADER": '[data-testid="stHeader"]',  # the bar on top
    "MAIN": '[data-testid="stMain"]',  # what scrolls
    "CONTENT": '[data-testid="stMainBlockContainer"]',  # the column in it
    "VERTICAL": '[data-testid="stVerticalBlock"]',
    "TOASTS": '[data-testid="stToastContainer"]',
    "STALE": '[data-stale="true"]',  # what is being computed again, which Streamlit makes pale
}


def ask_nobody_for_our_address() -> None:
    """The attack: for each page of another host that asks for a socket, Streamlit asks the internet for this machine's
    address, and the whole server waits up to two seconds for the answer. Streamlit asks in the midst of its decision
    whether that host may come in, which depends on its settings: a route or a middleware would have to decide it in
    its stead, and could only be wrong."""
    net_util.get_external_ip = lambda: None


def said(message: bytes) -> str:
    """The kind of what a browser says to Streamlit; "" for what it may not say. Streamlit's server does more for
    whoever asks than any page of ours needs: it empties the caches of everybody, or makes a million addresses for
    uploads. ValueError if it is no message."""
    said = BackMsg()
    try:
        said.ParseFromString(message)
    except Exception as error:  # of protobuf, which is a part of Streamlit and none of ours
        raise ValueError("Streamlit's pages say nothing of this kind.") from error
    kind = said.WhichOneof("type")
    return kind if kind in HEARD else ""


def told(message: bytes) -> tuple[str, str]:
    """(kind, session) of what a browser is told; the session stands in the first message of a run, else it is ""."""
    said = ForwardMsg.FromString(message)
    kind = said.WhichOneof("type") or ""
    return kind, said.new_session.initialize.session_id if kind == "new_session" else ""


def asked_of(message: bytes) -> tuple[str, str]:
    """(part, page): the part of a page that a browser wants drawn, "" for all of it, and the page as it knows it."""
    asked = BackMsg.FromString(message).rerun_script
    return asked.fragment_id, asked.page_script_hash


def shown_on(message: bytes, page: str) -> tuple[bytes, str]:
    """What a browser is told, and the page that it shows then. A part of a page is drawn on `page`, whichever page it
    asked from."""
    said = ForwardMsg.FromString(message)
    kind = said.WhichOneof("type")
    if kind == "navigation":
        return message, said.navigation.page_script_hash
    if kind != "new_session":
        return message, page
    if not said.metadata.run.fragment_ids:
        return message, said.new_session.page_script_hash
    said.new_session.page_script_hash = page
    return said.SerializeToString(), page


def read_environment() -> None:
    """Streamlit's own command takes its options from the environment, too (STREAMLIT_SERVER_…); we do not start it."""
    typed = {bool: lambda word: word.lower() in ("true", "1"), int: int, float: float, str: str}
    for name, option in config.get_config_options().items():
        if (word := os.environ.get(option.env_var)) is not None and option.type in typed:
            config.set_option(name, typed[option.type](word), option.env_var)


def use_our_pages() -> None:
    """The attack: who is first at a fresh server, and names a page in the address of a run, has it run without app.py.
    Until st.navigation is called for the first time, Streamlit finds pages/ by itself. It does so where the page's run
    begins, behind every route and middleware."""
    PagesManager.uses_pages_directory = False


def on_a_page() -> bool:
    """Whether this thread runs a page, and not a warm-up, a training or a test."""
    return get_script_run_ctx(suppress_warning=True) is not None


def went_through_history() -> bool:
    """Whether the browser's Back or Forward began this run."""
    context = get_script_run_ctx(suppress_warning=True)
    return bool(context and context.is_history_navigation)


def stop_if_left() -> None:
    """Raises Streamlit's own exception if the person has left the page or chosen something else: any access to the
    session's state does."""
    st.session_state.get("page")


def session() -> str:
    """Another name for each page that a browser has open."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def toast(sentence: str, former=None, **how):
    """In the place of the former toast. A fragment may write nothing twice outside of itself; there, a new one
    appears."""
    if former is not None:
        try:
            return former.toast(sentence, **how)
        except StreamlitInvalidLayoutContextError:
            pass
    return st.toast(sentence, **how)


@st.fragment(run_every=86400)
def drawn_by_the_next_server() -> None:
    """After a reconnect Streamlit has the page drawn again only if a part of it runs by the clock. Else a new server
    would know nothing of the page, and what a part of it asks would be lost."""


def hush_toasts() -> None:
    """Streamlit warns in the log of each toast inside a callback, for it could be lost with what a page draws. Toasts
    are no part of a page."""
    logging.getLogger("streamlit").addFilter(lambda record: "within a callback" not in str(record.msg))


def hide_sessions() -> None:
    """Who knows a session's id may come back as its browser; Streamlit writes it into the log."""

    def hide(record: logging.LogRecord) -> bool:
        record.args = tuple("…" for _ in record.args or ())
        return True

    logger.get_logger(websocket_session_manager.__name__).addFilter(hide)
