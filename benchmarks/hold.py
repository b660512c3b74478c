"""Tests real servers on this machine under load, under attack and in long use (soak tests).

    python benchmarks/hold.py                  # everything, in nine minutes
    python benchmarks/hold.py --soak 30        # the soaks, in the bundled model and in DINOv2, half an hour each
    python benchmarks/hold.py --only attacks   # or load, soak, innocents
    python benchmarks/hold.py --only attacks --named costly   # only attacks with this word in their name
    python benchmarks/hold.py --innocents 10   # ten minutes beside hostile clients instead of one
    python benchmarks/hold.py --quick          # a tenth of the people for seconds, to try the script

The exit status is 1 if a bar was missed or an attack succeeded. Two replicas behind the proxy need nginx, and the rows
of DINOv2 need `python -m playground download dinov2-small photographs`; without these, their parts are left out. A part
that fails is reported, and the rest goes on. Ctrl-C and SIGTERM end the servers and keep what was printed.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attacks
import harness
from browser.server import Server
from browser.test_proxy import NGINX, Proxy
from crowd import crowd, drawn_photos, real_photos
from innocents import innocents

from playground.models import borrowed
from playground.samples import samples

MOST_P95 = 1.0  # most seconds of the waits' 95th percentile
MOST_MEGABYTES = 6000  # most memory of one process: the container's limit
MOST_GROWTH = 1.05  # factor by which memory may grow from the middle third of a soak test to the last third
MOST_WAIT_GROWTH = 2.0  # factor by which innocents' waits may grow beside hostile clients
PEOPLE, UPLOADERS, DINO_UPLOADERS = 300, 30, 10
# With the model in the address, no photograph opens in DINOv2
BUNDLED_WORDS = f"model=bundled&sample={samples()[0].name}"

troubles: list[str] = []


class ImageServer(Server):
    """A server started as in the container's image: nginx with the app behind it."""

    @property
    def command(self) -> list[str]:
        return ["deploy/start.py", "--port", str(self.port)]

    @property
    def pids(self) -> list[int]:
        return [self.process.pid, *harness.children(self.process.pid)]


@contextmanager
def serving(count: int = 1, kind: type[Server] = Server) -> Iterator[tuple[str, list[Server]]]:
    """(url, servers) of one server, or of several behind the proxy."""
    environment = {
        "PLAYGROUND_BORROWED": str(borrowed.cache_folder()),
        "PLAYGROUND_CACHE_MB": "1300 250 480",  # as in compose.yaml
    }
    with tempfile.TemporaryDirectory() as folder:
        homes = [Path(folder) / f"{number}" for number in range(count)]
        for home in homes:
            home.mkdir()
        servers, proxy = [kind(home, **environment).start() for home in homes], None
        try:
            for server in servers:
                server.wait()
            proxy = Proxy(Path(folder), servers).start() if count > 1 else None
            yield (proxy.url if proxy else servers[0].url), servers
        finally:
            if proxy:
                proxy.process.terminate()
                proxy.process.wait(10)
            for server in servers:
                server.stop()


def judge(is_met: bool, sentence: str) -> None:
    if not is_met:
        troubles.append(sentence)


def print_load(title: str, report: dict, processes: int = 1) -> None:
    waits, page_times, memory = sorted(report["waits"]), sorted(report["whole"]), report["memory"]
    p95, whole_p95 = harness.p95(waits), harness.p95(page_times)
    print(
        f"| {title} | {len(waits):,} | {statistics.median(waits or [p95]) * 1e3:.0f} ms | {p95 * 1e3:.0f} ms | "
        f"{max(waits, default=p95) * 1e3:.0f} ms | {whole_p95 * 1e3:.0f} ms | {len(report['errors'])} | "
        f"{memory[0]:.0f} → {memory[len(memory) // 2]:.0f} → {memory[-1]:.0f} MB, at most {max(memory):.0f} |",
        flush=True,
    )
    judge(p95 <= MOST_P95, f"{title}: p95 is {p95:.2f} s")
    judge(not report["errors"], f"{title}: {len(report['errors'])} errors, such as {report['errors'][:1]}")
    judge(max(memory) <= processes * MOST_MEGABYTES, f"{title}: {max(memory):.0f} MB")


def attempt(title: str, work: Callable[[], None]) -> None:
    """Runs a part; if it raises, prints the error and counts it as a failure, so that other parts still run."""
    try:
        work()
    except Exception as error:
        print(f"{title} broke off: {type(error).__name__}: {error}", flush=True)
        judge(False, f"{title} broke off: {type(error).__name__}: {error}")


