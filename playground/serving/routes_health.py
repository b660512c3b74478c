"""For machines that watch over the server: whether it lives, and whether somebody who comes now would see a picture.
For who runs it: how many people are there, what it computes, and what it has no room for, as Prometheus reads it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from ipaddress import ip_address, ip_network
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from playground.serving import chosen, ledger, models, people, pictures, queue, settings, traces
from playground.serving.answering import answer

NOW = {"Cache-Control": "no-store"}
PROXIED = ("x-forwarded-for", "x-forwarded-proto", "forwarded", "x-real-ip", "via")
DIRECT = "x-playground-direct"  # from the image's proxy alone: it knows on whose behalf this was asked
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


async def metrics(request: Request) -> Response:
    """Numbers alone: no address, no key and no name of anybody; labels come from the lists in this program."""
    if not _is_operator(request):
        return PlainTextResponse("Not Found", 404)
    return PlainTextResponse("".join(_lines()), headers=NOW, media_type="text/plain; version=0.0.4")


def _lines() -> Iterator[str]:
    queues = {"passes": queue.passes(), "figures": queue.figures(), "decodings": queue.decodings()}
    caches = {"samples": traces.of_samples(), "models": models.kept(), "lessons": people.worked_for_all()}
    yield _metric("people", "gauge", "browsers with a page open", {"": ledger.seats.people()})
    yield _metric("pages", "gauge", "pages that are open", {"": len(ledger.seats.open)})
    yield _metric(
        "waiting", "gauge", "questions that wait for a turn", {k: q.waiting for k, q in queues.items()}, "queue"
    )
    yield _metric("requests", "gauge", "requests in work", {"": ledger.requests.held})
    yield _metric("seconds_total", "counter", "seconds spent", ledger.costs.spent, "kind")
    yield _metric("refused_total", "counter", "what there was no room for", ledger.refused, "reason")
    yield _metric("cache_hits_total", "counter", "found in a cache", {k: c.hits for k, c in caches.items()}, "cache")
    yield _metric("cache_misses_total", "counter", "made", {k: c.misses for k, c in caches.items()}, "cache")
    yield _metric("own_pictures_bytes", "gauge", "people's own pictures, decoded", {"": pictures.held()})
    yield _metric("memory_bytes", "gauge", "what this process holds", {"": _memory()})
    yield _metric("memory_limit_bytes", "gauge", "of the container", {"": _memory_limit()})


def _metric(name: str, kind: str, words: str, values: Mapping[str, float | None], label: str = "") -> str:
    lines = [f"# HELP playground_{name} {words}", f"# TYPE playground_{name} {kind}"]
    for value, number in sorted(values.items()):
        if number is not None and bool(value) == bool(label):
            labels = f'{{{label}="{value}"}}' if label else ""
            lines.append(f"playground_{name}{labels} {round(number, 3):.16g}")
    return "\n".join(lines) + "\n"


def _is_operator(request: Request) -> bool:
    """Who asks from an operator's address, and not through a proxy that says nothing of who asks."""
    if people.is_behind_proxy(request.scope):
        direct = DIRECT in request.headers
    else:
        direct = bool(settings.now().proxies) or not any(name in request.headers for name in PROXIED)
    with suppress(ValueError):
        address = ip_address(request.client.host if request.client else "")
        return direct and any(address in ip_network(network) for network in settings.now().operators)
    return False


def _memory() -> float | None:
    """What this process holds; None where the system does not tell."""
    if not sys.platform.startswith("linux"):
        return None
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _memory_limit() -> float | None:
    """Of the container; None where it has none."""
    for file in map(Path, LIMITS):
        with suppress(OSError, ValueError):
            limit = int(file.read_text(encoding="ascii"))
            return limit if limit < 2**60 else None
    return None


ROUTES = [Route("/healthz", lives), Route("/readyz", ready), Route("/metrics", metrics)]
