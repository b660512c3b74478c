"""The memory of a large photograph, dropped in See: python benchmarks/photograph.py [--megapixels 48] [--browsers …]

In Chromium, WebKit and Firefox, in the app and in the folder, where the network runs in the browser. Prints the memory
of the page's process (its proportional share, PSS, read each 20 ms) above what it was before the drop: the most, and
what stays; the same for the browser's other processes; and the seconds until all layers of the finest grid are there.
"""

from __future__ import annotations

import argparse
import io
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import harness
import numpy as np
from browser.others import BROWSERS, lens, missing, other_browser
from browser.server import serving
from browser.without_server import plain_server
from PIL import Image

from playground.models import borrowed
from playground.samples import samples
from playground.ui import site

PAGE_PROCESSES = ("WebKitWebProcess", "--type=renderer", "-isForBrowser")  # in the command lines of their processes
BROWSER_NAMES = ("MiniBrowser", "WebKit", "chrom", "firefox")
DROP_CHOSEN = """() => {
  const held = new DataTransfer();
  held.items.add(document.querySelector("#chosen").files[0]);
  const options = { bubbles: true, cancelable: true, dataTransfer: held };
  window.formerPicture = theLens().read().picture;
  document.body.dispatchEvent(new DragEvent("drop", options));
}"""
IS_WHOLE = "r => r.picture !== window.formerPicture && r.waits === '' && r.grid[0] * r.grid[1] > {} && r.row.length > 0"


def photograph(megapixels: float) -> bytes:
    """A borrowed photograph, as large as asked, with a camera's noise."""
    path = [sample.path for sample in samples() if sample.kind == "photograph"][-1]
    height = round((megapixels * 1e6 * 3 / 4) ** 0.5)
    image = Image.open(path).convert("RGB").resize((round(height * 4 / 3), height))
    pixels = np.asarray(image)
    noisy = np.concatenate(
        [
            (pixels[y : y + 500] + np.random.default_rng(y).normal(0, 8, pixels[y : y + 500].shape)).clip(0, 255)
            for y in range(0, height, 500)
        ]
    ).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noisy).save(buffer, "JPEG", quality=92)
    return buffer.getvalue()


class Chromium:
    """Chromium with the face of browser.others."""

    name = "chromium"

    def __init__(self, page):
        self.page = page
        self.open = page.goto

    def ask(self, function, *arguments):
        return self.page.evaluate(f"(words) => ({function})(...words)", arguments)

    def choose(self, path: Path) -> None:
        self.page.locator("#chosen").set_input_files(path)


@contextmanager
def started(name: str) -> Iterator:
    if name != "chromium":
        with other_browser(name) as browser:
            yield browser
        return
    with harness.chromium() as chromium:
        yield Chromium(chromium.new_page())


def megabytes() -> tuple[float, float]:
    """Of the page's processes, and of all others of the browser."""
    sums = [0.0, 0.0]
    ids = [os.getpid()]
    for each in ids:
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            ids += harness.children(each)
            command = Path(f"/proc/{each}/cmdline").read_bytes().decode()
            if any(name in command.split("\0")[0] for name in BROWSER_NAMES):
                kilobytes = Path(f"/proc/{each}/smaps_rollup").read_text().split("\nPss:")[1].split()[0]
                sums[not any(word in command for word in PAGE_PROCESSES)] += int(kilobytes) / 1e3
    return sums[0], sums[1]


def drop(browser, url: str, path: Path, least_patches: int) -> list[float]:
    browser.open(url)
    lens(browser, "r => r.waits === ''")
    browser.ask("() => document.body.insertAdjacentHTML('beforeend', '<input id=chosen type=file>')")
    browser.choose(path)
    time.sleep(3)  # until it is quiet
    before, seen, ended = megabytes(), [], threading.Event()

    def sample() -> None:
        while not ended.wait(0.02):
            seen.append((time.monotonic() - began, *megabytes()))

    began = time.monotonic()
    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        browser.ask(DROP_CHOSEN)
        lens(browser, IS_WHOLE.format(least_patches))
        seconds = time.monotonic() - began
        time.sleep(6)
    finally:
        ended.set()
        sampler.join()
    if trail := os.environ.get("TRAIL"):
        Path(trail).write_text("\n".join(f"{t:.2f} {a - before[0]:.0f} {b - before[1]:.0f}" for t, a, b in seen))
    most = [max(row[i] for row in seen) - before[i - 1] for i in (1, 2)]
    after = [row - before[i] for i, row in enumerate(megabytes())]
    return [most[0], after[0], most[1], after[1], seconds]


@contextmanager
def hosts(names: list[str]) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        if "folder" in names:
            site.write(Path(folder), "/", ["bundled", "dinov2-small"], named_samples=("meadow",), lessons=())
        with (
            plain_server(Path(folder)) as plain,
            serving(PYTHONPATH=str(harness.ROOT), HF_HUB_CACHE=str(borrowed.hub_cache())) as server,
        ):
            yield {"folder": f"{plain}/#model=bundled&sample=meadow", "app": f"{server.url}/?sample=meadow"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megapixels", type=float, default=48)
    parser.add_argument("--browsers", nargs="+", default=["chromium", *BROWSERS])
    parser.add_argument("--hosts", nargs="+", default=["folder", "app"])
    options = parser.parse_args()
    harness.print_machine()
    harness.print_header("", "page: most, MB", "stays", "rest of the browser: most, MB", "stays", "seconds")
    with tempfile.TemporaryDirectory() as folder, hosts(options.hosts) as urls:
        path = Path(folder) / "mine.jpg"
        path.write_bytes(photograph(options.megapixels))
        for name in options.browsers:
            if name in BROWSERS and missing(name):
                print(f"{name}: {missing(name)}")
                continue
            for host in options.hosts:
                with started(name) as browser:
                    row = drop(browser, urls[host], path, 300)
                print(f"| {name}, {host} | {' | '.join(f'{number:.3g}' for number in row)} |", flush=True)


if __name__ == "__main__":
    main()
