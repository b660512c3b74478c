"""Simulates a class of 300 phones behind one address, one of them hostile. Measures the time from *Reveal* until the
last waiting phone shows the answer, and the server's memory for each phone.

    python benchmarks/class.py --phones 300 --rounds 5

The hostile phone guesses for other questions, asks without a pause, sends bodies of a megabyte and tries other codes.
The bar is a 95th percentile of 300 ms over the rounds, with server and phones on two cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from pathlib import Path

import h11
import harness  # noqa: F401  it puts the package on the path
from browser.server import Server, serving

QUESTION = {
    "asks": {"en": "How many layers of 3×3 until our square hears the other eye?", "de": "Wie viele Schichten?"},
    "guess": {"kind": "Number", "low": 1, "high": 34},
    "of": "cat",
}
MOST_MS, MOST_KB = 300, 30  # bars: until the last phone shows the answer; the server's memory for a phone


class Connection:
    """One persistent connection, like a browser's."""

    def __init__(self, server: Server, key: str, **headers: str):
        self.server, self.headers = server, {"Host": server.address, "X-Playground-Key": key, **headers}
        self.reader: asyncio.StreamReader | None = None

    async def ask(self, path: str, body: dict | bytes | None = None) -> tuple[int, dict]:
        """(status, answer). If the connection breaks, asks again over a new one; if both break, the status is 0."""
        for _ in range(2):
            try:
                return await self._ask(path, body)
            except (OSError, h11.RemoteProtocolError, h11.LocalProtocolError, ValueError):
                self.close()
        return 0, {}

    async def _ask(self, path: str, content: dict | bytes | None) -> tuple[int, dict]:
        if self.reader is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.server.port)
            self.protocol = h11.Connection(h11.CLIENT)
        body = content if isinstance(content, bytes) else b"" if content is None else json.dumps(content).encode()
        headers = [*self.headers.items(), ("Content-Length", str(len(body)))]
        method = "GET" if content is None else "POST"
        request = h11.Request(method=method, target=path, headers=headers)
        self.writer.write(self.protocol.send(request) + self.protocol.send(h11.Data(data=body)))
        self.writer.write(self.protocol.send(h11.EndOfMessage()))
        status, text = 0, b""
        while not isinstance(event := self.protocol.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                self.protocol.receive_data(await self.reader.read(2**16))
            elif isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                text += event.data
            elif isinstance(event, h11.ConnectionClosed):
                raise ConnectionError("the server has closed the connection")
        if self.protocol.their_state is h11.DONE and self.protocol.our_state is h11.DONE:
            self.protocol.start_next_cycle()
        else:
            self.close()
        return status, json.loads(text or b"{}")

    def close(self) -> None:
        if self.reader is not None:
            self.writer.close()
        self.reader = None


class Phone:
    def __init__(self, server: Server, code: str, number: int):
        self.number, self.path = number, f"/api/classes/{code}"
        self.listener, self.speaker = (Connection(server, f"{number:024}") for _ in range(2))
        self.phase, self.phase_at = "", 0.0  # the phase that the phone shows, and the time at which this phase came
        self.refusals = 0

    async def live(self) -> None:
        version, guessed_turn = "", None
        while True:
            status, state = await self.listener.ask(f"{self.path}?after={version}")
            if status != 200:
                self.refusals += 1
                await asyncio.sleep(1)
                continue
            if state["ended"]:
                return
            version, question = state["version"], state["question"]
            if question and question["phase"] != self.phase:
                self.phase, self.phase_at = question["phase"], time.perf_counter()
            turn = question and (question["number"], question["turn"])
            if question and question["phase"] == "asks" and guessed_turn != turn:
                guessed_turn = turn
                self.guessing = asyncio.create_task(self.guess(*turn))  # the phone goes on listening meanwhile

    async def guess(self, number: int, turn: int) -> None:
        await asyncio.sleep(self.number % 100 / 100)  # all phones guess within a second, faster than people
        guess = {"question": number, "turn": turn, "guess": 1 + self.number % 34}
        while (await self.speaker.ask(f"{self.path}/guesses", guess))[0] in (0, 429, 503):
            self.refusals += 1
            await asyncio.sleep(1)


async def attack(server: Server, code: str) -> None:
    """Sends hostile requests without a pause: guesses for other questions, a huge body, other codes, a flood."""
    line = Connection(server, "evil" * 6)
    path = f"/api/classes/{code}"
    for round_number in range(10**9):
        for address, content in (
            (f"{path}/guesses", {"question": 99, "turn": 1, "guess": 3}),
            (f"{path}/guesses", {"question": 1, "turn": 1, "guess": 10**9}),
            (f"{path}/guesses", b'{"guess": "' + b"x" * 10**6),
            (f"{path}/lecturer", {"do": "show"}),
            (f"/api/classes/{'ACDEF'[round_number % 5] * 5}", None),
            (path, None),
        ):
            await line.ask(address, content)
            await asyncio.sleep(0)


async def measure(server: Server, phones: int, rounds: int) -> tuple[list[float], list[float], float, int]:
    """Two lists with a number for each round, ms from Reveal to the last phone and CPU ms of the server; then kB of the
    server's memory per phone, and the number of guesses that the server refused at first."""
    key = "lecturer" * 3
    _, class_record = await Connection(server, key).ask("/api/classes", {"root": f"{server.url}/"})
    lecturer = Connection(server, key, **{"X-Playground-Lecturer": class_record["secret"]})
    path = f"/api/classes/{class_record['code']}/lecturer"

    async def wait_for_guesses(count: int) -> None:
        while (await lecturer.ask(path))[1]["question"]["answered"][-1] < count:
            await asyncio.sleep(0.1)

    await asyncio.sleep(3)  # the server still has work of its own after its start
    memory_before = memory_kb(server)
    phones_in_class = [Phone(server, class_record["code"], number) for number in range(phones - 1)]
    tasks = [asyncio.create_task(phone.live()) for phone in phones_in_class]
    while (await lecturer.ask(path))[1]["phones"] < len(phones_in_class):
        await asyncio.sleep(0.1)
    await asyncio.sleep(1)
    kb_per_phone = (memory_kb(server) - memory_before) / len(phones_in_class)
    hostile_task = asyncio.create_task(attack(server, class_record["code"]))
    waits, cpu_times = [], []
    for scene in range(1, rounds + 1):
        await lecturer.ask(path, {"do": "ask", "scene": {"name": str(scene)}, "question": QUESTION})
        await wait_for_guesses(len(phones_in_class))
        await asyncio.sleep(0.5)
        shown_at, cpu_before = time.perf_counter(), processor_ms(server)
        await lecturer.ask(path, {"do": "show"})
        while not all(phone.phase == "shows" and phone.phase_at > shown_at for phone in phones_in_class):
            await asyncio.sleep(0.01)
        waits.append(1000 * (max(phone.phase_at for phone in phones_in_class) - shown_at))
        cpu_times.append(processor_ms(server) - cpu_before)
    hostile_task.cancel()
    await lecturer.ask(path, {"do": "end"})
    await asyncio.gather(*tasks, hostile_task, return_exceptions=True)
    return waits, cpu_times, kb_per_phone, sum(phone.refusals for phone in phones_in_class)


def memory_kb(server: Server) -> float:
    """The resident memory of the server's process in kB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return float(status.partition("VmRSS:")[2].split()[0])


def processor_ms(server: Server) -> float:
    """The CPU time of the server so far in ms, which other programs on the machine do not change."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--phones", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    with serving() as server:
        waits, cpu_times, kb_per_phone, refusal_count = asyncio.run(
            measure(server, options.phones, min(12, options.rounds))
        )
    p95 = sorted(waits)[min(len(waits) - 1, int(0.95 * len(waits)))]
    print(f"{options.phones} phones, one of them hostile, {len(waits)} times revealed")
    print(f"until the last who waits: median {statistics.median(waits):.0f} ms, p95 {p95:.0f} ms of {MOST_MS}")
    print(
        f"the server's processor meanwhile: median {statistics.median(cpu_times):.0f} ms; load {os.getloadavg()[0]:.1f}"
    )
    print(f"memory: {kb_per_phone:.1f} kB a phone of {MOST_KB}; {refusal_count} answers of the others were refused")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
