"""Forty costly pictures from one house, and the photographs of others meanwhile: how long do these wait, live?

    python benchmarks/costly_pictures.py

A legal PNG of 62 megapixels in 16 bits has half a megabyte, and takes a core for five seconds. Networks are played by
X-Forwarded-For, which the server believes of this machine.
"""

from __future__ import annotations

import statistics
import struct
import sys
import threading
import time
import urllib.request
import zlib
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "benchmarks")]

from browser.server import serving  # noqa: E402
from crowd import drawn_photos  # noqa: E402

SIDE, COSTLY, OTHERS, TIMES = 7900, 40, 6, 2


def costly() -> bytes:
    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pack, row = zlib.compressobj(9), bytes(1 + 8 * SIDE)
    lines = b"".join(pack.compress(row) for _ in range(SIDE)) + pack.flush()
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 16, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", lines) + part(b"IEND", b"")


def bring(url: str, data: bytes, network: str, key: str) -> float:
    """Seconds until it is there: who has to wait asks again with the ticket."""
    headers = {"X-Forwarded-For": network, "X-Playground-Key": f"{key:_<32}", "X-Playground-Name": "x"}
    began = time.perf_counter()
    while True:
        asked = urllib.request.Request(f"{url}/api/pictures", data, headers, method="POST")
        with urllib.request.urlopen(asked, timeout=120) as answer:
            if answer.status != 202:
                return time.perf_counter() - began
            headers["X-Playground-Ticket"] = answer.headers["X-Playground-Ticket"]
        time.sleep(0.4)


def others(url: str, round_: str) -> list[float]:
    photos, waits = drawn_photos(OTHERS * TIMES), []

    def one(number: int) -> None:
        for time_ in range(TIMES):
            photo = photos[number * TIMES + time_]
            waits.append(bring(url, photo, f"203.{number}.113.5", f"{round_}{number}"))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(OTHERS)]
    for thread in threads:
        thread.start()
        time.sleep(0.5)
    for thread in threads:
        thread.join()
    return sorted(waits)


def costly_one(*how) -> None:
    with suppress(OSError):  # the server ends before it has come to all of them
        bring(*how)


def main() -> int:
    with serving() as server:
        bring(server.url, drawn_photos(1)[0], "203.200.113.5", "warm")
        calm, data = others(server.url, "calm"), costly()
        for number in range(COSTLY):
            network = f"2001:db8:1:2{number:02x}::1"
            brings = threading.Thread(
                target=costly_one, args=(server.url, data, network, f"costly{number}"), daemon=True
            )
            brings.start()
        time.sleep(3)
        attacked = others(server.url, "attacked")
    for name, waits in (("in peace", calm), (f"beside {COSTLY} costly ones ({len(data) // 1000} KB)", attacked)):
        print(f"{name}: median {statistics.median(waits):.2f} s, slowest {waits[-1]:.2f} s of {len(waits)}")
    return attacked[-1] > 2 * calm[-1] + 1


if __name__ == "__main__":
    sys.exit(main())
