"""Opens thousands of mutated files and addresses: they may raise only PlaygroundErrors, crash nothing, leak no memory.

python benchmarks/fuzz.py [--count 1000] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from fuzz import addresses, for_each, images, packs  # noqa: E402

from playground.assets import PACKS  # noqa: E402
from playground.errors import PlaygroundError  # noqa: E402
from playground.pictures.images import open_image  # noqa: E402
from playground.serving import chosen  # noqa: E402
from playground.tracing import Trace  # noqa: E402


def megabytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def try_picture(data: bytes) -> str:
    try:
        open_image(data)
        return "opened"
    except PlaygroundError:
        return "refused in a sentence"


def try_address(words: dict[str, str]) -> str:
    return _refused_or(lambda: chosen.read(words, None))


def try_pack(data: bytes) -> str:
    return _refused_or(lambda: Trace.from_bytes(data))


def _refused_or(parse: Callable[[], object]) -> str:
    try:
        parse()
    except PlaygroundError:
        return "refused in a sentence"
    return "read"


TRIALS = {  # title -> (function that calls `each` with every example that it makes, function that tries an example)
    "pictures": (lambda count, seed, each: [each(data) for data in images(count, seed)], try_picture),
    "addresses": (lambda count, seed, each: [each(words) for words in addresses(count, seed)], try_address),
    "packs": (partial(for_each, packs((PACKS / "meadow-2.pack").read_bytes())), try_pack),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| what | outcomes | slowest | memory: a tenth in → end |\n|---|---|---|---|")
    for title, (examples, try_one) in TRIALS.items():
        times, outcome_counts, early_memory = [], Counter(), [0.0]

        def each(example, try_one=try_one, times=times, counts=outcome_counts, memory=early_memory) -> None:
            if len(times) == options.count // 10:
                memory[0] = megabytes()
            began = time.perf_counter()
            counts[try_one(example)] += 1
            times.append(time.perf_counter() - began)

        examples(options.count, options.seed, each)
        outcomes = ", ".join(f"{n:,} {outcome}" for outcome, n in outcome_counts.most_common())
        print(
            f"| {len(times):,} {title} | {outcomes} | {max(times):.2f} s "
            f"| {early_memory[0]:.0f} → {megabytes():.0f} MB |"
        )


if __name__ == "__main__":
    main()
