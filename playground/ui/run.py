"""Runs the app's server: uvicorn with `app:app`. Streamlit's own command can't listen at a Unix socket, and on its
sockets a small answer is delayed by 40 ms.

    python -m playground.ui.run FILE     listens at a Unix socket for the proxy; deploy/start.py runs this command
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from playground.assets import APP
from playground.errors import PlaygroundError
from playground.serving import settings, starting
from playground.ui import log

MOST_MESSAGE_BYTES = 2**17  # bytes of a WebSocket message: pages send short ones, and pictures come as uploads
PING_SECONDS = 30  # seconds between two pings, so that no proxy closes an idle socket
BACKLOG = 2048
FRAMES_AT_ONCE, FRAMES_A_SECOND = 500, 50.0  # pings and fragments allowed to a socket at once, then per second
SLICE_BYTES = 4096  # bytes that are parsed before their frames are counted: at most about 500 pings


class Socket(WebSocketsSansIOProtocol):
    """Counts pings and fragments, which the server handles before our code sees them, and disconnects a client that
    sends too many."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._frames_left, self._counted_at = float(FRAMES_AT_ONCE), time.monotonic()

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), SLICE_BYTES):
            if not self.transport.is_closing():
                super().data_received(data[start : start + SLICE_BYTES])

    def handle_events(self) -> None:
        now, count = time.monotonic(), len(self.conn.events)
        self._frames_left = min(FRAMES_AT_ONCE, self._frames_left + (now - self._counted_at) * FRAMES_A_SECOND) - count
        self._counted_at = now
        if self._frames_left < 0:
            return self.transport.abort()
        super().handle_events()


def serve(sockets: Iterable[socket.socket], behind_proxy: bool = False) -> None:
    """Serves the app at these sockets until a signal ends it."""
    log.to_stdout()
    settings.find_a_home()
    import streamlit as st
    import uvicorn

    from playground.ui import streamlit_private

    os.chdir(APP.parent)  # where Streamlit finds .streamlit/, the production settings
    sys.path.insert(0, str(APP.parent))
    st.get_option("server.port")  # reads the log settings now: read later, they would turn uvicorn's log on again
    streamlit_private.read_environment()
    trusted = ["*"] if behind_proxy else list(settings.now().proxies)
    config = uvicorn.Config(
        "app:app", proxy_headers=bool(trusted), forwarded_allow_ips=trusted, ws=Socket,
        ws_max_size=MOST_MESSAGE_BYTES, ws_ping_interval=PING_SECONDS, ws_ping_timeout=PING_SECONDS,
        ws_per_message_deflate=False, timeout_keep_alive=90 if behind_proxy else 15,
        access_log=False, log_level="warning",
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=list(sockets))


def at_unix_socket(file: Path) -> socket.socket:
    """A Unix socket that only its owner may open."""
    listener = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o177)
    try:
        listener.bind(str(file))
    finally:
        os.umask(mask)
    listener.listen(BACKLOG)
    return listener


def at_port(host: str, port: int) -> list[socket.socket]:
    """Listening sockets, one for each address family of the host. Each names its protocol: asyncio sets TCP_NODELAY
    on such sockets only."""
    listeners = []
    for family, kind, _, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        listener = socket.socket(family, kind, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            listener.bind(address)
        except OSError:  # for example, this machine has no IPv6 addresses
            listener.close()
            continue
        listener.listen(BACKLOG)
        listeners.append(listener)
    return listeners


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        try:
            starting.check_settings()
            serve([at_unix_socket(Path(sys.argv[1]))], behind_proxy=True)
        except PlaygroundError as error:
            sys.exit(str(error))
