"""Measures visits to the playground without a server: python benchmarks/site_visits.py [--times 5]

A real Chromium opens the folder that `site` writes, on a plain file server. The script measures the first picture and
its bytes, a second visit without a network, the times from a user's photograph to its first drawn layer and to all
layers, camera pictures per second, and memory. It also prints the page's CPU time, because the machine may have other
work.
"""

from __future__ import annotations

import argparse
import io
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import harness
import numpy as np
from browser.on_the_site import DATA_SAVER, SiteVisitor
from browser.own_picture import HAND_OVER
from browser.without_server import plain_server
from PIL import Image
from playwright.sync_api import Browser

from playground.serving import models
from playground.ui import site

MB = 1e6
NOTE_FIRST_PICTURE = """(() => {
  const look = () => {
    if (window.theLens?.()?.read()?.painted) window.firstPicture = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()"""
AWAIT_FIRST_PICTURE = """new Promise((go) => {
  const look = () => (window.firstPicture ? go(window.firstPicture) : setTimeout(look, 5));
  look();
})"""
# Drops a photograph; returns the times until its first drawn layer, and until all layers on the last grid.
DROP_PHOTOGRAPH = (
    """async (given) => {
  const before = theLens().read().picture;
  const began = performance.now();
  ("""
    + HAND_OVER
    + """)(given);
  const times = {};
  return new Promise((go) => {
    const look = () => {
      const r = theLens().read();
      const now = performance.now() - began;
      if (r.picture !== before && !times.seen) {
        times.seen = true;
        requestAnimationFrame(() => setTimeout(() => (times.shown = performance.now() - began))); // it is drawn
      }
      const whole = r.picture !== before && r.layersHeld.length === given[4] && r.grid[0] * r.grid[1] >= given[5];
      if (whole && times.shown) go({ ...times, all: now });
      else setTimeout(look, 10);
    };
    look();
  });
}"""
)


class SiteVisitor(SiteVisitor):
    def processes(self) -> list[int]:
        """The ids of the browser's page processes. Only one page is open at a time."""
        cdp = self.context.browser.new_browser_cdp_session()
        processes = cdp.send("SystemInfo.getProcessInfo")["processInfo"]
        cdp.detach()
        return [process["id"] for process in processes if process["type"] == "renderer"]

    def cpu_seconds(self) -> float:
        """CPU seconds of all threads of the page's processes."""
        return sum(harness.processor_seconds(pid) for pid in self.processes())

    def memory(self) -> float:
        """The private memory of the page's processes in MB, after garbage collection: the lowest value within 8 s."""
        self.context.new_cdp_session(self.page).send("HeapProfiler.collectGarbage")
        until, megabytes = time.monotonic() + 8, []
        while time.monotonic() < until:
            megabytes.append(sum(_private_megabytes(pid) for pid in self.processes()))
            time.sleep(0.5)
        return min(megabytes)


def _private_megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1000


def print_first_pictures(browser: Browser, url: str, folder: Path, times: int) -> None:
    first_times, later_times, sizes = [], [], {}
    for _ in range(times):
        visitor = SiteVisitor(browser, url)
        visitor.context.add_init_script(NOTE_FIRST_PICTURE + DATA_SAVER)
        visitor.arrive()
        first_times.append(visitor.page.evaluate(AWAIT_FIRST_PICTURE))
        sizes = visitor.first_bytes(folder)
        visitor.wait_until_kept()
        visitor.page.goto("about:blank")
        visitor.context.set_offline(True)
        visitor.arrive()
        later_times.append(visitor.page.evaluate(AWAIT_FIRST_PICTURE))
        visitor.close()
    print(f"first picture: {_median_seconds(first_times)} (0.7), {sum(sizes.values()) / MB:.2f} MB (0.6)")
    print(f"second visit, without a network: {_median_seconds(later_times)}")


