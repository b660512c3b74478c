"""Measures for benchmarks/hold.py how long innocent visitors wait beside hostile clients. Two hundred pages are open at
one server. Half of the pages belong to people who click every five seconds, ten of these on their own photographs. A
tenth belongs to clients that are hostile in every known way. The other pages stay idle.
The header X-Forwarded-For simulates networks, because the server trusts it if it comes from this machine. The hostile
clients come from three networks, one of which has innocent visitors, too. For comparison, the same people first click
before the attacks. The hostile clients run in a separate process, so that their Python code does not distort the times.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import secrets
import time
import urllib.request
from collections.abc import Awaitable, Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from urllib.parse import urlsplit

from browser.server import Server
from crowd import CLICK_SECONDS, Person, drawn_photos, megabytes

from playground.samples import SAMPLES

PEOPLE, WITH_PHOTOS = 200, 10
INNOCENT_NETWORKS = ("198.51.100.1", "198.51.100.2", "2a41:4af8:4c17:4b8f::1")
HOSTILE_NETWORKS = ("198.51.100.1", "203.0.113.5", "2a41:4af8:4c17:4b90::")  # the last is a /64
CALM_SHARE = 0.25  # share of the time before the attacks begin


def hostile_address(number: int) -> str:
    home = HOSTILE_NETWORKS[number % len(HOSTILE_NETWORKS)]
    return f"{home}{secrets.randbelow(60000) + 1:x}" if home.endswith("::") else home


def largest_file_address(url: str) -> str:
    """The address of a sample's layers on a fine grid: an answer of several megabytes."""
    words = f"sample={SAMPLES[0].name}&model=bundled&detail=4"
    with urllib.request.urlopen(f"{url}/api/trace?{words}") as answer:
        return f"/api/trace/{json.load(answer)['digest']}/layers?{words}"


async def upload_in_crumbs(url: str, network: str) -> None:
    """Uploads a picture in pieces of one byte."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = [
        "POST /api/pictures HTTP/1.1", f"Host: {address.netloc}", f"Origin: {url}", f"X-Forwarded-For: {network}",
        f"X-Playground-Key: {secrets.token_urlsafe(24)}", "Transfer-Encoding: chunked", "", "",
    ]  # fmt: skip
    writer.write("\r\n".join(head).encode())
    while not reader.at_eof():
        writer.write(b"1\r\nx\r\n" * 10_000)
        await writer.drain()


async def read_nothing(url: str, network: str) -> None:
    """Asks for a large file on ten connections and reads none of it."""
    address = urlsplit(url)
    file, connections = await asyncio.to_thread(largest_file_address, url), []
    for _ in range(10):
        reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=2**10)
        request = f"GET {file} HTTP/1.1\r\nHost: {address.netloc}\r\nX-Forwarded-For: {network}\r\n\r\n"
        writer.write(request.encode())
        connections.append((reader, writer))
    await asyncio.sleep(30)
    for _, writer in connections:
        writer.close()


async def send_ahead(url: str, network: str) -> None:
    """Sends requests without a key and without waiting for answers."""
    address = urlsplit(url)
    lines = ["GET /api/trace?model=bundled HTTP/1.1", f"Host: {address.netloc}", f"X-Forwarded-For: {network}"]
    requests = "\r\n".join([*lines, "", ""]) * 200 + "\r\n".join([*lines, "Connection: close", "", ""])

    async def line() -> None:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(requests.encode())
        while await reader.read(2**16):
            pass
        writer.close()

    await asyncio.gather(*(line() for _ in range(10)), return_exceptions=True)


async def upload_with_new_key(url: str, network: str) -> None:
    """Uploads a photograph with a new key."""
    person = Person(url, network=network)
    await person.ask("/api/pictures", "POST", random.choice(PHOTOS), {"X-Playground-Name": "mine.jpg"})
    person.hang_up()


async def ask_together(url: str, network: str) -> None:
    """Six people of one network ask at once."""
    people = [Person(url, network=network) for _ in range(6)]
    await asyncio.gather(*(person.pick(random.choice(SAMPLES).name) for person in people), return_exceptions=True)
    for person in people:
        person.hang_up()


async def stall_upload(url: str, network: str, sends: int = 2**20) -> None:
    """Announces an upload of 30 MB, but sends only the first `sends` bytes."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = [
        "POST /api/pictures HTTP/1.1", f"Host: {address.netloc}", f"Origin: {url}", f"X-Forwarded-For: {network}",
        f"X-Playground-Key: {secrets.token_urlsafe(24)}", f"Content-Length: {30 * 2**20}", "", "",
    ]  # fmt: skip
    writer.write("\r\n".join(head).encode() + bytes(sends))
    try:
        async with asyncio.timeout(20):
            await reader.read()  # until the server closes the connection
    finally:
        writer.close()


