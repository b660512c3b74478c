"""A class at once: real sessions over WebSockets against one server on this machine.

    python benchmarks/load.py                          # 300 people on the samples, then 30 with photos of their own
    python benchmarks/load.py --seconds 600            # each for ten minutes, to see whether memory grows

Everybody clicks every five seconds, at a time of their own. An answer is complete when the page's run is: the last byte
of the picture's queries and keys has arrived by then. The clients run on the same cores as the server.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import json
import os
import random
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser.server import running  # noqa: E402
from PIL import Image  # noqa: E402
from streamlit.proto.BackMsg_pb2 import BackMsg  # noqa: E402
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg  # noqa: E402
from websockets.asyncio.client import connect  # noqa: E402

from playground.samples import SAMPLES  # noqa: E402
from playground.scenes import generate  # noqa: E402

EVERY = 5.0  # seconds between one person's clicks
PATIENCE = 60.0
MOST = 2**28  # bytes of a message


class Person:
    """One session: opens the page, clicks on samples or drops photos, and waits for the answers."""

    def __init__(self, url: str):
        self.url, self.page, self.lens, self.fragment = url, "", "", ""

    async def open(self) -> None:
        address = self.url.replace("http", "ws") + "/_stcore/stream"
        self.socket = await connect(address, subprotocols=["streamlit"], max_size=MOST, open_timeout=PATIENCE)
        await self._run(BackMsg())

    async def pick(self, sample: str) -> float:
        return await self._trigger("pick", sample)

    async def drop(self, jpeg: bytes, name: str) -> float:
        photo = {"name": name, "data": base64.b64encode(jpeg).decode(), "stamp": time.time()}
        return await self._trigger("photo", photo)

    async def _trigger(self, event: str, value: object) -> float:
        message = BackMsg()
        message.rerun_script.fragment_id = self.fragment
        message.rerun_script.widget_states.widgets.add(id=self.lens, json_value="{}")
        state = message.rerun_script.widget_states.widgets.add()
        state.id = f"$$STREAMLIT_INTERNAL_KEY_{self.lens}__events"
        state.json_trigger_value = json.dumps([{"event": event, "value": value}])
        return await self._run(message)

    async def _run(self, message: BackMsg) -> float:
        """Seconds until the run that this message asked for has finished."""
        message.rerun_script.page_script_hash = self.page
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        answered = False
        async with asyncio.timeout(PATIENCE):
            while True:
                said = ForwardMsg.FromString(await self.socket.recv())
                kind = said.WhichOneof("type")
                if kind == "new_session":
                    self.page, answered = said.new_session.page_script_hash, True
                elif kind == "delta" and said.delta.new_element.WhichOneof("type") == "exception":
                    raise RuntimeError(said.delta.new_element.exception.message)
                elif kind == "delta" and said.delta.new_element.bidi_component.component_name == "attention_lens":
                    self.lens, self.fragment = said.delta.new_element.bidi_component.id, said.delta.fragment_id
                elif kind == "script_finished" and answered:
                    return time.perf_counter() - began

    async def close(self) -> None:
        await self.socket.close()


def megabytes(url: str) -> float:
    """What the server's process holds in memory."""
    port = f"\0--server.port\0{url.rsplit(':', 1)[1]}\0".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if port in (process / "cmdline").read_bytes():
                pages = int((process / "statm").read_text().split()[1])
                return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
        except (FileNotFoundError, ProcessLookupError):
            continue
    raise RuntimeError(f"There is no server at {url} any more.")


async def crowd(url: str, people: int, seconds: float, photos: list[bytes] | None) -> dict:
    """Everybody's answers, and what the server's memory did."""
    everybody = [Person(url) for _ in range(people)]
    for start in range(0, people, 20):  # a class does not come through the door in one millisecond
        await asyncio.gather(*(person.open() for person in everybody[start : start + 20]))
    waits, errors, memory = [], [], [megabytes(url)]
    until = time.perf_counter() + seconds

    async def live(number: int, person: Person) -> None:
        chance = random.Random(number)
        await asyncio.sleep(chance.random() * EVERY)
        while time.perf_counter() < until:
            try:
                if photos is None:
                    waits.append(await person.pick(chance.choice(SAMPLES).name))
                else:
                    waits.append(await person.drop(chance.choice(photos), f"{number}.jpg"))
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
                return
            await asyncio.sleep(max(0.0, EVERY - waits[-1]))

    async def watch() -> None:
        while time.perf_counter() < until:
            await asyncio.sleep(2)
            memory.append(megabytes(url))

    await asyncio.gather(watch(), *(live(i, person) for i, person in enumerate(everybody)))
    await asyncio.gather(*(person.close() for person in everybody), return_exceptions=True)
    return {"waits": waits, "errors": errors, "memory": memory}


def own_photos(count: int) -> list[bytes]:
    photos = []
    for i in range(count):
        out = io.BytesIO()
        Image.fromarray(generate.scene(generate.HELD_OUT + 10**6 + i, 448).image).save(out, "JPEG", quality=90)
        photos.append(out.getvalue())
    return photos


def row(title: str, seen: dict) -> str:
    waits, memory = sorted(seen["waits"]) or [float("nan")], seen["memory"]
    half = memory[len(memory) // 2]
    p95 = waits[int(0.95 * len(waits))]
    return (
        f"| {title} | {len(waits):,} | {statistics.median(waits) * 1e3:.0f} ms | {p95 * 1e3:.0f} ms | "
        f"{waits[-1] * 1e3:.0f} ms | {len(seen['errors'])} | {memory[0]:.0f} → {half:.0f} → {memory[-1]:.0f} MB, "
        f"at most {max(memory):.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--uploaders", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    print(
        "| who | answers | p50 | p95 | slowest | errors | memory: start → half → end |\n|---|---|---|---|---|---|---|"
    )
    photos = own_photos(100)
    for title, people, own in (
        ("the samples", options.people, None),
        ("photos of their own", options.uploaders, photos),
    ):
        with running() as url:
            seen = asyncio.run(crowd(url, people, options.seconds, own))
            print(row(f"{people} people on {title}", seen), flush=True)
            for error in sorted(set(seen["errors"]))[:5]:
                print(error, file=sys.stderr)


if __name__ == "__main__":
    main()
