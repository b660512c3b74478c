"""The cost of decoding uploads in a separate process: python benchmarks/decoding.py [--times 25]

Decodes photographs of 11 megapixels in this process, in a lasting worker process, and in a process that is started for
each photograph. The three take turns, so that other load on the machine affects all alike.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from pillow_heif.as_plugin import _save_heif

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from playground.pictures.decoder import Worker  # noqa: E402
from playground.pictures.images import decode_here  # noqa: E402
from playground.samples import named  # noqa: E402
from playground.serving import pictures  # noqa: E402
from playground.serving.pictures import KEPT_PIXELS, SHOWN_SIDE  # noqa: E402

SIDES = (4032, 2688)
Image.register_save("HEIF", _save_heif)


def files() -> dict[str, bytes]:
    smooth_picture = Image.open(named("meadow").path).convert("RGB").resize(SIDES)
    noisy_picture = Image.effect_noise(SIDES, 40).convert("RGB")
    pictures_and_kinds = {
        "JPEG, smooth": (smooth_picture, "JPEG"),
        "JPEG, noisy": (noisy_picture, "JPEG"),
        "PNG": (smooth_picture, "PNG"),
    }
    pictures_and_kinds |= {"AVIF": (smooth_picture, "AVIF"), "HEIC": (smooth_picture, "HEIF")}
    files = {}
    for name, (picture, kind) in pictures_and_kinds.items():
        picture.save(out := io.BytesIO(), kind, **({"quality": 92} if kind == "JPEG" else {}))
        files[name] = out.getvalue()
    return files


def in_this_process(data: bytes) -> None:
    decode_here(data, KEPT_PIXELS).thumbnail((2 * SHOWN_SIDE, 2 * SHOWN_SIDE))


def in_worker(data: bytes) -> None:
    pictures.decoded(data, KEPT_PIXELS, 2 * SHOWN_SIDE)


def in_new_process(data: bytes) -> None:
    with Worker() as worker:
        worker.decoded(data, KEPT_PIXELS, 2 * SHOWN_SIDE)


def milliseconds(decode: Callable[[bytes], None], data: bytes) -> float:
    began = time.perf_counter()
    decode(data)
    return (time.perf_counter() - began) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=25)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the beginning, {time.strftime('%Y-%m-%d')}\n")
    print(
        "| file | MB | here, ms | in the server's process for it | in one that is started for it |\n" + "|---" * 5 + "|"
    )
    for name, data in files().items():
        rounds = [
            [milliseconds(decode, data) for decode in (in_this_process, in_worker, in_new_process)]
            for _ in range(options.times + 1)
        ][1:]
        medians = [statistics.median(column) for column in zip(*rounds, strict=True)]
        print(
            f"| {name} | {len(data) / 1e6:.1f} | " + " | ".join(f"{median:.0f}" for median in medians) + " |",
            flush=True,
        )
    print(f"\nmedians of {options.times}; load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
