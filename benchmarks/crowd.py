"""People for benchmarks/hold.py: real sessions over WebSockets against a server of the app.

Everybody clicks every five seconds, at a time of their own. An answer is there when its picture is, with its queries
and keys; for a photograph in a large model that is the coarse first look. It is whole when the page's last run for it
has ended. The clients run on the same cores as the server.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import sys
import time
from pathlib import Path
from uuid import uuid4

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser.server import Server  # noqa: E402
from browser.stranger import ask, form  # noqa: E402
from PIL import Image  # noqa: E402
from streamlit.proto.BackMsg_pb2 import BackMsg  # noqa: E402
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg  # noqa: E402
from websockets.asyncio.client import connect  # noqa: E402

from playground.images import open_image  # noqa: E402
from playground.samples import PHOTOGRAPHS, SAMPLES  # noqa: E402
from playground.scenes import generate  # noqa: E402

EVERY = 5.0  # seconds between one person's clicks
PATIENCE = 60.0
MOST = 2**28  # bytes of a message
FOR_ANOTHER_RUN = ForwardMsg.FINISHED_EARLY_FOR_RERUN


class Person:
    """One session: opens the page, clicks on samples or drops photos, and waits for the answers. Those with the same
    cookie are tabs of one browser."""

    def __init__(self, url: str, words: str = "", cookie: str = ""):
        self.url, self.words, self.page, self.lens, self.fragment = url, words, "", "", ""
        self.cookie = cookie
        self.said: list[str] = []
        self.whole: list[float] = []  # seconds until each answer was whole

    async def open(self) -> None:
        if not self.cookie:
            _, headers = await asyncio.to_thread(ask, f"{self.url}/_stcore/health")
            self.cookie = headers["set-cookie"].partition(";")[0]
        self.cookies = {"Cookie": self.cookie, "X_Xsrftoken": self.cookie.partition("=")[2]}
        self.socket = await connect(
            self.url.replace("http", "ws") + "/_stcore/stream",
            subprotocols=["streamlit"], max_size=MOST, open_timeout=PATIENCE,
            additional_headers={"Cookie": self.cookie},
        )  # fmt: skip
        await self._run(BackMsg())

    async def pick(self, sample: str) -> float:
        return await self._trigger("pick", sample)

    async def drop(self, jpeg: bytes, name: str) -> float:
        """As the page does it: the file goes first, then the message that names it."""
        began, file = time.perf_counter(), uuid4().hex
        body, kind = form(jpeg, name)
        url = f"{self.url}/_stcore/upload_file/{self.session}/{file}"
        status, _ = await asyncio.to_thread(ask, url, "PUT", body, Content_Type=kind, **self.cookies)
        if status != 204:
            raise RuntimeError(f"the upload was answered {status}")
        brought = time.perf_counter() - began
        waited = await self._trigger("photo", {"name": name, "file": file, "stamp": time.time()})
        self.whole[-1] += brought
        return brought + waited

    async def _trigger(self, event: str, value: object) -> float:
        message = BackMsg()
        message.rerun_script.fragment_id = self.fragment
        message.rerun_script.widget_states.widgets.add(id=self.lens, json_value="{}")
        state = message.rerun_script.widget_states.widgets.add()
        state.id = f"$$STREAMLIT_INTERNAL_KEY_{self.lens}__events"
        state.json_trigger_value = json.dumps([{"event": event, "value": value}])
        return await self._run(message)

    async def _run(self, message: BackMsg) -> float:
        """Seconds until the answer to this message was there. It is heard to its end: the next one begins after it."""
        message.rerun_script.page_script_hash = self.page
        message.rerun_script.query_string = self.words
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        answered, there = False, None
        async with asyncio.timeout(PATIENCE):
            while True:
                said = ForwardMsg.FromString(await self.socket.recv())
                kind = said.WhichOneof("type")
                if kind == "new_session":
                    self.page, answered = said.new_session.page_script_hash, True
                    self.session = said.new_session.initialize.session_id
                elif kind == "delta" and said.delta.new_element.WhichOneof("type") == "toast":
                    self.said.append(said.delta.new_element.toast.body)
                elif kind == "delta" and said.delta.new_element.WhichOneof("type") == "exception":
                    raise RuntimeError(said.delta.new_element.exception.message)
                elif kind == "delta" and said.delta.new_element.bidi_component.component_name == "attention_lens":
                    self.lens, self.fragment = said.delta.new_element.bidi_component.id, said.delta.fragment_id
                    there = there or time.perf_counter() - began
                elif kind == "script_finished" and answered and said.script_finished != FOR_ANOTHER_RUN:
                    self.whole.append(time.perf_counter() - began)
                    return there or self.whole[-1]

    async def close(self) -> None:
        await self.socket.close()


def megabytes(servers: list[Server]) -> float:
    """What the servers' processes hold in memory together."""
    statuses = (Path(f"/proc/{server.process.pid}/statm").read_text() for server in servers)
    return sum(int(status.split()[1]) * os.sysconf("SC_PAGE_SIZE") for status in statuses) / 1e6


async def crowd(
    url: str, servers: list[Server], people: int, seconds: float, photos: list[bytes] | None = None, words: str = ""
) -> dict:
    """Everybody's answers, and what the servers' memory did."""
    everybody = [Person(url, words) for _ in range(people)]
    for start in range(0, people, 20):  # a class does not come through the door in one millisecond
        await asyncio.gather(*(person.open() for person in everybody[start : start + 20]))
    await _click(everybody[0], 0, photos, random.Random(-1))  # brings torch and the model into memory
    for person in everybody:
        person.whole.clear()
    waits, errors, memory = [], [], [megabytes(servers)]
    until = time.perf_counter() + seconds

    async def live(number: int, person: Person) -> None:
        chance = random.Random(number)
        await asyncio.sleep(chance.random() * EVERY)
        while time.perf_counter() < until:
            try:
                waits.append(await _click(person, number, photos, chance))
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
                return
            await asyncio.sleep(max(0.0, EVERY - person.whole[-1]))

    async def watch() -> None:
        while time.perf_counter() < until:
            await asyncio.sleep(2)
            memory.append(megabytes(servers))

    await asyncio.gather(watch(), *(live(i, person) for i, person in enumerate(everybody)))
    await asyncio.gather(*(person.close() for person in everybody), return_exceptions=True)
    whole = [seconds for person in everybody for seconds in person.whole]
    return {"waits": waits, "whole": whole, "errors": errors, "memory": memory}


async def _click(person: Person, number: int, photos: list[bytes] | None, chance: random.Random) -> float:
    if photos is None:
        return await person.pick(chance.choice(SAMPLES).name)
    return await person.drop(chance.choice(photos), f"{number}.jpg")


def drawn_photos(count: int) -> list[bytes]:
    scenes = (generate.scene(generate.HELD_OUT + 10**6 + i, 448) for i in range(count))
    return [jpeg(Image.fromarray(scene.image)) for scene in scenes]


def real_photos(count: int) -> list[bytes]:
    """Parts of the borrowed photographs, as large as a phone's; empty where these are not on this machine."""
    here = [sample for sample in PHOTOGRAPHS if sample.is_here]
    chance, photos = random.Random(0), []
    for sample in here and (chance.choice(here) for _ in range(count)):
        image = open_image(sample.path)
        left, top = (round(chance.random() * side / 4) for side in image.size)
        part = image.crop((left, top, left + image.width * 3 // 4, top + image.height * 3 // 4)).resize((1600, 1200))
        photos.append(jpeg(part))
    return photos


def jpeg(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG", quality=90)
    return out.getvalue()
