"""Two attacks for benchmarks/attacks.py that once kept newcomers out. Each newcomer opens a page and uploads a
photograph; the newcomers' waits before and during an attack are measured in the same run. The header X-Forwarded-For
gives each newcomer another network."""

from __future__ import annotations

import asyncio
import random
import secrets
import struct
import time
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import harness
from browser.server import Server
from crowd import Person, drawn_photos

NEWCOMERS, ARRIVAL_SECONDS = 12, 1.0  # number of newcomers; seconds between their arrivals
LEAD_SECONDS = 8.0  # seconds from the attack's beginning to the first newcomer
PICTURE_NETWORKS, FIGURE_NETWORKS = 40, 40
SIDE = 7900  # pixels of the costly pictures' sides
MOST_WAIT_SECONDS, MOST_WAIT_GROWTH = 3.0, 2.0  # bars: seconds until the first picture; times a photograph's calm wait


@dataclass
class Waits:
    pages: list[float]
    photographs: list[float]

    def __str__(self) -> str:
        return (
            f"{harness.p95(self.pages):.1f} s for a picture, {harness.p95(self.photographs):.1f} s for their photograph"
        )


def meets_bars(calm_waits: Waits, attacked_waits: Waits) -> bool:
    tolerance = MOST_WAIT_GROWTH * max(
        0.5, harness.p95(calm_waits.photographs)
    )  # a calm wait counts as at least half a second
    return (
        harness.p95(attacked_waits.pages) <= MOST_WAIT_SECONDS and harness.p95(attacked_waits.photographs) <= tolerance
    )


async def waits_before_and_during(server: Server, attack: Callable[[], Awaitable[None]]) -> tuple[Waits, Waits]:
    """(waits of newcomers before the attack, and during it)"""
    await waits_of_newcomers(server.url, 2, 0)  # the first newcomer waits until torch is loaded
    calm_waits = await waits_of_newcomers(server.url, NEWCOMERS, 1)
    attack_task = asyncio.create_task(attack())
    await asyncio.sleep(LEAD_SECONDS)
    attacked_waits = await waits_of_newcomers(server.url, NEWCOMERS, 2)
    attack_task.cancel()
    await asyncio.gather(attack_task, return_exceptions=True)
    return calm_waits, attacked_waits


async def waits_of_newcomers(url: str, count: int, round_: int) -> Waits:
    photos, waits = drawn_photos(count), Waits([], [])

    async def visit(number: int) -> None:
        await asyncio.sleep(number * ARRIVAL_SECONDS)
        person, began = Person(url, "model=bundled", network=f"203.{number}.{round_}.5"), time.perf_counter()
        opened_after = shown_after = float("inf")
        with suppress(Exception):  # no answer counts as an endless wait
            await person.open()
            await person.pick("flock")
            opened_after = time.perf_counter() - began
            shown_after = await person.drop(photos[number], "mine.jpg")
        waits.pages.append(opened_after)
        waits.photographs.append(shown_after)
        person.hang_up()

    await asyncio.gather(*map(visit, range(count)))
    return waits


def costly_pictures(server: Server) -> tuple[Waits, Waits]:
    """Forty networks of one /56 repeatedly upload valid PNGs of 62 megapixels in 16 bits, each of half a megabyte."""

    async def attack() -> None:
        async def bring(n: int) -> None:
            while True:
                person = Person(server.url, network=f"2001:db8:1:2{n:02x}::1")
                with suppress(Exception):
                    await person.ask("/api/pictures", "POST", costly_png(), {"X-Playground-Name": "x"})
                person.hang_up()
                await asyncio.sleep(0.2)

        await asyncio.gather(*map(bring, range(PICTURE_NETWORKS)))

    return asyncio.run(waits_before_and_during(server, attack))


def costly_figures(server: Server) -> tuple[Waits, Waits]:
    """Forty networks repeatedly ask for figures of the layout "wall", each with another ceiling."""

    async def attack() -> None:
        async def draw(network: str) -> None:
            while True:
                person, ceiling = Person(server.url, network=network), 0.01 + 0.98 * random.random()
                with suppress(Exception):
                    await person.ask(f"/figure.svg?layout=wall&sample=meadow&model=bundled&ceiling={ceiling:.6f}")
                person.hang_up()
                await asyncio.sleep(0.2)

        networks = [f"10.{n}.{secrets.randbelow(200)}.1" for n in range(FIGURE_NETWORKS)]
        await asyncio.gather(*map(draw, networks))

    return asyncio.run(waits_before_and_during(server, attack))


@cache
def costly_png() -> bytes:
    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    compressor, row = zlib.compressobj(9), bytes(1 + 8 * SIDE)
    lines = b"".join(compressor.compress(row) for _ in range(SIDE)) + compressor.flush()
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 16, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", lines) + part(b"IEND", b"")
