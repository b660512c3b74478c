"""Decodes AVIF and HEIC in a process of their own, which may take so much memory and time, and no more.

What their decoders take stands in no header that could be checked: a file of three kilobytes that says 100 × 100 pixels
made one take 0.9 GB. `python -m playground.pictures.decoder_process KEPT BYTES SECONDS` reads a file from its standard
input and writes the picture's width, its height and its upright RGB.
"""

from __future__ import annotations

import contextlib
import struct
import subprocess
import sys
from pathlib import Path

import pillow_heif
from PIL import AvifImagePlugin, Image

from playground.errors import PlaygroundError
from playground.pictures.decoding import read_header
from playground.pictures.upright import upright_rgb

FORMATS = ("AVIF", "HEIF")
MOST_BYTES = 600 * 2**20
MOST_SECONDS = 20  # of a core's time; HEIC of 64 megapixels takes 2
MOST_WAIT = 120  # seconds, on a busy machine
THREADS = 2  # each takes memory
REFUSED = 3  # the process's exit status if it wrote a sentence
SIZE = struct.Struct("<II")


def decoded(data: bytes, kept: int) -> Image.Image:
    """Upright RGB of a file whose header has been checked."""
    command = [sys.executable, "-m", "playground.pictures.decoder_process", *map(str, (kept, MOST_BYTES, MOST_SECONDS))]
    try:
        done = subprocess.run(
            command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=MOST_WAIT,
            cwd=Path(__file__).parent.parent.parent,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise PlaygroundError("The picture takes minutes to decode: save it smaller, or as JPEG.") from None
    if done.returncode == REFUSED:
        raise PlaygroundError(done.stdout.decode())
    if done.returncode:
        raise PlaygroundError(
            "The picture is damaged, or takes far more memory or time than others of its size. Open it in an image "
            "editor, save it again as JPEG, and take that file."
        )
    return Image.frombytes("RGB", SIZE.unpack_from(done.stdout), memoryview(done.stdout)[SIZE.size :])


# In the process that decodes ------------------------------------------------------------------------------------------


def main() -> None:
    kept, most_bytes, most_seconds = map(int, sys.argv[1:])
    _limit(most_bytes, most_seconds)
    AvifImagePlugin.DEFAULT_MAX_THREADS = pillow_heif.options.DECODE_THREADS = THREADS
    try:
        image = upright_rgb(read_header(sys.stdin.buffer.read()), kept)
    except PlaygroundError as error:
        sys.stdout.buffer.write(str(error).encode())
        sys.exit(REFUSED)
    sys.stdout.buffer.write(SIZE.pack(*image.size))
    sys.stdout.buffer.write(image.tobytes())


def _limit(most_bytes: int, most_seconds: int) -> None:
    with contextlib.suppress(OSError):  # the first that Linux ends when memory runs out
        Path("/proc/self/oom_score_adj").write_text("1000")
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))
        resource.setrlimit(resource.RLIMIT_CPU, (most_seconds, most_seconds))


if __name__ == "__main__":
    main()
