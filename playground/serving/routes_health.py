"""For machines that watch over the server: whether it lives, and whether somebody who comes now would see a picture.
For who runs it: how many people are there, and what it has no room for."""

from __future__ import annotations

import os
import secrets
import sys
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.serving import admission, chosen, pictures, queue, settings
from playground.serving.answering import answer, said
from playground.serving.cache import MB

NOW = {"Cache-Control": "no-store"}
OPERATOR = "x-playground-operator"  # the header with the key
PROXIED = ("x-forwarded-for", "x-forwarded-proto", "forwarded", "x-real-ip", "via")
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container


async def lives(_: Request) -> Response:
    return JSONResponse({"alive": True}, headers=NOW)


async def ready(request: Request) -> Response:
    def work() -> Response:
        name = chosen.first_sample()
        pictures.sample(name)  # raises where its file is missing or damaged
        return JSONResponse({"ready": True, "first": name}, headers=NOW)

    answered = await answer(request, work)
    return answered if answered.status_code == 200 else JSONResponse({"ready": False}, 503, headers=NOW)


async def status(request: Request) -> Response:
    """Numbers alone: no address, no key and no name of anybody."""
    if not _is_operator(request):
        return said("This is for who runs the server: ask on its own machine, or with PLAYGROUND_OPERATOR_KEY.", 403)
    return JSONResponse(
        {
            "people": admission.sockets.people(),
            "pages": len(admission.sockets.open),
            "waiting": queue.passes().waiting,
            "requests": int(admission.requests.held),
            "late_ms": round(1000 * admission.lag.now(), 1),
            "memory_mb": _memory(),
            "memory_limit_mb": _memory_limit(),
            "own_pictures_mb": round(pictures.held() / MB, 1),
            "refused": dict(sorted(admission.refused.items())),
        },
        headers=NOW,
    )


def _is_operator(request: Request) -> bool:
    """Who asks on this machine and not through a proxy, or has the key."""
    key = settings.now().operator_key
    if key and secrets.compare_digest(request.headers.get(OPERATOR, "").encode(), key.encode()):
        return True
    if any(name in request.headers for name in PROXIED):
        return False
    with suppress(ValueError):
        return ip_address(request.client.host if request.client else "").is_loopback
    return False


def _memory() -> float | None:
    """What this process holds, in MB; None where the system does not tell."""
    if not sys.platform.startswith("linux"):
        return None
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / MB, 1)


def _memory_limit() -> float | None:
    """Of the container; None where it has none."""
    for file in map(Path, LIMITS):
        with suppress(OSError, ValueError):
            limit = int(file.read_text(encoding="ascii"))
            return round(limit / MB) if limit < 2**60 else None
    return None


ROUTES = [Route("/healthz", lives), Route("/readyz", ready), Route("/api/status", status)]
