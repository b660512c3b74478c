"""The process that decodes pictures, one after the other, with limited memory and time. It reads requests from its
standard input, as decoder.py writes them, and ends when its input ends, and so with its parent."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import sys
from pathlib import Path

import pillow_heif
from PIL import (
    AvifImagePlugin,
    ImageCms,  # noqa: F401 imported at the start, so that no picture waits for it
)

from playground.errors import PlaygroundError
from playground.numbers import bytes_in
from playground.pictures.decoder import ANSWER_HEADER, READY, REQUEST_HEADER
from playground.pictures.images import decode_here

THREADS = 2  # threads of the AVIF and HEIC decoders; each takes memory
MOST_FILES = 50  # files for one process, because decoders may leak memory
LARGE_PEAK = 150 * 2**20  # bytes: after a larger peak the process ends, because its free memory is fragmented


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # after Ctrl-C the server ends this process
    limit_memory(int(sys.argv[1]))
    AvifImagePlugin.DEFAULT_MAX_THREADS = pillow_heif.options.DECODE_THREADS = THREADS
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library's prints must not be taken for an answer
    answers.write(READY)
    answers.flush()
    for file in range(MOST_FILES):
        request = requests.read(REQUEST_HEADER.size)
        if len(request) < REQUEST_HEADER.size:
            return
        pixels, side, seconds, length = REQUEST_HEADER.unpack(request)
        data = requests.read(length)
        if len(data) < length:
            return
        _limit_seconds(seconds)
        size, body = _answer(data, pixels, side)
        # not by getrusage, which also counts memory that the server had when it started this process
        peak = bytes_in(Path("/proc/self/status"), "VmHWM") or 0
        is_last = file == MOST_FILES - 1 or peak > LARGE_PEAK
        answers.write(ANSWER_HEADER.pack(*size, is_last))
        answers.write(body)
        answers.flush()


def _answer(data: bytes, pixels: int, side: int) -> tuple[tuple[int, int, int], bytes]:
    """(width, height, 0) and RGB bytes, or (0, 0, length) and a sentence."""
    try:
        image = decode_here(data, pixels)
        image.thumbnail((side, side))
    except PlaygroundError as error:
        sentence = str(error).encode()
        return (0, 0, len(sentence)), sentence
    return (*image.size, 0), image.tobytes()


def limit_memory(most_bytes: int) -> None:
    with contextlib.suppress(OSError):  # makes Linux end this process first when memory runs out
        Path("/proc/self/oom_score_adj").write_text("1000")
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))


def _limit_seconds(seconds: int) -> None:
    """Gives this process `seconds` more CPU seconds, after which the system ends it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        usage = resource.getrusage(resource.RUSAGE_SELF)
        _, hard_limit = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(usage.ru_utime + usage.ru_stime) + seconds, hard_limit))


if __name__ == "__main__":
    main()
