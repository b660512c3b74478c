"""Simulated people for benchmarks/hold.py. Each has a page of the app open and sends the requests of a browser.

Each person clicks every five seconds, all at different times. A click's answer counts as soon as a first picture could
be painted: when the displayed head's queries and keys have come. For a photograph in a large model, those of a coarse
first pass suffice. An answer is whole when all layers of the final pass have come. These clients cache nothing, so each
click asks for everything. The clients run on the same cores as the server.
"""

from __future__ import annotations

import asyncio
import io
import json
import random
import secrets
import time
from urllib.parse import parse_qsl, urlencode, urlsplit

import harness
from browser.server import Server
from PIL import Image

from playground.pack import unpack
from playground.pictures.images import open_image
from playground.samples import PHOTOGRAPHS, SAMPLES
from workshop.scenes import generate

CLICK_SECONDS = 5.0  # seconds between one person's clicks
PATIENCE = 60.0


class Refused(RuntimeError):
    """A refusal with the server's sentence."""


class Person:
    """A person with one open page and a connection for its requests. Persons with the same key are tabs of one
    browser."""

    def __init__(self, url: str, words: str = "", key: str = "", network: str = ""):
        self.headers = {"X-Forwarded-For": network} if network else {}
        self.url, self.words = url, dict(parse_qsl(words))
        self.key = key or secrets.token_urlsafe(24)
        self.whole_seconds: list[float] = []  # seconds until each answer was whole
        self._connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def open(self) -> None:
        await self.ask(f"/?{urlencode(self.words)}")

    async def pick(self, sample: str) -> float:
        words = {"sample": sample} | ({"model": self.words["model"]} if "model" in self.words else {})
        return await self._look(words, time.perf_counter())

    async def drop(self, jpeg: bytes, name: str) -> float:
        """Uploads a file and asks for its numbers, like the page; returns seconds. Uploads it again if the server has
        forgotten it."""
        began = time.perf_counter()
        while True:
            picture = json.loads(await self.ask("/api/pictures", "POST", jpeg, {"X-Playground-Name": name}))
            words = {"mine": picture["id"]} | ({"model": self.words["model"]} if "model" in self.words else {})
            try:
                return await self._look(words, began)
            except Refused as refusal:
                if '"forgotten"' not in str(refusal) or time.perf_counter() - began > PATIENCE:
                    raise

    async def _look(self, words: dict[str, str], began: float) -> float:
        """Seconds until the first picture could be painted. Fetches all layers before it returns."""
        trace = await self._trace(words)
        await self._layers(trace, heads="0")
        seconds = time.perf_counter() - began
        header, _ = unpack(await self._layers(trace))
        for layer in range(header["layers"]):
            if layer not in header["held"]:
                await self._layers(trace, layers=str(layer))
        self.whole_seconds.append(time.perf_counter() - began)
        return seconds

    async def _trace(self, words: dict[str, str]) -> dict:
        trace = json.loads(await self.ask(f"/api/trace?{urlencode(words)}"))
        return trace | {"words": {**words, "model": trace["model"]}}

    async def _layers(self, trace: dict, **parameters: str) -> bytes:
        detail = {"detail": str(trace["detail"])}
        return await self.ask(f"/api/trace/{trace['digest']}/layers?{urlencode(trace['words'] | detail | parameters)}")

    async def ask(self, path: str, method: str = "GET", body: bytes = b"", headers: dict | None = None) -> bytes:
        async with asyncio.timeout(PATIENCE):
            status, _, data = await self.request(path, method, body, headers or {})
        if status >= 400:
            raise Refused(f"{status}: {data[:300].decode(errors='replace')}")
        return data

    async def request(self, path: str, method: str, body: bytes, headers: dict) -> tuple[int, dict[str, str], bytes]:
        host = urlsplit(self.url).netloc
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"X-Playground-Key: {self.key}"]
        lines += [f"{name}: {value}" for name, value in {**self.headers, **headers}.items()]
        if method != "GET":
            lines += [f"Origin: {self.url}", f"Content-Length: {len(body)}"]
        for attempt in (1, 2):  # the server may have closed an idle connection
            try:
                if self._connection is None:
                    name, _, port = host.partition(":")
                    self._connection = await asyncio.open_connection(name, int(port), limit=2**20)
                reader, writer = self._connection
                writer.write("\r\n".join([*lines, "", ""]).encode() + body)
                head = await reader.readuntil(b"\r\n\r\n")
                break
            except (OSError, asyncio.IncompleteReadError):
                self._connection = None
                if attempt == 2:
                    raise
        status_line, *header_lines = head.decode().split("\r\n")
        response_headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in header_lines)
        }
        return int(status_line.split()[1]), response_headers, await self._body(reader, response_headers)

    async def _body(self, reader: asyncio.StreamReader, header_fields: dict[str, str]) -> bytes:
        if "content-length" in header_fields:
            return await reader.readexactly(int(header_fields["content-length"]))
        pieces = []
        while size := int(await reader.readline(), 16):  # a chunked body
            pieces.append(await reader.readexactly(size))
            await reader.readline()
        await reader.readline()
        return b"".join(pieces)

    def hang_up(self) -> None:
        if self._connection:
            self._connection[1].close()


