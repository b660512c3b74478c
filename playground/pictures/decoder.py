"""Decodes pictures in a process with limited memory and time (decoder_process.py): a header does not say how much a
decoder will take, and a decoding thread can't be ended. A server decodes all uploads this way. Python decodes in its
own process, except AVIF and HEIC: three kilobytes that claim 100 × 100 pixels made a decoder take 0.9 GB."""

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
CORE_SECONDS = 5  # the most seconds of one core that decoding a file may take
SLOW_FORMATS, SLOW_CORE_SECONDS = re.compile(rb"....ftyp", re.DOTALL), 20  # for AVIF and HEIC; 64 megapixels take 2 s
PATIENCE = 2.0  # seconds of waiting for each second of a core: the machine may be busy with other work
START_SECONDS = 120.0  # most seconds until a process is ready; a file's time begins only then
LOOK_EVERY = 0.05  # seconds between two checks whether somebody still waits for the answer
LONGEST_SENTENCE = 2000
PIPE_BYTES = 2**20  # bytes of a pipe's buffer
READY = b"\1"  # the first byte from a process, sent when it is ready
REQUEST_HEADER = struct.Struct("<IIIQ")  # most pixels, longest side, seconds of a core, bytes of the file
# Header of an answer: the picture's width and height, or 0, 0 and the length of a sentence that says why there is no
# picture; and whether the process ends after this answer
ANSWER_HEADER = struct.Struct("<III?")

# The only variables that the process gets: a process that reads hostile files must not hold the server's secrets
PASSED_VARIABLES = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
THREAD_LIMITS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # each thread of numpy would take memory


class Killed(Busy):
    """The process was ended from outside, by a full memory or the operator. The file may be fine."""


class TookTooMuch(PlaygroundError):
    """The process was ended because this file took too much memory or time."""


@dataclass
class Answer:
    size: tuple[int, int] = (0, 0)
    pixels: bytes = b""
    sentence: str = ""


class Worker:
    """A process that decodes one file after another. It is ended if a file takes too much."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "playground.pictures.decoder_process", str(MOST_BYTES)]
        environment = {name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ}
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=environment | THREAD_LIMITS, cwd=Path(__file__).parent.parent.parent,
            )  # fmt: skip
        except OSError as error:
            raise Busy(
                f"The process that decodes pictures can't be started ({error.strerror or error}): try again."
            ) from None
        assert self._process.stdin
        assert self._process.stdout
        self._to, self._from = self._process.stdin, self._process.stdout
        for pipe in (self._to, self._from):
            _widen(pipe.fileno())
        self._ready = threading.Event()
        self._is_finished = False  # whether the process takes no further file

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def can_go_on(self) -> bool:
        """Whether the process lives and can take a file."""
        return not self._is_finished and self._process.poll() is None

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._to, self._from):
            with contextlib.suppress(OSError):  # closing writes what is still buffered, which fails
                pipe.close()

    def decoded(
        self, data: bytes, pixels: int, side: int = 2**31, check_person: Callable[[], None] = lambda: None
    ) -> Image.Image:
        """Upright RGB of a file, with about `pixels` pixels and sides of at most `side`. `check_person` is called
        repeatedly; if it raises because the person has left, or if the time is over, the process is ended."""
        seconds = SLOW_CORE_SECONDS if SLOW_FORMATS.match(data) else CORE_SECONDS
        answers: SimpleQueue[Answer | None] = SimpleQueue()
        request = REQUEST_HEADER.pack(pixels, side, seconds, len(data))
        send_request = lambda: answers.put(self._ask(request, data, 2 * pixels))  # noqa: E731
        threading.Thread(target=send_request, name="decoder", daemon=True).start()
        try:
            answer = self._answer_within(answers, PATIENCE * seconds, check_person)
        except BaseException:
            self.end()
            raise
        if answer is None:
            raise self._why_it_ended()
        if answer.sentence:
            raise PlaygroundError(answer.sentence)
        return Image.frombytes("RGB", answer.size, answer.pixels)

    def _ask(self, request: bytes, data: bytes, most_pixels: int) -> Answer | None:
        """The process's answer; None if the process has ended or sends something invalid."""
        try:
            if not self._ready.is_set():
                if self._from.read(1) != READY:
                    return None
                self._ready.set()
            self._to.write(request)
            self._to.write(data)
            self._to.flush()
            width, height, length, self._is_finished = ANSWER_HEADER.unpack(self._from.read(ANSWER_HEADER.size))
            if length > LONGEST_SENTENCE or width * height > most_pixels:
                return None
            if length:
                return Answer(sentence=self._from.read(length).decode(errors="replace"))
            pixels = self._from.read(3 * width * height)
        except (OSError, ValueError, struct.error):  # the process has ended
            return None
        return Answer((width, height), pixels) if len(pixels) == 3 * width * height else None

    def _answer_within(
        self, answers: SimpleQueue[Answer | None], patience: float, check_person: Callable[[], None]
    ) -> Answer | None:
        """Waits for an answer. The file's time begins only when the process is ready."""
        was_ready, deadline = False, time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            check_person()
            if not was_ready and self._ready.is_set():
                was_ready, deadline = True, time.monotonic() + patience
            with contextlib.suppress(Empty):
                return answers.get(timeout=LOOK_EVERY)
        if was_ready:
            raise TookTooMuch("The picture takes too long to decode: save it smaller, or as JPEG.")
        raise Busy("The process that decodes pictures does not start, so busy is the machine: try again.")

    def _why_it_ended(self) -> PlaygroundError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        status = self._process.poll()
        self.end()  # in case the process still runs
        if status == -9:
            return Killed("The process that decodes pictures was ended from outside: try again.")
        return TookTooMuch(
            "The picture is damaged, or takes far more memory or time than others of its size. Open it in an image "
            "editor, save it again as JPEG, and take that file."
        )


def _widen(pipe: int) -> None:
    """Enlarges the pipe, because a picture has megabytes and Linux's default is 64 KB."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
