"""The cost of a photograph of somebody's own, dropped in See: python benchmarks/upload.py [FILE …]

Starts the app and drops each photograph into a fresh page in a real Chromium: the files, or the photographs among the
samples, as large as a camera makes them. Prints the seconds from the drop to the photograph, to the first attention,
which is the photograph's best moment, and to the finest grid; then the processor seconds of all of the server's
processes and the requests until everything is quiet.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import statistics
import time
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import harness
from browser.own_picture import HAND_OVER
from browser.seeing import SeeVisitor
from browser.server import Server, serving
from PIL import Image
from playwright.sync_api import Browser

from playground.models import borrowed
from playground.samples import samples

PIXELS = 11e6  # of a sample's photograph, made as large as a camera makes it
MODEL = "dinov2-small"
COLUMNS = ("photograph, s", "first attention, s", "finest grid, s", "processor, s", "requests")

# Fills window.seen with the seconds from the drop to the photograph, to the first drawn row of it, and to each grid.
# The page takes a while to make a file out of this script's data, so the clock begins with the event.
RECORD = """() => {
  let began = 0;
  addEventListener("drop", () => (began = performance.now()), { capture: true, once: true });
  const seen = (window.seen = { grids: [] });
  const former = theLens().read().picture;
  const look = (now) => {
    requestAnimationFrame(look);
    const state = theLens()?.read();
    const seconds = (performance.now() - began) / 1e3;
    if (lensRoot.classList.contains("expects")) seen.photograph ??= seconds;
    if (!state?.painted || state.picture === former || lensRoot.classList.contains("expects")) return;
    seen.photograph ??= seconds;
    if (!lensRoot.classList.contains("untouched")) seen.attention ??= seconds;
    const grid = state.grid.join("×");
    if (grid !== seen.grid) seen.grids.push(seconds);
    seen.grid = grid;
  };
  look();
}"""


def photographs(files: list[Path]) -> list[tuple[str, bytes]]:
    if files:
        return [(file.name, file.read_bytes()) for file in files]
    found = [sample for sample in samples() if sample.kind == "photograph"]
    return [(f"{sample.name}.jpg", enlarged(sample.path)) for sample in found]


def enlarged(path: Path) -> bytes:
    image = Image.open(path).convert("RGB")
    factor = (PIXELS / (image.width * image.height)) ** 0.5
    buffer = io.BytesIO()
    image.resize((round(image.width * factor), round(image.height * factor))).save(buffer, "JPEG", quality=92)
    return buffer.getvalue()


def wait_until_warm(server: Server) -> None:
    while True:
        try:
            urllib.request.urlopen(f"{server.url}/readyz").close()
            break
        except HTTPError:
            time.sleep(0.1)
    before = -1.0
    now = harness.processor_seconds(server.process.pid)
    while now - before > 0.02:  # samples are prepared behind everybody
        time.sleep(1)
        before, now = now, harness.processor_seconds(server.process.pid)


def drop(chromium: Browser, server: Server, name: str, data: bytes) -> list[float]:
    """One number for each of COLUMNS."""
    visitor = SeeVisitor(chromium, server.url)
    try:
        visitor.page.goto(f"{server.url}/")
        visitor.until("r => r.waits === ''")
        visitor.page.wait_for_load_state("networkidle")
        requests: list[str] = []
        visitor.page.on("request", lambda request: requests.append(request.url))
        seconds_before = harness.processor_seconds(server.process.pid)
        visitor.page.evaluate(RECORD)
        visitor.page.evaluate(HAND_OVER, ["drop", "image/jpeg", base64.b64encode(data).decode(), name])
        visitor.page.wait_for_function("() => window.seen.attention")
        visitor.until("r => r.waits === ''")
        visitor.page.wait_for_load_state("networkidle")
        seen = visitor.page.evaluate("window.seen")
        assert visitor.read()["model"] == MODEL, visitor.read()["model"]
        times = [seen["photograph"], seen["attention"], seen["grids"][-1]]
        return [*times, harness.processor_seconds(server.process.pid) - seconds_before, len(requests)]
    finally:
        visitor.close()


def measure(chromium: Browser, dropped: list[tuple[str, bytes]]) -> list[list[float]]:
    with serving(PYTHONPATH=str(harness.ROOT), HF_HUB_CACHE=str(borrowed.hub_cache())) as server:
        wait_until_warm(server)
        drop(chromium, server, *dropped[-1])  # the first is slower than all later ones
        return [drop(chromium, server, *photograph) for photograph in dropped]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    dropped = photographs(options.files)
    harness.print_machine()
    harness.print_header("", *COLUMNS)
    with harness.chromium() as chromium:
        rows = measure(chromium, dropped)
    for (name, _), row in zip(dropped, rows, strict=True):
        print(f"| {name} | {' | '.join(f'{number:.4g}' for number in row)} |")
    medians = [statistics.median(column) for column in zip(*rows, strict=True)]
    print(f"| **DINOv2 S: the app**, median | {' | '.join(f'{median:.3g}' for median in medians)} |")
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
