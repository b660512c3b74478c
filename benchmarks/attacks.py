"""Attacks for benchmarks/hold.py. All run against the same server, which must stay up and answer other clients."""

from __future__ import annotations

import asyncio
import io
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import floods
import newcomers
from browser.server import Server
from browser.stranger import ask
from crowd import Person, drawn_photos, megabytes
from hostile import profiles
from innocents import largest_file_address
from PIL import Image

LONGEST_WAIT = 12.0  # seconds that another person may wait during an attack, because a pass may take ten
ALLOWED_MB = 2050  # MB that deploy/README.md allows for traces, people's pictures, messages and one decoding together


@dataclass
class Outcome:
    sentence: str
    seconds: float
    memory: str
    holds: bool


class Watch:
    """Measures the server's memory and the time while an attack goes on."""

    def __init__(self, server: Server):
        self.server, self.memory_before = server, megabytes([server])
        self.most_memory, self._is_over, self.began = self.memory_before, threading.Event(), time.perf_counter()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while not self._is_over.wait(0.05):
            with suppress(FileNotFoundError, ProcessLookupError):
                self.most_memory = max(self.most_memory, megabytes([self.server]))

    def end(self, summary: str, holds: bool, most_growth: float = 1500) -> Outcome:
        self._is_over.set()
        holds = holds and self.most_memory - self.memory_before <= most_growth and self.server.process.poll() is None
        seconds = time.perf_counter() - self.began
        return Outcome(summary, seconds, f"{self.memory_before:.0f} → {self.most_memory:.0f} MB", holds)


async def _open_person(server: Server, words: str = "", key: str = "") -> Person:
    person = Person(server.url, words, key)
    await person.open()
    return person


def twenty_large_pictures(server: Server) -> Outcome:
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((4096, 4096)).convert("RGB").save(buffer, "WEBP", quality=5)
    watch = Watch(server)

    async def go() -> None:
        people = [await _open_person(server, "model=bundled") for _ in range(20)]
        await asyncio.gather(*(person.drop(buffer.getvalue(), "large.webp") for person in people))
        for person in people:
            person.hang_up()

    asyncio.run(go())
    return watch.end("all twenty were shown", True, ALLOWED_MB)


def greedy_profiles(server: Server) -> Outcome:
    """Uploads twenty pictures whose colour profiles would take minutes each, then an ordinary photograph."""
    file = io.BytesIO()
    empty_stages = profiles.stages(100_000, profiles.matrix_stage())
    Image.new("RGB", (64, 48)).save(file, "PNG", icc_profile=profiles.matrix_profile(D2B0=empty_stages))
    watch = Watch(server)

    async def go() -> float:
        people = [await _open_person(server, "model=bundled") for _ in range(21)]
        uploads = [asyncio.create_task(person.drop(file.getvalue(), "a.png")) for person in people[1:]]
        began = time.perf_counter()
        await people[0].drop(_jpeg(), "photograph.jpg")
        wait_seconds = time.perf_counter() - began
        await asyncio.gather(*uploads, return_exceptions=True)
        for person in people:
            person.hang_up()
        return wait_seconds

    wait_seconds = asyncio.run(go())
    return watch.end(f"an honest photograph waited {wait_seconds:.2f} s", wait_seconds < LONGEST_WAIT)


def ten_tabs(server: Server) -> Outcome:
    """Ten tabs of one browser ask for a large model's passes; meanwhile another visitor asks for a small model's."""
    watch, key = Watch(server), "of-one-browser-with-ten-tabs"

    async def go() -> float:
        tabs = [await _open_person(server, "model=ViT-S/16&sample=meadow", key) for _ in range(10)]
        stranger = await _open_person(server, "model=untrained")
        samples = ("flock", "portrait", "landscape", "still-life", "twins") * 2
        tasks = [asyncio.create_task(tab.pick(sample)) for tab, sample in zip(tabs, samples, strict=True)]
        await asyncio.sleep(0.2)
        wait_seconds = await stranger.pick("flock")
        await asyncio.gather(*tasks, return_exceptions=True)
        for person in (*tabs, stranger):
            person.hang_up()
        return wait_seconds

    wait_seconds = asyncio.run(go())
    return watch.end(f"a stranger waited {wait_seconds:.1f} s", wait_seconds < LONGEST_WAIT)


def _jpeg() -> bytes:
    buffer = io.BytesIO()
    Image.linear_gradient("L").convert("RGB").save(buffer, "JPEG")
    return buffer.getvalue()


def _wait_of_somebody_else(server: Server) -> float:
    async def visit() -> float:
        began = time.perf_counter()
        person = await _open_person(server)
        await person.pick("flock")
        person.hang_up()
        return time.perf_counter() - began

    return asyncio.run(visit())


def pipelined_requests(server: Server) -> Outcome:
    """Opens 300 connections that ask for a sample's numbers without a key, and ask again before the answer comes."""
    watch = Watch(server)
    return _judge_flood(watch, *floods.requests(server, floods.numbers_address(server, "layers")))


def long_work(server: Server) -> Outcome:
    """The flood of `pipelined_requests`, with requests that take many passes each."""
    watch = Watch(server)
    return _judge_flood(watch, *floods.requests(server, floods.numbers_address(server, "relevance", query="3,3")))