def megabytes(servers: list[Server]) -> float:
    return harness.megabytes(*(pid for server in servers for pid in server.pids))


async def crowd(
    url: str, servers: list[Server], people: int, seconds: float, photos: list[bytes] | None = None, words: str = ""
) -> dict:
    """Lets this many people click for these seconds; returns waits, errors and the servers' memory."""
    persons = [Person(url, words) for _ in range(people)]
    for first_person in range(0, people, 20):  # in groups, because a class does not arrive all at once
        await asyncio.gather(*(person.open() for person in persons[first_person : first_person + 20]))
    await _click(persons[0], 0, photos, random.Random(-1))  # makes the server load torch and the model
    for person in persons:
        person.whole_seconds.clear()
    waits, errors, memory = [], [], [megabytes(servers)]
    until = time.perf_counter() + seconds

    async def live(number: int, person: Person) -> None:
        chance = random.Random(number)
        await asyncio.sleep(chance.random() * CLICK_SECONDS)
        while time.perf_counter() < until:
            try:
                waits.append(await _click(person, number, photos, chance))
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
                return
            await asyncio.sleep(max(0.0, CLICK_SECONDS - person.whole_seconds[-1]))

    async def watch() -> None:
        while time.perf_counter() < until:
            await asyncio.sleep(2)
            memory.append(megabytes(servers))

    await asyncio.gather(watch(), *(live(i, person) for i, person in enumerate(persons)))
    for person in persons:
        person.hang_up()
    whole_seconds = [seconds for person in persons for seconds in person.whole_seconds]
    return {"waits": waits, "whole": whole_seconds, "errors": errors, "memory": memory}


async def _click(person: Person, number: int, photos: list[bytes] | None, chance: random.Random) -> float:
    if photos is None:
        return await person.pick(chance.choice(SAMPLES).name)
    return await person.drop(chance.choice(photos), f"{number}.jpg")


def drawn_photos(count: int) -> list[bytes]:
    scenes = (generate.scene(generate.FIRST_HELD_OUT + 10**6 + i, 448) for i in range(count))
    return [jpeg(Image.fromarray(scene.image)) for scene in scenes]


def real_photos(count: int) -> list[bytes]:
    """Crops of 1600 × 1200 pixels of the downloaded photographs; an empty list if none is on this machine."""
    samples_here = [sample for sample in PHOTOGRAPHS if sample.is_here]
    chance, photos = random.Random(0), []
    for sample in samples_here and (chance.choice(samples_here) for _ in range(count)):
        image = open_image(sample.path)
        left, top = (round(chance.random() * side / 4) for side in image.size)
        crop = image.crop((left, top, left + image.width * 3 // 4, top + image.height * 3 // 4)).resize((1600, 1200))
        photos.append(jpeg(crop))
    return photos


def jpeg(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=90)
    return buffer.getvalue()
