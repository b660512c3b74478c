"""Runs the server: uvicorn with the app of ui/server.py.

python -m playground.ui.run FILE     listens at a Unix socket for the proxy; deploy/start.py runs this command
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from playground.errors import PlaygroundError
from playground.serving import settings, starting
from playground.ui import log

MOST_MESSAGE_BYTES = 2**17  # bytes of a WebSocket message: pages send short ones, and pictures come as uploads
PING_SECONDS = 30  # seconds between two pings, so that no proxy closes an idle socket
BACKLOG = 2048


def serve(sockets: Iterable[socket.socket], behind_proxy: bool = False) -> None:
    """Serves the app at these sockets until a signal ends it."""
    log.to_stdout()
    import uvicorn

    from playground.ui.server import app

    trusted = ["*"] if behind_proxy else list(settings.now().proxies)
    config = uvicorn.Config(
        app, proxy_headers=bool(trusted), forwarded_allow_ips=trusted,
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
    """Listening sockets, one for each address family of the host; none if the port is taken. Each names its protocol:
    asyncio sets TCP_NODELAY on such sockets only."""
    listeners: list[socket.socket] = []
    trouble = f"This machine has no address {host!r}; give --host localhost or 0.0.0.0."
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror:
        raise PlaygroundError(trouble) from None
    for family, kind, _, _, address in addresses:
        listener = socket.socket(family, kind, socket.IPPROTO_TCP)
        # a server that has just ended leaves its port free
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError as error:
            listener.close()
            if error.errno == errno.EADDRINUSE:
                for other in listeners:
                    other.close()
                return []
            if error.errno != errno.EADDRNOTAVAIL:  # without IPv6 localhost has one address of two
                trouble = f"Port {port} can't be opened: {error.strerror or error}; choose another one by --port."
            continue
        listeners.append(listener)
    if not listeners:
        raise PlaygroundError(trouble)
    return listeners


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        try:
            starting.check_settings()
            serve([at_unix_socket(Path(sys.argv[1]))], behind_proxy=True)
        except PlaygroundError as error:
            sys.exit(str(error))