def _attack_by_flood(flood: Callable[[Server], tuple[float, float]]) -> Callable[[Server], Outcome]:
    def run(server: Server) -> Outcome:
        watch = Watch(server)
        return _judge_flood(watch, *flood(server))

    return run


def _judge_flood(watch: Watch, calm_p95: float, flood_p95: float) -> Outcome:
    waits_in_words = f"p95 of ten others was {calm_p95 * 1e3:.0f} ms in peace, {flood_p95 * 1e3:.0f} ms meanwhile"
    return watch.end(waits_in_words, flood_p95 <= floods.MOST_P95, 600)


def _attack_on_newcomers(
    attack: Callable[[Server], tuple[newcomers.Waits, newcomers.Waits]],
) -> Callable[[Server], Outcome]:
    def run(server: Server) -> Outcome:
        watch = Watch(server)
        calm_waits, attacked_waits = attack(server)
        is_held = newcomers.meets_bars(calm_waits, attacked_waits)
        return watch.end(f"newcomers waited {calm_waits} in peace; {attacked_waits} meanwhile", is_held, ALLOWED_MB)

    return run


def unread_downloads(server: Server) -> Outcome:
    """Starts five hundred downloads of a large file and reads none of them."""
    watch, connections = Watch(server), []
    request = f"GET {largest_file_address(server.url)} HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode()
    for _ in range(500):
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", server.port))
        line.sendall(request)
        connections.append(line)
    wait_seconds = _wait_of_somebody_else(server)
    for line in connections:
        line.close()
    return watch.end(f"somebody else waited {wait_seconds:.2f} s", wait_seconds < LONGEST_WAIT, 300)


def minted_keys(server: Server) -> Outcome:
    """Visitors of one network upload photographs with 300 new keys; then a visitor of another network uploads one."""
    watch = Watch(server)

    async def go() -> float:
        photos = drawn_photos(5)
        for first_number in range(0, 300, 10):
            people = [Person(server.url, network="203.0.113.5") for _ in range(10)]
            uploads = (
                person.ask("/api/pictures", "POST", photos[first_number % 5], {"X-Playground-Name": "x"})
                for person in people
            )
            await asyncio.gather(*uploads, return_exceptions=True)
            for person in people:
                person.hang_up()
        began, stranger = time.perf_counter(), Person(server.url, "model=bundled", network="198.51.100.7")
        await stranger.open()
        await stranger.drop(_jpeg(), "mine.jpg")
        stranger.hang_up()
        return time.perf_counter() - began

    wait_seconds = asyncio.run(go())
    return watch.end(
        f"somebody else's photograph was shown after {wait_seconds:.2f} s", wait_seconds < LONGEST_WAIT, ALLOWED_MB
    )


def end_by_signal(server: Server) -> Outcome:
    """Ends the server while it computes and while an upload stalls. This attack runs last."""
    watch = Watch(server)
    line = socket.create_connection(("127.0.0.1", server.port))
    key = b"X-Playground-Key: somebody-who-stalls-at-the-end\r\n"
    line.sendall(b"POST /api/pictures HTTP/1.1\r\nHost: localhost\r\n" + key + b"Content-Length: 1000000\r\n\r\nx")

    def look() -> None:
        with suppress(Exception):  # this request gets no answer
            ask(f"{server.url}/api/trace/{16 * '0'}/layers?model=ViT-B/14&sample=meadow&detail=3")

    threading.Thread(target=look, daemon=True).start()
    time.sleep(2)
    began = time.perf_counter()
    server.process.terminate()
    server.process.wait(60)
    seconds = time.perf_counter() - began
    line.close()
    outcome = watch.end(f"ended after {seconds:.1f} s", True)
    outcome.holds = seconds <= 5
    return outcome


ATTACKS: dict[str, Callable[[Server], Outcome]] = {
    "twenty people drop a picture of 4096²": twenty_large_pictures,
    "colour profiles of 100,000 stages": greedy_profiles,
    "ten tabs of one person, and a stranger": ten_tabs,
    "twenty pictures in pieces of one byte": _attack_by_flood(floods.bodies),
    "six hundred files that stall, each of another key": _attack_by_flood(floods.files),
    "300 connections that ask before they were answered": pipelined_requests,
    "the same with what takes many passes": long_work,
    "40 pictures of 62 megapixels from one house": _attack_on_newcomers(newcomers.costly_pictures),
    "costly figures from 40 networks": _attack_on_newcomers(newcomers.costly_figures),
    "500 downloads that nobody reads": unread_downloads,
    "photographs of 300 minted keys": minted_keys,
    "SIGTERM while it computes and an upload stalls": end_by_signal,
}


def run_attacks(server: Server, name_part: str = "") -> Iterator[tuple[str, Outcome]]:
    """Runs the attacks whose names contain `name_part`, and yields the name and the outcome of each."""
    asyncio.run(_warm(server))
    for name, attack in ATTACKS.items():
        if name_part not in name:
            continue
        began = time.perf_counter()
        try:
            yield name, attack(server)
        except Exception as error:  # go on with the next attack
            sentence = f"it broke off: {type(error).__name__}: {error}"
            yield name, Outcome(sentence, time.perf_counter() - began, "not measured", False)


async def _warm(server: Server) -> None:
    """Visits the server once, so that it loads torch and the bundled model."""
    person = await _open_person(server, "model=bundled")
    await person.pick("flock")
    person.hang_up()