ATTACKS: tuple[Callable[[str, str], Awaitable[None]], ...] = (
    upload_in_crumbs, read_nothing, send_ahead, upload_with_new_key, ask_together, stall_upload,
)  # fmt: skip
PHOTOS: list[bytes] = []


def be_hostile(url: str, seconds: float, count: int, results_pipe: Connection) -> None:
    """Runs in a separate process. Attacks in every way for these seconds, then sends the names of its attacks."""
    PHOTOS[:] = drawn_photos(10)
    until = time.perf_counter() + seconds

    async def keep_attacking(number: int) -> list[str]:
        names = []
        while time.perf_counter() < until:
            attack = ATTACKS[number % len(ATTACKS)]
            with suppress(Exception):  # the server refused the attack or cut it off
                async with asyncio.timeout(max(0.1, until - time.perf_counter())):
                    await attack(url, hostile_address(number // len(ATTACKS)))
            names.append(attack.__name__)
            await asyncio.sleep(0.1)
        return names

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*map(keep_attacking, range(count)))

    results_pipe.send([name for names in asyncio.run(all_of_them()) for name in names])


async def innocents(server: Server, minutes: float, share: float = 1) -> dict:
    """{"calm", "attacked": seconds until each answer before and during the attacks; "own calm", "own attacked": the
    same for people's own photographs; "late": seconds by which this process's own timer was late; "errors": texts;
    "memory": MB of the server; "tried": names of the attacks}"""
    photos = drawn_photos(10)
    clicking_count, hostile_count = round(share * PEOPLE / 2), max(len(ATTACKS), round(share * PEOPLE / 10))
    uploader_count = max(1, round(share * WITH_PHOTOS))
    idle_count = max(0, round(share * PEOPLE) - clicking_count - hostile_count)
    # The bundled model, because two cores are too slow for larger ones
    words_of_people = ["model=bundled"] * uploader_count + [""] * (clicking_count + idle_count - uploader_count)
    people = [
        Person(server.url, words, network=INNOCENT_NETWORKS[i % len(INNOCENT_NETWORKS)])
        for i, words in enumerate(words_of_people)
    ]
    for first_person in range(0, len(people), 20):
        await asyncio.gather(*(person.open() for person in people[first_person : first_person + 20]))
    await people[0].pick(SAMPLES[0].name)  # makes the server load the model
    await people[0].drop(photos[0], "mine.jpg")
    began, seconds = time.perf_counter(), 60 * minutes
    calm_until = began + CALM_SHARE * seconds
    phases = ("calm", "attacked", "own calm", "own attacked")
    report: dict[str, list] = {name: [] for name in (*phases, "errors", "memory", "tried", "late")}

    async def live(number: int, person: Person) -> None:
        chance = random.Random(number)
        await asyncio.sleep(chance.random() * CLICK_SECONDS)
        while time.perf_counter() < began + seconds:
            asked_at = time.perf_counter()
            try:
                if number < uploader_count:
                    wait_seconds = await person.drop(chance.choice(photos), "mine.jpg")
                else:
                    wait_seconds = await person.pick(chance.choice(SAMPLES).name)
            except Exception as error:
                report["errors"].append(f"{type(error).__name__}: {error}")
                wait_seconds = float("inf")
            kind = "own " if number < uploader_count else ""
            report[kind + ("calm" if asked_at < calm_until else "attacked")].append(wait_seconds)
            await asyncio.sleep(max(0.0, CLICK_SECONDS - (time.perf_counter() - asked_at)))

    async def attack() -> None:
        await asyncio.sleep(calm_until - time.perf_counter())
        context = multiprocessing.get_context("spawn")
        receiver, sender = context.Pipe(duplex=False)
        arguments = server.url, began + seconds - time.perf_counter(), hostile_count, sender
        process = context.Process(target=be_hostile, args=arguments, daemon=True)
        process.start()
        report["tried"] = await asyncio.to_thread(receiver.recv)
        await asyncio.to_thread(process.join)

    async def watch() -> None:
        while (woken_at := time.perf_counter()) < began + seconds:
            await asyncio.sleep(0.1)
            report["late"].append(time.perf_counter() - woken_at - 0.1)
            if len(report["late"]) % 20 == 0:
                report["memory"].append(megabytes([server]))

    clicking_tasks = [live(number, person) for number, person in enumerate(people[:clicking_count])]
    await asyncio.gather(watch(), attack(), *clicking_tasks)
    for person in people:
        person.hang_up()
    return report
