"""Floods of requests, for benchmarks/attacks.py. Ten other people click meanwhile, half of them in the
flooding network; their waits without and during the flood are measured in the same run."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from urllib.parse import urlencode

import harness
from browser.server import Server
from crowd import Person
from innocents import HOSTILE_NETWORKS, stall_upload, upload_in_crumbs

from playground.samples import SAMPLES

PEOPLE, HOSTILE_CONNECTIONS, STALLED_FILES = 10, 20, 600  # people; hostile connections; stalled files
CALM_SECONDS, FLOOD_SECONDS = 5.0, 15.0  # seconds before the flood, and seconds of the flood
FLOODING_NETWORK, OTHER_NETWORK = HOSTILE_NETWORKS[1], HOSTILE_NETWORKS[0]
REQUESTS_AT_ONCE = 50  # requests that a connection sends at once, repeatedly
FLOOD_CONNECTIONS = 300
FLOOD_CODE = "import asyncio, sys, floods; asyncio.run(floods.flood(*sys.argv[1:]))"  # the flooding process runs this
MOST_P95 = 1.0  # seconds; so long because the flooding process shares the server's cores


async def waits_of_others(server: Server, flood: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """The 95th percentiles of the waits of ten people who click once a second, before and during the flood."""
    people = [Person(server.url, network=(FLOODING_NETWORK, OTHER_NETWORK)[number % 2]) for number in range(PEOPLE)]
    await asyncio.gather(*(person.open() for person in people))
    for sample in SAMPLES:
        await people[0].pick(sample.name)  # makes the server compute and keep the sample's trace
    calm_waits = await _click(people, CALM_SECONDS)
    flooding_task = asyncio.create_task(flood())
    await asyncio.sleep(1)
    flood_waits = await _click(people, FLOOD_SECONDS)
    flooding_task.cancel()
    await asyncio.gather(flooding_task, return_exceptions=True)
    for person in people:
        person.hang_up()
    return harness.p95(calm_waits), harness.p95(flood_waits)


async def _click(people: list[Person], seconds: float) -> list[float]:
    until, waits = time.perf_counter() + seconds, []

    async def live(number: int, person: Person) -> None:
        chance = random.Random(number)
        await asyncio.sleep(chance.random())
        while (asked_at := time.perf_counter()) < until:
            try:
                waits.append(await person.pick(chance.choice(SAMPLES).name))
            except Exception:  # no answer counts as an endless wait
                waits.append(float("inf"))
            await asyncio.sleep(max(0.0, 1 - (time.perf_counter() - asked_at)))

    await asyncio.gather(*(live(number, person) for number, person in enumerate(people)))
    return waits


def bodies(server: Server) -> tuple[float, float]:
    """Waits while twenty connections upload a picture in pieces of one byte, and reconnect when they are cut off."""
    return asyncio.run(waits_of_others(server, lambda: _repeat(server, upload_in_crumbs)))


def files(server: Server) -> tuple[float, float]:
    """Waits while 600 uploads, each with another key, stall half-way, and start again when they are refused."""

    def stall(url: str, network: str) -> Awaitable[None]:
        return stall_upload(url, network, sends=2**16)

    return asyncio.run(waits_of_others(server, lambda: _repeat(server, stall, STALLED_FILES)))


async def _repeat(
    server: Server, request: Callable[[str, str], Awaitable[None]], at_once: int = HOSTILE_CONNECTIONS
) -> None:
    async def repeat() -> None:
        while True:
            with suppress(OSError, TimeoutError):
                await request(server.url, FLOODING_NETWORK)
            await asyncio.sleep(0.05)

    await asyncio.gather(*(repeat() for _ in range(at_once)))


def requests(server: Server, path: str) -> tuple[float, float]:
    """Waits while many connections without a key send requests without waiting for answers."""

    async def flood() -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", FLOOD_CODE, server.address, path, FLOODING_NETWORK, cwd=harness.ROOT / "benchmarks"
        )
        try:
            await process.wait()
        finally:
            process.kill()
            await process.wait()

    return asyncio.run(waits_of_others(server, flood))


def numbers_address(server: Server, name: str, **parameters: str) -> str:
    """The address of a part of a sample's trace: its layers (600 KB), or numbers computed from them."""
    words = {"sample": SAMPLES[0].name, "model": "bundled"}

    async def digest() -> str:
        somebody = Person(server.url)
        trace = json.loads(await somebody.ask(f"/api/trace?{urlencode(words)}"))
        somebody.hang_up()
        return trace["digest"]

    return f"/api/trace/{asyncio.run(digest())}/{name}?{urlencode(words | parameters)}"


class Line(asyncio.Protocol):
    """A connection that sends its payload as fast as it can, and ignores what it receives."""

    def __init__(self, payload: bytes):
        self.payload, self.ended = payload, asyncio.get_running_loop().create_future()

    def connection_made(self, transport) -> None:
        self.transport = transport
        self.resume_writing()

    def pause_writing(self) -> None:
        self.is_full = True

    def resume_writing(self) -> None:
        self.is_full = False
        while not self.is_full and not self.transport.is_closing():
            self.transport.write(self.payload)

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set_result(None)


async def flood(address: str, path: str, network: str) -> None:
    """Floods a path over many connections; a connection that is cut off opens again."""
    host, _, port = address.partition(":")
    request = (
        f"GET {path} HTTP/1.1\r\nHost: {address}\r\nX-Forwarded-For: {network}\r\n\r\n".encode() * REQUESTS_AT_ONCE
    )

    async def talk() -> None:
        while True:
            with suppress(OSError):
                _, line = await asyncio.get_running_loop().create_connection(lambda: Line(request), host, int(port))
                await line.ended
            await asyncio.sleep(0.05)

    await asyncio.gather(*(talk() for _ in range(FLOOD_CONNECTIONS)))
