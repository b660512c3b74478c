"""The names by which this server may be called.

By DNS rebinding a page elsewhere gives its own name this machine's address: a browser then lets it ask here, under that
name. So `localhost`, this machine's names and any literal address are answered, and other names where PLAYGROUND_HOSTS
gives them.
"""

from __future__ import annotations

import asyncio
import re
import socket
from functools import cache
from ipaddress import ip_address

from starlette.types import Scope

from playground.serving import settings

HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[0-9a-z_.-]+))(?::\d{1,5})?")


async def is_answered(scope: Scope) -> bool:
    """Whether a request, or a socket's, names this server. Every browser names one host; a probe may name none."""
    named = hosts_named(scope)
    if not named:
        return True
    name = _name_in(named[0])
    if len(named) > 1 or name is None:
        return False
    return _is_address(name) or name in names() or await _is_full_name(name)


def hosts_named(scope: Scope) -> list[str]:
    return [value.decode("latin-1") for header, value in scope["headers"] if header == b"host"]


@cache
def names() -> frozenset[str]:
    """All but the full name, for which the network may have to be asked."""
    machine = socket.gethostname().lower()
    return frozenset({"localhost", machine, f"{_short(machine)}.local", *settings.now().hosts})


def _name_in(host: str) -> str | None:
    """The name or the address, without a port; None for what is no host."""
    match = HOST.fullmatch(host.lower())
    return match and (match["v6"] or match["name"].removesuffix("."))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def _is_full_name(name: str) -> bool:
    """Of this machine, such as box.example.org. The network is asked for it only where the name begins as ours."""
    begins = name.startswith(f"{_short(socket.gethostname().lower())}.")
    return begins and name == await asyncio.to_thread(_full_name)


@cache
def _full_name() -> str:
    return socket.getfqdn().lower()


def _short(machine: str) -> str:
    return machine.partition(".")[0]
