"""Runs the command without arguments: starts the app's server on this machine and opens the browser."""

from __future__ import annotations

import errno
import os
import socket
import threading
import time
import urllib.error
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
    port = _free_port(host) if port is None else port
    if not _is_free(host, port):
        raise PlaygroundError(f"Port {port} is taken by another program; choose another, or leave --port out.")
    _answer_to(*names, *_names_of(host))
    starting.check_settings()
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
        run.serve(run.at_port(host, port))


def _answer_to(*names: str) -> None:
    if names:
        os.environ["PLAYGROUND_HOSTS"] = " ".join((os.environ.get("PLAYGROUND_HOSTS", ""), *names))
    settings.read()  # raises an error if one of the names is invalid


def _names_of(host: str) -> Iterable[str]:
    """[host] if the host is a name; [] for an address and for localhost, to which requests are answered anyway."""
    is_address = ":" in host or host.replace(".", "").isdecimal()
    return [] if is_address or host == "localhost" else [host]


def _is_of_this_machine(host: str) -> bool:
    addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return all(ip_address(str(address[0])).is_loopback for *_, address in addresses)


def _free_port(host: str) -> int:
    for port in range(FIRST_PORT, FIRST_PORT + PORTS_TO_TRY):
        if _is_free(host, port):
            return port
    raise PlaygroundError(
        f"No port from {FIRST_PORT} to {FIRST_PORT + PORTS_TO_TRY - 1} is free; choose one by --port."
    )


def _is_free(host: str, port: int) -> bool:
    if not 1 <= port <= 65535:
        raise PlaygroundError(f"--port goes from 1 to 65535; given was {port}.")
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror:
        raise _no_address(host) from None
    with socket.socket(family, kind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server that has just ended leaves its port free
        try:
            probe.bind(address)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            if error.errno == errno.EADDRNOTAVAIL:
                raise _no_address(host) from None
            raise PlaygroundError(
                f"Port {port} can't be opened: {error.strerror or error}; choose another one by --port."
            ) from None
    return True


def _no_address(host: str) -> PlaygroundError:
    return PlaygroundError(f"This machine has no address {host!r}; give --host localhost or 0.0.0.0.")


def _open_when_ready(url: str) -> None:
    while not _answers(f"{url}/healthz"):
        time.sleep(0.1)
    webbrowser.open(url)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False
