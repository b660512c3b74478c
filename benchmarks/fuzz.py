"""A thousand mutated pictures and a thousand mutated addresses: no exception but ours, no crash, no growth.

python benchmarks/fuzz.py [--count 1000] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from fuzz import addresses, images  # noqa: E402

from playground.errors import PlaygroundError  # noqa: E402
from playground.images import open_image  # noqa: E402
from playground.serving import address, session  # noqa: E402


def megabytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def one_picture(data: bytes) -> str:
    try:
        open_image(data)
        return "opened"
    except PlaygroundError:
        return "refused in a sentence"


def one_address(words: dict[str, str]) -> str:
    _, trouble = session.start(*address.read(words))
    return "said what was wrong" if trouble else "gave a page"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| what | outcomes | slowest | memory: a tenth in → end |\n|---|---|---|---|")
    for title, make, try_one in (("pictures", images, one_picture), ("addresses", addresses, one_address)):
        seen, slowest, before = Counter(), 0.0, 0.0
        for i, given in enumerate(make(options.count, options.seed)):
            if i == options.count // 10:
                before = megabytes()
            began = time.perf_counter()
            seen[try_one(given)] += 1
            slowest = max(slowest, time.perf_counter() - began)
        outcomes = ", ".join(f"{n:,} {outcome}" for outcome, n in seen.most_common())
        print(f"| {options.count:,} {title} | {outcomes} | {slowest:.2f} s | {before:.0f} → {megabytes():.0f} MB |")


if __name__ == "__main__":
    main()