def load(seconds: float, share: float = 1) -> None:
    print(
        "| who | answers | p50 | p95 | slowest | whole: p95 | errors | memory: start → half → end |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    photos, real_pictures = drawn_photos(100), real_photos(60)
    people, uploaders, dino_uploaders = (max(1, round(share * count)) for count in (PEOPLE, UPLOADERS, DINO_UPLOADERS))
    rows = [
        (f"{people} people on the samples", people, "", None, 1),
        (f"{uploaders} people on photos of their own, in ours", uploaders, BUNDLED_WORDS, photos, 1),
    ]
    if real_pictures:
        title = f"{dino_uploaders} people on photos of their own, in DINOv2"
        rows.append((title, dino_uploaders, "model=dinov2-small", real_pictures, 1))
    if NGINX:
        rows.append((f"{people} people on the samples, two replicas behind nginx", people, "", None, 2))
    for title, count, words, own_photos, processes in rows:
        attempt(title, lambda: run_load(title, count, words, own_photos, processes, seconds))  # noqa: B023  # runs now


def run_load(
    title: str, people: int, words: str, own_photos: list[bytes] | None, processes: int, seconds: float
) -> None:
    with serving(processes) as (url, servers):
        print_load(title, asyncio.run(crowd(url, servers, people, seconds, own_photos, words)), processes)


def attack(name_part: str = "") -> None:
    print("| attack | what came of it | seconds | memory: before → most |\n|---|---|---|---|")
    with serving(kind=ImageServer if NGINX else Server) as (_, (server,)):
        for name, outcome in attacks.run_attacks(server, name_part):
            print(f"| {name} | {outcome.sentence} | {outcome.seconds:.1f} | {outcome.memory} |", flush=True)
            judge(outcome.holds, f"{name}: {outcome.sentence}")


def soak(minutes: float, share: float = 1) -> None:
    """For these minutes, people upload photographs that are not in the server's caches."""
    people = max(1, round(share * UPLOADERS))
    real_pictures = real_photos(round(share * 400))
    for words in (BUNDLED_WORDS, "model=dinov2-small") if real_pictures else (BUNDLED_WORDS,):
        run_soak(words, people, minutes, real_pictures or drawn_photos(round(share * 400)))


def run_soak(words: str, people: int, minutes: float, photos: list[bytes]) -> None:
    with serving() as (url, servers):
        report = asyncio.run(crowd(url, servers, people, 60 * minutes, photos, words))
    memory = report["memory"]
    third = len(memory) // 3
    middle_memory, final_memory = max(memory[third : 2 * third] or memory), max(memory[2 * third :])
    title = f"Soak of {minutes:g} minutes, {people} people on photos of their own, {words}"
    print(
        f"{title}: {len(report['waits']):,} answers, {len(report['errors'])} errors; {memory[0]:.0f} MB at the start, "
        f"at most {middle_memory:.0f} in the middle third, {final_memory:.0f} in the last.",
        flush=True,
    )
    judge(not report["errors"], f"{title}: {len(report['errors'])} errors, such as {report['errors'][:1]}")
    judge(minutes < 10 or final_memory <= MOST_GROWTH * middle_memory, f"{title}: memory still grows in the last third")
    judge(final_memory <= MOST_MEGABYTES, f"{title}: {final_memory:.0f} MB")


def hold_innocents(minutes: float, share: float = 1) -> None:
    with serving() as (_, (server,)):
        report = asyncio.run(innocents(server, minutes, share))
    memory = report["memory"]
    third = len(memory) // 3
    middle_memory, final_memory = max(memory[third : 2 * third] or memory), max(memory[2 * third :])
    attack_counts = ", ".join(f"{way} {report['tried'].count(way)}" for way in sorted({*report["tried"]}))
    print(f"Innocents among the hostile, {minutes:g} minutes:")
    for subject, prefix in (("samples", ""), ("photographs of their own", "own ")):
        calm_waits, attacked_waits = (sorted(report[prefix + phase]) for phase in ("calm", "attacked"))
        calm_p95, attacked_p95 = harness.p95(calm_waits), harness.p95(attacked_waits)
        print(
            f"{subject}: p95 {calm_p95 * 1e3:.0f} ms in peace ({len(calm_waits)} answers), "
            f"{attacked_p95 * 1e3:.0f} ms under attack "
            f"({len(attacked_waits)});"
        )
        judge(
            attacked_p95 <= MOST_WAIT_GROWTH * calm_p95,
            f"innocents wait {attacked_p95 / calm_p95:.1f} × as long as in peace for {subject}",
        )
    delays = sorted(report["late"])
    print(
        f"What asks for them was late itself by {harness.p95(delays) * 1e3:.0f} ms (p95). "
        f"{len(report['errors'])} errors; memory at most {middle_memory:.0f} MB in the middle third, "
        f"{final_memory:.0f} in the last. "
        f"Tried: {attack_counts}.",
        flush=True,
    )
    judge(not report["errors"], f"innocents: {len(report['errors'])} errors, such as {report['errors'][:1]}")
    judge(
        minutes < 10 or final_memory <= MOST_GROWTH * middle_memory, "innocents: memory still grows in the last third"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--soak", metavar="MINUTES", type=float, default=1)
    parser.add_argument("--seconds", type=float, default=45, help="of each row of the load table")
    parser.add_argument("--innocents", metavar="MINUTES", type=float, default=1)
    parser.add_argument("--only", choices=["load", "attacks", "soak", "innocents"])
    parser.add_argument("--named", default="", help="part of the attacks' names")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    share = 0.1 if options.quick else 1
    seconds, minutes = (8, 0.2) if options.quick else (options.seconds, options.soak)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C, so that the servers end too
    sections = {
        "load": lambda: load(seconds, share),
        "attacks": lambda: attack(options.named),
        "innocents": lambda: hold_innocents(options.innocents, share),
        "soak": lambda: soak(minutes, share),
    }
    try:
        for name, run_section in sections.items():
            if options.only in (None, name):
                attempt(name, run_section)
                print(flush=True)
    except KeyboardInterrupt:
        troubles.append("it was stopped before it had come to its end")
    print("\n".join(f"It does not hold: {sentence}" for sentence in troubles) or "It holds.")
    return bool(troubles)


if __name__ == "__main__":
    sys.exit(main())
