"""Collects the routes of the API, and answers the routes for health and metrics."""

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

from playground.serving import (
    chosen,
    ledger,
    models,
    people,
    pictures,
    queue,
    routes_beyond,
    routes_classes,
    routes_figures,
    routes_lessons,
    routes_models,
    routes_pictures,
    routes_samples,
    routes_teach,
    routes_traces,
    scripts,
    settings,
    starting,
    traces,
    wall,
    worked,
)
from playground.serving.answering import answer

# The routes of health tell a monitoring machine whether the server runs and can show a picture. The route of metrics
# tells the operator the numbers of people, computations and refusals, in the format of Prometheus.

NO_STORE = {"Cache-Control": "no-store"}
PROXY_HEADERS = ("x-forwarded-for", "x-forwarded-proto", "forwarded", "x-real-ip", "via")
DIRECT_HEADER = "x-playground-direct"  # a header that only the image's proxy sets, for requests that reach it directly


async def alive(_: Request) -> Response:
    return JSONResponse({"alive": True}, headers=NO_STORE)


async def ready(request: Request) -> Response:
    if not starting.is_warm().is_set():
        return JSONResponse({"ready": False}, 503, headers=NO_STORE)

    def work() -> Response:
        name = chosen.first_sample()
        pictures.sample(name)  # raises if its file is missing or damaged
        return JSONResponse({"ready": True, "first": name}, headers=NO_STORE)

    response = await answer(request, work)
    return response if response.status_code == 200 else JSONResponse({"ready": False}, 503, headers=NO_STORE)


async def metrics(request: Request) -> Response:
    """Sends the metrics: numbers without any person's address, key or name. Labels come from lists in this program."""
    if not _is_operator(request):
        return PlainTextResponse("Not Found", 404)
    return PlainTextResponse("".join(_metric_lines()), headers=NO_STORE, media_type="text/plain; version=0.0.4")


def _metric_lines() -> Iterator[str]:
    queues = {"passes": queue.passes(), "figures": queue.figures(), "decodings": queue.decodings()}
    caches = {"samples": traces.sample_traces(), "models": models.loaded_models(), "lessons": worked.shared_results()}
    yield _metric("people", "gauge", "browsers that asked lately", {"": ledger.present().count()})
    yield _metric(
        "waiting", "gauge", "questions that wait for a turn", {k: q.waiting_count for k, q in queues.items()}, "queue"
    )
    yield _metric("requests", "gauge", "requests in work", {"": ledger.requests().taken})
    yield _metric("seconds_total", "counter", "seconds spent", ledger.costs().spent, "kind")
    yield _metric("refused_total", "counter", "what there was no room for", ledger.refusals(), "reason")
    yield _metric("cache_hits_total", "counter", "found in a cache", {k: c.hits for k, c in caches.items()}, "cache")
    yield _metric("cache_misses_total", "counter", "made", {k: c.misses for k, c in caches.items()}, "cache")
    yield _metric("own_pictures_bytes", "gauge", "people's own pictures, decoded", {"": pictures.own_pictures().bytes})
    yield _metric("memory_bytes", "gauge", "what this process holds", {"": _memory()})


def _metric(name: str, kind: str, help_text: str, values: Mapping[str, float | None], label: str = "") -> str:
    lines = [f"# HELP playground_{name} {help_text}", f"# TYPE playground_{name} {kind}"]
    for label_value, number in sorted(values.items()):
        if number is not None and bool(label_value) == bool(label):
            labels = f'{{{label}="{label_value}"}}' if label else ""
            lines.append(f"playground_{name}{labels} {round(number, 3):.16g}")
    return "\n".join(lines) + "\n"


def _is_operator(request: Request) -> bool:
    """Whether the request comes from an operator's address, directly: a proxy would hide the real address."""
    if people.is_behind_proxy(request.scope):
        is_direct = DIRECT_HEADER in request.headers
    else:
        is_direct = bool(settings.now().proxies) or not any(name in request.headers for name in PROXY_HEADERS)
    with suppress(ValueError):
        address = ip_address(request.client.host if request.client else "")
        return is_direct and any(address in ip_network(network) for network in settings.now().operators)
    return False


def _memory() -> float | None:
    """Bytes in memory of this process; None if the system does not tell."""
    if not sys.platform.startswith("linux"):
        return None
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


HEALTH_ROUTES = [Route("/healthz", alive), Route("/readyz", ready), Route("/metrics", metrics)]


ROUTES: list[Route] = [
    *scripts.ROUTES,
    *routes_samples.ROUTES,
    *wall.ROUTES,
    *routes_traces.ROUTES,
    *routes_beyond.ROUTES,
    *routes_pictures.ROUTES,
    *routes_models.ROUTES,
    *routes_figures.ROUTES,
    *routes_classes.ROUTES,
    *routes_lessons.ROUTES,
    *routes_teach.ROUTES,
    *HEALTH_ROUTES,
]
