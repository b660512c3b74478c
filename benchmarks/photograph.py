"""The memory of a large photograph, dropped in See: python benchmarks/photograph.py [--megapixels 48] [--browsers …]

In Chromium, WebKit and Firefox, in the app and in the folder, where the network runs in the browser. Prints the memory
of the page's process above what it was before the drop, the most and what stays after 6 s, and the seconds until the
first pass is drawn.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import tempfile
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
DROP_CHOSEN = """() => {
  const held = new DataTransfer();
  held.items.add(document.querySelector("#chosen").files[0]);
  const options = { bubbles: true, cancelable: true, dataTransfer: held };
  window.formerPicture = theLens().read().picture;
  document.body.dispatchEvent(new DragEvent("drop", options));
}"""


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


def page_processes(pid: int) -> Iterator[int]:
    """Of all browsers that this process has started."""
    for child in harness.children(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            command = Path(f"/proc/{child}/cmdline").read_text()
            if any(word in command for word in PAGE_PROCESSES):
                yield child
            yield from page_processes(child)


def megabytes(process: int, name: str) -> float:
    (kilobytes,) = re.findall(rf"^{name}:\s+(\d+)", Path(f"/proc/{process}/status").read_text(), re.M)
    return int(kilobytes) / 1e3


def drop(browser, url: str, path: Path) -> list[float]:
    browser.open(url)
    lens(browser, "r => r.waits === ''")
    browser.ask("() => document.body.insertAdjacentHTML('beforeend', '<input id=chosen type=file>')")
    browser.choose(path)
    time.sleep(3)  # until it is quiet
    before = {}
    for process in page_processes(os.getpid()):
        Path(f"/proc/{process}/clear_refs").write_text("5")  # the kernel's peak begins anew
        before[process] = megabytes(process, "VmRSS")
    began = time.monotonic()
    browser.ask(DROP_CHOSEN)
    lens(browser, "r => r.picture !== window.formerPicture && r.waits === ''")
    seconds = time.monotonic() - began
    time.sleep(6)  # what is decoded is kept for two seconds
    return [*(sum(megabytes(p, name) - start for p, start in before.items()) for name in ("VmHWM", "VmRSS")), seconds]


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
    harness.print_header("", "most, MB", "stays, MB", "s")
    with tempfile.TemporaryDirectory() as folder, hosts(options.hosts) as urls:
        path = Path(folder) / "mine.jpg"
        path.write_bytes(photograph(options.megapixels))
        for name in options.browsers:
            if name in BROWSERS and missing(name):
                print(f"{name}: {missing(name)}")
                continue
            for host in options.hosts:
                with started(name) as browser:
                    row = drop(browser, urls[host], path)
                print(f"| {name}, {host} | {' | '.join(f'{number:.3g}' for number in row)} |", flush=True)


if __name__ == "__main__":
    main()
