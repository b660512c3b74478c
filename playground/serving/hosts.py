"""Knows the host names to which this server answers, and the app's base path on its host.

In DNS rebinding, a foreign site makes its host name resolve to this machine's address, so that a browser lets the
site's page send requests to this server under that name. Therefore only `localhost`, this machine's names, literal
addresses and the names of PLAYGROUND_HOSTS are answered.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Scope

from playground.serving import app, settings

HOST_PATTERN = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[0-9a-z_.-]+))(?::\d{1,5})?")


def is_answered(scope: Scope) -> bool:
    """Whether a request or socket names this server as its host. A browser always names a host; a probe may not."""
    hosts = hosts_named(scope)
    if not hosts:
        return True
    match = HOST_PATTERN.fullmatch(hosts[0].lower())
    if len(hosts) > 1 or match is None:
        return False
    name = match["v6"] or match["name"].removesuffix(".")
    return name in names() or _is_address(name)


def is_foreign(headers: Headers) -> bool:
    """Whether a page of another host or port sent the request. Streamlit by itself would accept any port."""
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host", "")


def hosts_named(scope: Scope) -> list[str]:
    return [value.decode("latin-1") for header, value in scope["headers"] if header == b"host"]


@app.part
def names() -> frozenset[str]:
    machine = socket.gethostname().lower()
    return frozenset({"localhost", machine, f"{machine.partition('.')[0]}.local", *settings.now().hosts})


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


# The base path of the app on its host: /attention on a host with several apps, else empty. All addresses in the browser
# are relative, so only this module knows the base path.

BASE_PATH_OPTION = "STREAMLIT_SERVER_BASE_URL_PATH"
PROBE_PATHS = ("/healthz", "/readyz")


def below_base(base: str, routes: Iterable[Route]) -> list[Route]:
    """These routes below the base path. The routes of PROBE_PATHS also keep the plain path, because probes run on the
    machine itself."""
    if not base:
        return list(routes)
    based_routes = (
        Route(f"{base}{route.path}", route.endpoint, methods=sorted(route.methods or ())) for route in routes
    )
    return [*based_routes, *(route for route in routes if route.path in PROBE_PATHS)]


def base_path(option: str | None) -> str:
    """Normalises the base path: attention, /attention and /attention/ are the same."""
    path = (option or "").strip("/")
    return f"/{path}" if path else ""
