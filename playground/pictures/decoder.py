"""A process that decodes pictures, and may take so much memory and time for each, and no more: what a decoder takes
stands in no header that could be checked, and a thread that decodes can't be ended. Here is who asks; the process
itself is decoder_process.py.

A server has all that people bring decoded so (serving/pictures.py). In Python and notebooks pictures are decoded where
they are opened, but for AVIF and HEIC: a file of three kilobytes that says 100 × 100 pixels made one take 0.9 GB.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

from PIL import Image

from playground.errors import Busy, PlaygroundError

MOST_BYTES = 600 * 2**20
CORE_SECONDS = 5  # seconds of one core for a file
SLOW, SLOW_CORE_SECONDS = re.compile(rb"....ftyp", re.DOTALL), 20  # AVIF and HEIC; HEIC of 64 megapixels takes 2
PATIENCE = 2.0  # seconds for each of those, on a busy machine
STARTING = 120.0  # seconds until a process is ready, which no file is to blame for
LOOK_EVERY = 0.05  # seconds, whether somebody still waits for it
LONGEST_SENTENCE = 2000
PIPE = 2**20  # bytes
READY = b"\1"  # the first that a process says
REQUEST = struct.Struct("<IIIQ")  # pixels and longest side that are wanted, seconds of a core, bytes of the file
HEAD = struct.Struct("<III?")  # header of an answer: width, height of the RGB, or 0, 0 and the length of a sentence
# the last one of this process

# Nothing else of the environment: no secret of the server lies in the memory of a process that reads hostile files
KNOWN = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
SAVING = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # one thread: each of numpy's threads would take memory


class Killed(Busy):
    """Something else ended the process: a full memory, or the operator. The file may be fine."""


class TookTooMuch(PlaygroundError):
    """The process was ended because this file took too much memory or time."""


@dataclass
class Answer:
    size: tuple[int, int] = (0, 0)
    pixels: bytes = b""
    sentence: str = ""


class Worker:
    """Starts at once and decodes one file after another. A file that takes too much ends the process."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "playground.pictures.decoder_process", str(MOST_BYTES)]
        known = {name: os.environ[name] for name in KNOWN if name in os.environ}
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=known | SAVING,
                cwd=Path(__file__).parent.parent.parent,
            )  # fmt: skip
        except OSError as error:
            raise Busy(
                f"The process that decodes pictures can't be started ({error.strerror or error}): try again."
            ) from None
        for pipe in (self._process.stdin, self._process.stdout):
            _widen(pipe.fileno())
        self._ready = threading.Event()
        self._last = False  # it has had its last file

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def goes_on(self) -> bool:
        """Whether the process lives and can take a file."""
        return not self._last and self._process.poll() is None

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # what was not sent yet
                pipe.close()

    def decoded(
        self, data: bytes, pixels: int, side: int = 2**31, stays: Callable[[], None] = lambda: None
    ) -> Image.Image:
        """Upright RGB of a file, of about `kept` pixels and with sides of `side` at most. `stays` is called again and
        again; when it raises, because who asked has left, or when the time is over, the process is ended."""
        seconds = SLOW_CORE_SECONDS if SLOW.match(data) else CORE_SECONDS
        answers: SimpleQueue[Answer | None] = SimpleQueue()
        request = REQUEST.pack(pixels, side, seconds, len(data))
        ask = lambda: answers.put(self._ask(request, data, 2 * pixels))  # noqa: E731
        threading.Thread(target=ask, name="decoder", daemon=True).start()
        try:
            answer = self._waited_for(answers, PATIENCE * seconds, stays)
        except BaseException:
            self.end()
            raise
        if answer is None:
            raise self._why_it_ended()
        if answer.sentence:
            raise PlaygroundError(answer.sentence)
        return Image.frombytes("RGB", answer.size, answer.pixels)

    def _ask(self, request: bytes, data: bytes, most_pixels: int) -> Answer | None:
        """The process's answer; None where it has ended or sends something invalid."""
        try:
            if not self._ready.is_set():
                if self._process.stdout.read(1) != READY:
                    return None
                self._ready.set()
            self._process.stdin.write(request)
            self._process.stdin.write(data)
            self._process.stdin.flush()
            width, height, length, self._last = HEAD.unpack(self._process.stdout.read(HEAD.size))
            if length > LONGEST_SENTENCE or width * height > most_pixels:
                return None
            if length:
                return Answer(sentence=self._process.stdout.read(length).decode(errors="replace"))
            pixels = self._process.stdout.read(3 * width * height)
        except (OSError, ValueError, struct.error):  # it has ended
            return None
        return Answer((width, height), pixels) if len(pixels) == 3 * width * height else None

    def _waited_for(
        self, answers: SimpleQueue[Answer | None], patience: float, stays: Callable[[], None]
    ) -> Answer | None:
        """Waits until the process is ready: only then a file's time begins."""
        was_ready, until = False, time.monotonic() + STARTING
        while time.monotonic() < until:
            stays()
            if not was_ready and self._ready.is_set():
                was_ready, until = True, time.monotonic() + patience
            with contextlib.suppress(Empty):
                return answers.get(timeout=LOOK_EVERY)
        if was_ready:
            raise TookTooMuch("The picture takes too long to decode: save it smaller, or as JPEG.")
        raise Busy("The process that decodes pictures does not start, so busy is the machine: try again.")

    def _why_it_ended(self) -> PlaygroundError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        status = self._process.poll()
        self.end()  # where it goes on, and says what it should not
        if status == -9:
            return Killed("The process that decodes pictures was ended from outside: try again.")
        return TookTooMuch(
            "The picture is damaged, or takes far more memory or time than others of its size. Open it in an image "
            "editor, save it again as JPEG, and take that file."
        )


def _widen(pipe: int) -> None:
    """Enlarges the pipe: a picture has megabytes, and Linux gives 64 KB."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)
