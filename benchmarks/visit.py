"""Bytes and seconds of a visit until a picture is seen, in a real Chromium with a real server.

    python benchmarks/visit.py [--times 3] [--few]

Prints a table with the bars. The server has its own home folder, but uses this machine's photographs and DINOv2. Bytes
are counted as they come over the network.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

import harness
from browser.server import serving
from browser.visitor import BEEN_HERE, FIND_LENS
from playwright.sync_api import Browser, Page

from playground.models import borrowed

PATIENCE = 120.0  # seconds
SLOW_LINE = {"latency": 100, "downloadThroughput": 4e6 / 8, "uploadThroughput": 4e6 / 8, "offline": False}  # 4 Mbit/s
READ_STATE = "() => { const r = window.theLens?.()?.read(); return r?.painted ? Number(r.waits === '') : -1; }"
# Chooses a layer in the page; returns the milliseconds until the frame that shows it.
SHOW_LAYER = """async (layer) => {
  const slider = inShadow('.lens [data-ref="layer"]');
  const began = performance.now();
  slider.value = layer;
  slider.dispatchEvent(new Event("input"));
  const drawn = (now) => now?.layer === layer && (now.painted || now.waits === "numbers");
  for (let now; !drawn(now); now = theLens().read()) await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""
SHOW_SAMPLE = """async (name) => {
  const button = inShadow(`[data-sample="${name}"]`);
  const before = JSON.stringify(theLens().read().row.slice(0, 9));
  const began = performance.now();
  button.click();
  for (;;) {
    const now = theLens().read();
    if (now.painted && JSON.stringify(now.row.slice(0, 9)) !== before) return performance.now() - began;
    await new Promise(requestAnimationFrame);
  }
}"""
IN_SHADOW = """
window.inShadow = (selector, root = document) => {
  const found = root.querySelector(selector);
  if (found) return found;
  for (const element of root.querySelectorAll("*")) {
    const inner = element.shadowRoot && window.inShadow(selector, element.shadowRoot);
    if (inner) return inner;
  }
  return null;
};
"""


class Wire:
    """Counts the bytes of a page."""

    def __init__(self, page: Page):
        self.bytes = 0
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.loadingFinished", self._count_answer)
        self.session = session

    def _count_answer(self, event: dict) -> None:
        self.bytes += event["encodedDataLength"]


def wait_for_state(page: Page, is_reached: Callable[[int], bool]) -> float:
    """Seconds until `is_reached` is true of the stage's state: 1 with all layers, 0 with some, −1 without a picture."""
    began = time.perf_counter()
    while time.perf_counter() - began < PATIENCE:
        try:
            if is_reached(page.evaluate(READ_STATE)):
                return time.perf_counter() - began
        except Exception:  # the page is still being loaded
            pass
        time.sleep(0.01)
    raise TimeoutError("nothing was painted")


def visit(chromium: Browser, url: str, slow: bool = False):
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    context.add_init_script(FIND_LENS + IN_SHADOW + BEEN_HERE)
    page = context.new_page()
    wire = Wire(page)
    if slow:
        wire.session.send("Network.emulateNetworkConditions", SLOW_LINE)
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    wait_for_state(page, lambda state: state >= 0)
    return context, page, wire, time.perf_counter() - began, began


def measure_visits(chromium: Browser, url: str) -> dict[str, float]:
    context, page, wire, first_seconds, began = visit(chromium, url)
    numbers = {"first": first_seconds, "first_bytes": wire.bytes / 1e6}
    wait_for_state(page, lambda state: state == 1)
    numbers["all"] = time.perf_counter() - began
    page.wait_for_load_state("networkidle")
    wire.bytes = 0
    reload_start = time.perf_counter()
    page.reload(wait_until="commit")
    wait_for_state(page, lambda state: state == 1)
    numbers["again_all"] = time.perf_counter() - reload_start
    numbers["again_bytes"] = wire.bytes / 1e6
    page.wait_for_load_state("networkidle")
    numbers["from_memory"] = statistics.median(page.evaluate(SHOW_LAYER, layer) for layer in (1, 3, 2, 4))
    other_samples = (
        ["coffee", "astronaut", "rocket"] if borrowed.is_here("photographs") else ["flock", "twins", "portrait"]
    )
    numbers["from_server"] = statistics.median(page.evaluate(SHOW_SAMPLE, name) for name in other_samples)
    context.close()
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--few", action="store_true", help="one visit only, to see that everything works")
    options = parser.parse_args()
    times = 1 if options.few else options.times
    environment = {"HF_HUB_CACHE": str(borrowed.hub_cache())}
    harness.print_machine()
    with harness.chromium() as chromium:
        start_seconds = []
        for _ in range(times):
            began = time.perf_counter()
            with serving(**environment) as server:
                context, *_ = visit(chromium, server.url)
                start_seconds.append(time.perf_counter() - began)
                context.close()
        with serving(**environment) as server:
            visit(chromium, server.url)[0].close()  # makes the server import torch
            time.sleep(0 if options.few else 15)
            rows = [measure_visits(chromium, server.url) for _ in range(times)]
            slow_seconds = []
            for _ in range(times):
                context, _, _, first_seconds, _ = visit(chromium, server.url, slow=True)
                slow_seconds.append(first_seconds)
                context.close()
    medians = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    harness.print_header("what", "measured", "bar")
    for title, value, bar in (
        ("bytes until the first picture", f"{medians['first_bytes']:.2f} MB", "≤ 2.2 MB"),
        ("a reload, everything", f"{medians['again_bytes']:.3f} MB", "≤ 0.02 MB"),
        ("all layers of the first picture there, first visit", f"{medians['all']:.1f} s", "≤ 4 s"),
        ("the same, reload", f"{medians['again_all']:.2f} s", "≤ 0.5 s"),
        ("page → first picture", f"{medians['first']:.2f} s", "≤ 1.0 s"),
        ("process start → first picture", f"{statistics.median(start_seconds):.1f} s", "≤ 3 s"),
        ("page → first picture at 4 Mbit/s, 100 ms", f"{statistics.median(slow_seconds):.1f} s", "≤ 4 s"),
        ("another layer, from memory", f"{medians['from_memory']:.0f} ms", "≤ 16 ms"),
        ("another sample, from the server", f"{medians['from_server']:.0f} ms", "≤ 150 ms"),
    ):
        print(f"| {title} | {value} | {bar} |")
    print(f"\nmedians of {times}; load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
