"""What the scripts here share: the helpers of tests/ on the path, one Chromium, and what /proc says of a process."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "benchmarks")]


@contextmanager
def chromium() -> Iterator:
    from browser.chromium import find, install
    from browser.visitor import LAUNCH
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find() or install(), args=LAUNCH)
        yield browser
        browser.close()


def print_machine() -> None:
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {time.strftime('%Y-%m-%d')}\n")


def print_header(*columns: str) -> None:
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)


def p95(numbers: Sequence[float]) -> float:
    return sorted(numbers)[int(0.95 * len(numbers))] if numbers else float("nan")


def processor_seconds(pid: int) -> float:
    """Of a process and of all that it started, also of those that have ended."""
    ids, ticks = [pid], 0
    for each in ids:
        with suppress(FileNotFoundError, ProcessLookupError):
            ticks += sum(map(int, Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[11:15]))
            ids += children(each)
    return ticks / os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[int]:
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in files for child in file.read_text().split()]


def megabytes(*pids: int | str) -> float:
    """The resident memory of these processes together."""
    pages = (int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6
