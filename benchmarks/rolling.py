"""Ends and restarts one of two replicas behind the proxy while people look at pictures and upload their own. Counts the
failed requests of each person. For benchmarks/hold.py."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections import Counter
from contextlib import suppress

from browser.server import Server
from crowd import Person, drawn_photos

from playground.samples import SAMPLES

CLICK_SECONDS = 2.0  # seconds between one person's clicks
RETRY_SECONDS = 0.5  # seconds until a failed request is repeated


async def rolling(url: str, servers: list[Server], people: int, seconds: float) -> dict:
    """{"waits": seconds until each answer, retries included; "lost": each person's number of failed requests; "after":
    errors with their times}"""
    photos, outcome = drawn_photos(10), {"waits": [], "lost": Counter(), "after": []}
    began = time.perf_counter()
    until = began + seconds

    async def live(number: int) -> None:
        chance, person = random.Random(number), None
        await asyncio.sleep(chance.random() * CLICK_SECONDS)
        while (asked_at := time.perf_counter()) < until:
            while True:
                try:
                    person = person or await come()
                    if number % 2:
                        await person.drop(chance.choice(photos), "mine.jpg")
                    else:
                        await person.pick(chance.choice(SAMPLES).name)
                    break
                except Exception as error:
                    outcome["lost"][number] += 1
                    outcome["after"].append(
                        f"{time.perf_counter() - began:.1f} s: {type(error).__name__}: {error}"[:150]
                    )
                    await leave(person)
                    person = None
                    await asyncio.sleep(RETRY_SECONDS)
            outcome["waits"].append(time.perf_counter() - asked_at)
            await asyncio.sleep(max(0.0, CLICK_SECONDS - (time.perf_counter() - asked_at)))
        await leave(person)

    async def come() -> Person:
        person = Person(url, "model=bundled")
        person.network_header = {"Cookie": f"playground_seat={secrets.token_hex(16)}"}
        await person.open()
        return person

    async def leave(person: Person | None) -> None:
        with suppress(Exception):
            person.hang_up()

    async def replace() -> None:
        await asyncio.sleep(seconds / 3)
        await asyncio.to_thread(servers[0].stop)
        await asyncio.to_thread(servers[0].start().wait)

    await asyncio.gather(replace(), *map(live, range(people)))
    return outcome
