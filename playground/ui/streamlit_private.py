"""Uses private parts of Streamlit, which a new version may change. Tested with Streamlit 1.67.

Each function says why it is needed; tests/ui/test_streamlit_private.py counts the parts, and fails when one is gone.
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
NEEDED_KINDS = (RERUN, "stop_script", "app_heartbeat")  # kinds of a browser's messages that our pages need
SELECTORS = {  # word in frame.py's styles -> selector of a part of Streamlit's page; early.js has the same for scripts
    "HEADER": '[data-testid="stHeader"]',  # the bar on top
    "MAIN": '[data-testid="stMain"]',  # the part that scrolls
    "CONTENT": '[data-testid="stMainBlockContainer"]',  # the column in the part that scrolls
    "VERTICAL": '[data-testid="stVerticalBlock"]',
    "TOASTS": '[data-testid="stToastContainer"]',
    "STALE": '[data-stale="true"]',  # an element that is being computed again, which Streamlit makes pale
}
# Tells Streamlit's page the address of its server. On a page such as /scale, it would first look for the server below
# /scale, which the browser's console shows as two errors.
BASE_SCRIPT = 'window.__streamlit = { BACKEND_BASE_URL: new URL(".", location.href).href };'


def ask_nobody_for_our_address() -> None:
    """Prevents an attack. For each socket from another host's page, Streamlit asks the internet for this machine's
    address, and the whole server waits up to two seconds. Streamlit does so while it decides whether that host may
    connect, and no route or middleware of ours could take this decision correctly."""
    net_util.get_external_ip = lambda: None


def message_kind(message: bytes) -> str:
    """The kind of a browser's message to Streamlit; "" if the kind is not in NEEDED_KINDS. Streamlit would also obey
    other messages, such as one that clears everybody's caches. Raises ValueError if the bytes are no message."""
    parsed = BackMsg()
    try:
        parsed.ParseFromString(message)
    except Exception as error:  # protobuf's own error, but protobuf is no dependency of ours
        raise ValueError("Streamlit's pages say nothing of this kind.") from error
    kind = parsed.WhichOneof("type")
    return kind if kind in NEEDED_KINDS else ""


def is_by_timer(message: bytes) -> bool:
    """Whether a fragment's timer, not a person, caused this request."""
    return BackMsg.FromString(message).rerun_script.is_auto_rerun


def kind_and_session(message: bytes) -> tuple[str, str]:
    """(kind, session) of a message to a browser. Only the first message of a run names the session; else it is ""."""
    parsed = ForwardMsg.FromString(message)
    kind = parsed.WhichOneof("type") or ""
    return kind, parsed.new_session.initialize.session_id if kind == "new_session" else ""


def fragment_and_page(message: bytes) -> tuple[str, str]:
    """(fragment, page) that a browser wants to be drawn; the fragment is "" for the whole page."""
    rerun = BackMsg.FromString(message).rerun_script
    return rerun.fragment_id, rerun.page_script_hash


def message_and_page(message: bytes, page: str) -> tuple[bytes, str]:
    """(the message to a browser, the page that the browser then shows). A fragment's message is changed to name `page`,
    whichever page requested the fragment."""
    parsed = ForwardMsg.FromString(message)
    kind = parsed.WhichOneof("type")
    if kind == "navigation":
        return message, parsed.navigation.page_script_hash
    if kind != "new_session":
        return message, page
    if not parsed.metadata.run.fragment_ids:
        return message, parsed.new_session.page_script_hash
    parsed.new_session.page_script_hash = page
    return parsed.SerializeToString(), page


def read_environment() -> None:
    """Reads Streamlit's options from the environment (STREAMLIT_SERVER_…), as its own command would do."""
    parsers = {bool: lambda word: word.lower() in ("true", "1"), int: int, float: float, str: str}
    for name, option in config.get_config_options().items():
        if (word := os.environ.get(option.env_var)) is not None and option.type in parsers:
            config.set_option(name, parsers[option.type](word), option.env_var)


def use_our_pages() -> None:
    """Prevents an attack that no route or middleware can stop. Until st.navigation is first called, Streamlit itself
    serves the files of pages/, so the first visitor of a fresh server could run a page without app.py."""
    PagesManager.uses_pages_directory = False


def on_a_page() -> bool:
    """Whether this thread runs a page, not a warm-up, a training or a test."""
    return get_script_run_ctx(suppress_warning=True) is not None


def went_through_history() -> bool:
    """Whether the browser's button Back or Forward caused this run."""
    context = get_script_run_ctx(suppress_warning=True)
    return bool(context and context.is_history_navigation)


def stop_if_left() -> None:
    """Raises Streamlit's own exception if the person has left the page or started another run, as any access to the
    session's state does."""
    st.session_state.get("page")


def session_id() -> str:
    """The session's id, different for each page that a browser has open."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def toast(sentence: str, former_toast=None, **options):
    """Shows a toast in place of the former toast; in a fragment beside the former toast, which a fragment
    may not change."""
    if former_toast is not None:
        try:
            return former_toast.toast(sentence, **options)
        except StreamlitInvalidLayoutContextError:
            pass
    return st.toast(sentence, **options)


@st.fragment(run_every=86400)
def drawn_by_the_next_server() -> None:
    """Makes Streamlit redraw a page after a reconnect, which it does only if a fragment has a timer. Otherwise a
    restarted server would not know the page, and requests of its fragments would be lost."""


def hush_toasts() -> None:
    """Silences Streamlit's warning that toasts in callbacks are lost when the page is redrawn: a toast is no part of
    the page, so it is not lost."""
    logging.getLogger("streamlit").addFilter(lambda record: "within a callback" not in str(record.msg))


def hide_sessions() -> None:
    """Keeps session ids out of the log, because anybody who knows one can reconnect as that browser."""

    def hide(record: logging.LogRecord) -> bool:
        record.args = tuple("…" for _ in record.args or ())
        return True

    logger.get_logger(websocket_session_manager.__name__).addFilter(hide)
