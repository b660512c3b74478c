"""Runs the command without arguments: starts the app's server on this machine and opens the browser."""

from __future__ import annotations

import os
import socket
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import ip_address

from playground.errors import PlaygroundError
from playground.serving import hosts, settings, starting
from playground.ui import run

FIRST_PORT = 8501
PORTS_TO_TRY = 100
ALL_INTERFACES = ("0.0.0.0", "::")  # addresses that mean "all interfaces"; a browser can't open them
OPEN_WARNING = (
    "Everybody who reaches this machine can open the playground, which suits a room; against floods of connections, "
    "slow connections and large requests only the image is protected, by its proxy (deploy/README.md)."
)


def launch(host: str = "localhost", port: int | None = None, browser: bool = True, names: Iterable[str] = ()) -> None:
    """Runs the server until it ends. `port`: None means the first free port from 8501 up. `names`: further host names
    by which browsers may call the server."""
    is_address = ":" in host or host.replace(".", "").isdecimal()
    if all_names := [*names, *([] if is_address or host == "localhost" else [host])]:
        os.environ["PLAYGROUND_HOSTS"] = " ".join((os.environ.get("PLAYGROUND_HOSTS", ""), *all_names))
    settings.read()  # raises an error if one of the names is invalid
    starting.check_settings()
    listeners = _listeners(host, port)
    port = listeners[0].getsockname()[1]
    name = "localhost" if host in ALL_INTERFACES else host
    url = (
        f"http://{f'[{name}]' if ':' in name else name}:{port}{hosts.base_path(os.environ.get(hosts.BASE_PATH_OPTION))}"
    )
    print(f"The playground is at {url}; Ctrl-C ends it.", flush=True)
    if not _is_of_this_machine(host):
        print(OPEN_WARNING, flush=True)
    if browser:
        threading.Thread(target=_open_when_ready, args=(url,), daemon=True).start()
    with suppress(KeyboardInterrupt):
        run.serve(listeners)


def _is_of_this_machine(host: str) -> bool:
    addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return all(ip_address(str(address[0])).is_loopback for *_, address in addresses)


def _listeners(host: str, port: int | None) -> list[socket.socket]:
    if port is not None and not 1 <= port <= 65535:
        raise PlaygroundError(f"--port goes from 1 to 65535; given was {port}.")
    for candidate in range(FIRST_PORT, FIRST_PORT + PORTS_TO_TRY) if port is None else [port]:
        if listeners := run.at_port(host, candidate):
            return listeners
    if port is not None:
        raise PlaygroundError(f"Port {port} is taken by another program; choose another, or leave --port out.")
    raise PlaygroundError(
        f"No port from {FIRST_PORT} to {FIRST_PORT + PORTS_TO_TRY - 1} is free; choose one by --port."
    )


def _open_when_ready(url: str) -> None:
    while True:
        with suppress(OSError), urllib.request.urlopen(f"{url}/healthz", timeout=5):  # also a refusal is an OSError
            break
        time.sleep(0.1)
    webbrowser.open(url)
