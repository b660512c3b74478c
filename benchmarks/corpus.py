"""Grows the corpus of hostile pictures in tests/hostile/kept/. Hypothesis builds new files for the given time. For each
kind and each outcome (opened, each sentence of a refusal, an ended decoder), the smallest file is kept.
tests/pictures/test_kept.py tries all of them again.

    python benchmarks/corpus.py --minutes 60

The exit status is 1 if a file ended the decoder's process, or took more than SLOW seconds of CPU time. Needs /proc.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
import zlib
from collections import Counter
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import fuzz_pictures  # noqa: E402
from fuzz import for_each  # noqa: E402
from hostile.pngs import png  # noqa: E402

from playground.errors import PlaygroundError  # noqa: E402
from playground.pictures import decoder as decoding  # noqa: E402
from playground.pictures.decoder import Killed, TookTooMuch, Worker  # noqa: E402

SMALL_PNG = png(pixels=zlib.compress(bytes(80_000)))
FOLDER = ROOT / "tests" / "hostile" / "kept"
FILES_PER_SEED = 300  # files for each seed
LARGEST_FILE = 2**15  # most bytes of a kept file
SLOW_SECONDS = 2.0  # most seconds of CPU time for decoding a file
MOST_PIXELS = 2**22

decoding.PATIENCE = 60.0  # so long that only CPU time decides about a file, even if the machine has other work


class Decoder:
    """Opens files in a decoding process. If a file ends the process, the next file gets a new one."""

    def __init__(self) -> None:
        self.worker = Worker()
        self.worker.decoded(SMALL_PNG, MOST_PIXELS)

    def core_seconds(self) -> float:
        """CPU seconds that the decoding process has taken so far."""
        fields = Path(f"/proc/{self.worker.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def try_file(self, data: bytes) -> tuple[str, float]:
        """(outcome of a file, CPU seconds of its decoding); infinite seconds if the file ended the process."""
        if not self.worker.can_go_on():
            self.worker.end()
            self.worker = Worker()
            self.worker.decoded(SMALL_PNG, MOST_PIXELS)  # waits until the new process has started
        seconds_before = self.core_seconds()
        try:
            width, height = self.worker.decoded(data, MOST_PIXELS).size
            outcome = f"opened, sides of {width.bit_length()} and {height.bit_length()} bits"
        except (Killed, TookTooMuch) as error:
            return f"ended: {error}", float("inf")
        except PlaygroundError as error:
            outcome = re.sub(r"\d[\d.,]*", "#", str(error))
        return outcome, (self.core_seconds() - seconds_before) if self.worker.can_go_on() else 0.0


class Corpus:
    def __init__(self, decoder: Decoder):
        self.decoder, self.counts = decoder, Counter()
        self.smallest: dict[tuple[str, str], Path] = {}  # (kind, outcome) -> the smallest file
        self.troubles: list[str] = []
        self.slowest = 0.0
        FOLDER.mkdir(exist_ok=True)
        for file in sorted(FOLDER.iterdir()):  # files of earlier runs
            self.keep(file.name.partition("-")[0], decoder.try_file(file.read_bytes())[0], file)

    def try_one(self, kind: str, data: bytes) -> None:
        outcome, seconds = self.decoder.try_file(data)
        self.counts[kind] += 1
        file = FOLDER / f"{kind}-{sha256(data).hexdigest()[:12]}"
        self.slowest = max(self.slowest, seconds)
        if seconds > SLOW_SECONDS:
            self.troubles.append(f"{file.name}: {outcome}, after {seconds:.1f} s of a core")
        smallest_file = self.smallest.get((kind, outcome))
        if len(data) <= LARGEST_FILE and (smallest_file is None or smallest_file.stat().st_size > len(data)):
            file.write_bytes(data)
            self.keep(kind, outcome, file)

    def keep(self, kind: str, outcome: str, file: Path) -> None:
        smallest_file = self.smallest.get((kind, outcome))
        if smallest_file and smallest_file != file:
            largest_file = max(smallest_file, file, key=lambda candidate: candidate.stat().st_size)
            file = smallest_file if largest_file is file else file
            largest_file.unlink()
        self.smallest[kind, outcome] = file


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=60)
    options = parser.parse_args()
    corpus, until, seed = Corpus(Decoder()), time.monotonic() + 60 * options.minutes, time.time_ns() % 10**9
    while time.monotonic() < until:
        for kind, strategy in fuzz_pictures.KINDS.items():
            for_each(strategy, FILES_PER_SEED, seed, lambda data, kind=kind: corpus.try_one(kind, data))
        seed += 1
    counts = ", ".join(f"{count:,} {kind}" for kind, count in corpus.counts.items())
    print(f"{options.minutes:g} minutes: {counts}; {len(corpus.smallest)} files are kept.")
    print(f"The slowest took {corpus.slowest:.2f} s of a core.")
    print("\n".join(corpus.troubles) or "Nothing ended the process, and nothing was slow.")
    return bool(corpus.troubles)


if __name__ == "__main__":
    sys.exit(main())
