"""The time from dropping a photograph to a picture that answers the cursor, in the bundled model and in DINOv2 S,
for the settings that were tried: python benchmarks/upload.py [--times 5]

Drops a photograph of 11 megapixels into a real Chromium with a real server. Also prints the server's CPU time, because
the machine may have other work.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser.chromium import find, install  # noqa: E402
from browser.own_picture import HAND_OVER  # noqa: E402
from browser.server import Server, serving  # noqa: E402
from browser.visitor import LAUNCH, Visitor  # noqa: E402

from playground.models import borrowed  # noqa: E402
from playground.samples import named, samples  # noqa: E402

SIDES = (4032, 2688)
NO_FIRST_LOOK = "traces.FIRST_LOOK_ABOVE = float('inf')"
WAYS = (  # (title, model, code that changes the server, number of pictures that appear one after the other)
    ("ours, 14 × 14", "bundled", "", 1),
    ("ours, 28 × 28", "bundled",
     f"from playground.serving import chosen\nchosen.detail = lambda *_: 2\n{NO_FIRST_LOOK}", 1),
    ("DINOv2 S, 37 × 37 as in its training", "dinov2-small",
     f"models.CUT[models.REAL] = (14, (518, 518))\n{NO_FIRST_LOOK}", 1),
    ("DINOv2 S, 28 × 28", "dinov2-small", NO_FIRST_LOOK, 1),
    ("DINOv2 S, first 14 × 14, then 28 × 28", "dinov2-small", "traces.FIRST_LOOK = 14", 2),
    ("**DINOv2 S, first 20 × 20, then 28 × 28: the app**", "dinov2-small", "", 2),
)  # fmt: skip

# Fills window.seen with the moments (ms after the drop) at which a picture with another grid was painted. Before
# the drop, the page takes 150 ms to make a file out of this script's data. Each drop has its own list, so that an
# observer left over from an earlier drop adds nothing to it.
WATCH = """(pictures) => {
  let began = performance.now();
  addEventListener("drop", () => (began = performance.now()), { capture: true, once: true });
  const grid = () => (theLens().read().painted ? theLens().read().grid.join("×") : "");
  let last = grid();
  const seen = (window.seen = []);
  const look = () => {
    const now = grid();
    if (now && now !== last) seen.push(performance.now() - began);
    last = now || last;
    if (seen.length < pictures && seen === window.seen) requestAnimationFrame(look);
  };
  look();
}"""


def photograph(number: int) -> bytes:
    """A JPEG that differs for each number. Portrait and landscape alternate, so that the grid changes."""
    photographs = [sample for sample in samples() if sample.kind == "photograph"]
    image = Image.open((photographs[0] if photographs else named("meadow")).path).convert("RGB")
    image = image.resize(SIDES if number % 2 else SIDES[::-1])
    image.putpixel((0, 0), (number * 40 % 256, 0, 0))
    image.paste((number * 40 % 256, 0, 0), (0, 0, 64, 64))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=92)
    return buffer.getvalue()


def cpu_seconds(server: Server) -> float:
    user, system = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def measure(chromium, model: str, change: str, pictures: int, times: int) -> list[list[float]]:
    """For each photograph: seconds to the first picture, seconds to the last picture, CPU seconds of the server."""
    with tempfile.TemporaryDirectory() as folder:
        lines = "from playground.serving import models, traces\n" + change
        Path(folder, "sitecustomize.py").write_text(lines if change else "")
        environment = {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "HF_HUB_CACHE": str(borrowed.hub_cache())}
        with serving(**environment) as server:
            # Opens a sample with a model that is not its default, so that the model stays chosen for the photographs.
            sample = samples()[0].name if model == "bundled" else "meadow"
            visitor = Visitor(chromium, server.url).open(f"sample={sample}&model={model}")
            seconds = []
            for number in range(times + 1):
                data = base64.b64encode(photograph(number)).decode()
                visitor.rest()
                cpu_before = cpu_seconds(server)
                visitor.page.evaluate(WATCH, pictures)
                visitor.page.evaluate(HAND_OVER, ["drop", "image/jpeg", data, f"{number}.jpg"])
                visitor.page.wait_for_function(f"() => window.seen.length >= {pictures}")
                paint_times = visitor.page.evaluate("window.seen")
                visitor.rest()
                seconds.append(
                    [paint_times[0] / 1e3, paint_times[pictures - 1] / 1e3, cpu_seconds(server) - cpu_before]
                )
            visitor.close()
    return seconds[1:]  # without the first photograph, for which the server imports torch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the beginning, {time.strftime('%Y-%m-%d')}\n")
    print("| way | drop → first picture, s | → final picture, s | server's CPU, s |\n|---|---|---|---|")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find() or install(), args=LAUNCH)
        for name, model, server_code, pictures in WAYS:
            results = measure(chromium, model, server_code, pictures, options.times)
            medians = [statistics.median(column) for column in zip(*results, strict=True)]
            print(f"| {name} | " + " | ".join(f"{median:.2f}" for median in medians) + " |", flush=True)
        chromium.close()
    print(f"\nmedians of {options.times}; load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