def print_photographs(browser: Browser, url: str, model: str, times: int) -> None:
    visitor = SiteVisitor(browser, url).arrive(
        f"#model={model}&sample={'chelsea' if model == models.PHOTOGRAPH_MODEL else 'portrait'}"
    )
    if model == models.PHOTOGRAPH_MODEL:
        visitor.page.evaluate("theLens().update({ view: { layer: 6, what: 'similarity' } })")
        visitor.page.locator(".attention-notice button", has_text="fetch it").click()
        visitor.until("r => r.what === 'similarity' && r.map")
    layers, patches = (12, 600) if model == models.PHOTOGRAPH_MODEL else (6, 150)
    timings, cpu_times = [], []
    for data in _made_photographs(times + 1):
        cpu_before = visitor.cpu_seconds()
        timings.append(
            visitor.page.evaluate(DROP_PHOTOGRAPH, ["drop", "image/jpeg", data, "made.jpg", layers, patches])
        )
        cpu_times.append(visitor.cpu_seconds() - cpu_before)
    first_timings, *later_timings = timings
    first_layer_times, all_layer_times = (
        [times_of_one[moment] for times_of_one in later_timings] for moment in ("shown", "all")
    )
    median_cpu = statistics.median(cpu_times[1:])
    print(
        f"{model}: photograph → first drawn layer {_median_seconds(first_layer_times)}, "
        f"all layers of its last grid {_median_seconds(all_layer_times)}, "
        f"{median_cpu:.2f} s CPU; the very first one {first_timings['shown'] / 1000:.2f} s, "
        f"{first_timings['all'] / 1000:.2f} s"
    )
    visitor.close()


def print_memory(browser: Browser, url: str, count: int) -> None:
    empty_visit = SiteVisitor(browser, url)
    empty_visit.page.goto(f"{url}/404.html")
    empty_memory = empty_visit.memory()
    empty_visit.close()
    visitor = SiteVisitor(browser, url).arrive("#model=bundled&sample=portrait")
    memories = {}
    for number, data in enumerate(_made_photographs(count), 1):
        visitor.page.evaluate(DROP_PHOTOGRAPH, ["drop", "image/jpeg", data, f"{number}.jpg", 6, 150])
        if number in (1, count):
            memories[number] = visitor.memory()
    (_, first_memory), *later_memories = memories.items()
    print(
        f"memory above an empty page ({empty_memory:.0f} MB), one photograph in ours: "
        f"{first_memory - empty_memory:.0f} MB (150)"
    )
    for number, memory_after in later_memories:
        print(f"after {number} photographs: {memory_after - first_memory:+.0f} MB (+20)")
    visitor.close()


def _made_photographs(count: int) -> Iterator[str]:
    """Random pictures of 6 megapixels, each a JPEG in base64."""
    from base64 import b64encode

    random = np.random.default_rng(0)
    for _ in range(count):
        noise = Image.fromarray(random.integers(0, 255, (24, 24, 3), dtype=np.uint8))
        buffer = io.BytesIO()
        noise.resize((3000, 2000), Image.Resampling.BICUBIC).save(buffer, "JPEG", quality=90)
        yield b64encode(buffer.getvalue()).decode()


def _median_seconds(milliseconds: list[float]) -> str:
    return f"{statistics.median(milliseconds) / 1000:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--photographs", type=int, default=50, help="after how many memory is read again")
    arguments = parser.parse_args()
    names = [name for name in ("bundled", models.PHOTOGRAPH_MODEL) if models.is_here(name)]
    with tempfile.TemporaryDirectory() as folder_name:
        folder = site.write(Path(folder_name) / "site", "/", names, named_samples=())
        with plain_server(folder) as url, harness.chromium() as browser:
            print_first_pictures(browser, url, folder, arguments.times)
            for name in names:
                print_photographs(browser, url, name, arguments.times)
            print_memory(browser, url, arguments.photographs)


if __name__ == "__main__":
    main()
