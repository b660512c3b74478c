"""What we use of Streamlit though it does not promise to keep it. Tried with Streamlit 1.67.

Here, and in streamlit_runs.py. Each function says why it is needed; the tests of both fail when a part is gone.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable

import streamlit as st
from streamlit import net_util, runtime
from streamlit.errors import StreamlitInvalidLayoutContextError
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string

from playground.serving.places import Places

# Messages that our pages need; the last one asks for a file that is made when it is downloaded
HEARD = ("rerun_script", "stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request")
MOST = 20  # addresses for uploads, at a time
MOST_DOWNLOADS = 2  # files of one session that are being made at the same time
PLACES = 4  # files of all people that are being made at the same time; asyncio has six threads on two cores
KEPT_UPLOADS = 3  # of one session; a page reads its file at once
KEPT_BYTES = 100 * 2**20  # of all sessions

PARTS = {  # of Streamlit's page, as selectors for the styles of frame.py
    "HEADER": '[data-testid="stHeader"]',  # the bar on top
    "MAIN": '[data-testid="stMain"]',  # what scrolls
    "CONTENT": '[data-testid="stMainBlockContainer"]',  # the column in it
    "VERTICAL": '[data-testid="stVerticalBlock"]',
    "HORIZONTAL": '[data-testid="stHorizontalBlock"]',
    "COLUMN": '[data-testid="stColumn"]',
    "SELECT": '[data-testid="stSelectbox"]',
    "SELECT_LIST": '[data-testid="stSelectboxVirtualDropdown"]',
    "POPOVER_BUTTON": '[data-testid="stPopoverButton"]',
    "POPOVER_BODY": '[data-testid="stPopoverBody"]',
    "TOASTS": '[data-testid="stToastContainer"]',
    "STALE": '[data-stale="true"]',  # what is being computed again, which Streamlit makes pale
}


def ask_nobody_for_our_address() -> None:
    """For each page of another host Streamlit asks the internet for this machine's address, and the whole server waits
    up to two seconds for the answer."""
    net_util.get_external_ip = lambda: None


def bound_uploads() -> None:
    """Streamlit keeps all files that a session uploads, also those that no page ever shows."""
    if runtime.exists():
        keep_last(runtime.get_instance().uploaded_file_mgr)


def uploads() -> str:
    """The path under which the server takes this session's files."""
    context = get_script_run_ctx(suppress_warning=True)
    return f"{runtime.get_instance().uploaded_file_mgr.endpoint}/{context.session_id}" if runtime.exists() else ""


def uploaded(file_id: str) -> bytes | None:
    """A file that the browser has brought there under this name."""
    if not runtime.exists():
        return None
    context = get_script_run_ctx(suppress_warning=True)
    files = runtime.get_instance().uploaded_file_mgr.get_files(context.session_id, [file_id])
    return files[0].data if files else None


def hear_only(ours: tuple[str, ...] = HEARD) -> None:
    """Streamlit's server does more for whoever asks than any page of ours needs: it empties the caches of everybody, or
    makes a million addresses for uploads."""
    hear, addresses = AppSession.handle_backmsg, MemoryUploadedFileManager.get_upload_urls

    def heard(session, message) -> None:
        kind, operation = message.WhichOneof("type"), message.backend_operation_request.WhichOneof("payload")
        if kind in ours and (kind != "backend_operation_request" or operation == "deferred_file"):
            hear(session, message)

    AppSession.handle_backmsg = heard
    MemoryUploadedFileManager.get_upload_urls = lambda files, session, names: addresses(files, session, names[:MOST])


def bound_downloads() -> None:
    """A file is made when it is downloaded, in one of a few threads that all people share. Streamlit would begin with
    it as often as it is asked for, and whoever comes first would have them all."""
    make, under_way = DeferredFileHandler.handle, {}  # (session, file) -> what makes it
    places = Places(PLACES)

    async def make_in_turn(handler, request, session_id: str) -> BackendOperationResponse:
        async with places.one(network(session_id)):
            return await make(handler, request, session_id)

    async def made_once(handler, request, session_id: str) -> BackendOperationResponse:
        file = session_id, request.deferred_file.file_id
        if file not in under_way:
            if sum(session == session_id for session, _ in under_way) >= MOST_DOWNLOADS:
                sentence = f"{MOST_DOWNLOADS} of your files are being made: wait for one of them."
                return BackendOperationResponse(request_id=request.request_id, error_msg=sentence)
            under_way[file] = asyncio.ensure_future(make_in_turn(handler, request, session_id))
            under_way[file].add_done_callback(lambda _: under_way.pop(file))
        response = BackendOperationResponse()
        response.CopyFrom(await asyncio.shield(under_way[file]))
        response.request_id = request.request_id
        return response

    DeferredFileHandler.handle = made_once


def network(session_id: str) -> str:
    """The address from which its browser comes."""
    client = runtime.get_instance().get_client(session_id) if runtime.exists() else None
    context = client.client_context if client else None
    return (context.remote_ip or "") if context else ""


def presence() -> Callable[[], bool]:
    """Says in any thread whether the person of this page is still there."""
    context = get_script_run_ctx(suppress_warning=True)
    if not runtime.exists() or context is None:
        return lambda: True
    return lambda: runtime.get_instance().is_active_session(context.session_id)


def keep_last(manager, most: int = KEPT_UPLOADS, most_bytes: int = KEPT_BYTES) -> None:
    add, arrived = manager.add_file, {}  # (session, file) in order of arrival -> bytes

    def remove(session_id: str, file_id: str) -> None:
        manager.remove_file(session_id, file_id)
        arrived.pop((session_id, file_id), None)

    def add_file(session_id: str, file) -> None:
        add(session_id, file)
        arrived[session_id, file.file_id] = len(file.data)
        for older in list(manager.file_storage[session_id])[:-most]:
            remove(session_id, older)
        for session, gone in [key for key in arrived if key[1] not in manager.file_storage.get(key[0], {})]:
            arrived.pop((session, gone))  # with its session
        for session, older in list(arrived)[:-1]:
            if sum(arrived.values()) > most_bytes:
                remove(session, older)

    manager.add_file = add_file


def forget_the_gone() -> None:
    """Streamlit keeps what a person had for two minutes after they left, and then until some other one leaves: their
    uploads, pictures and traces. Called now and then by the thread that the server runs in."""
    if runtime.exists():
        expire(runtime.get_instance()._session_mgr)


def expire(manager) -> None:
    kept = manager._session_storage._cache
    with manager._storage_lock:
        before = len(kept._data)
        kept.expire()
    if len(kept._data) < before:
        gc.collect()  # a session holds what holds it


def use_our_pages() -> None:
    """Until st.navigation is called for the first time, Streamlit finds pages/ by itself, and runs a page from there
    without app.py."""
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


def browser() -> str:
    """The same in all tabs of a browser, for as long as it keeps our cookie; else the session's own name. The cookie is
    Streamlit's, and written differently each time around the same secret."""
    secret, _ = decode_xsrf_token_string(st.context.cookies.get("_streamlit_xsrf", ""))
    return secret.hex() if secret else get_script_run_ctx().session_id


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


def run_again() -> None:
    """The fragment alone, where it runs alone; in a run of the whole page Streamlit refuses that."""
    try:
        st.rerun(scope="fragment")
    except StreamlitInvalidLayoutContextError:
        st.rerun()


def hush_toasts() -> None:
    """Streamlit warns in the log of each toast inside a callback, for it could be lost with what a page draws. Toasts
    are no part of a page."""
    logging.getLogger("streamlit").addFilter(lambda record: "within a callback" not in str(record.msg))
