"""Hostile files do no harm: each is refused in a sentence, at little cost, and leaves nothing behind."""

import gc
import io
import os
import re
import sys
import tempfile
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hostile
import numpy as np
import pytest
from made_pictures import BLUE, GREEN, RED, WHITE, are_alike, corners, quarters, saved
from PIL import Image, ImageFile

from playground.errors import PlaygroundError
from playground.pictures.decoder import Killed, TookTooMuch, Worker
from playground.pictures.images import open_image

REPORT = """
import json, sys
import hostile
from playground.pictures.images import open_image

def memory(which):
    with open("/proc/self/status") as lines:
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(which)), None)

def forget_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")

for name, make in hostile.KINDS.items():
    data, measured = make(), sys.platform == "linux"
    if measured:
        forget_peak()
        before = memory("VmRSS")
    try:
        outcome, sentence = "opened", repr(open_image(data))
    except Exception as error:
        outcome, sentence = type(error).__name__, str(error)
    growth = memory("VmHWM") - before if measured else None
    print(json.dumps({"name": name, "outcome": outcome, "sentence": sentence, "MB": growth}), flush=True)
"""


@pytest.fixture(scope="module")
def report() -> dict[str, dict]:
    """The results of opening every hostile file, in one separate process in which warnings are errors."""
    return hostile.reports_of_process(REPORT, "-W", "error")


def test_a_hostile_file_is_refused_in_a_helpful_sentence(report):
    assert report.keys() == hostile.KINDS.keys()
    unhelpful = {
        kind: result for kind, result in report.items() if not is_helpful(result["outcome"], result["sentence"])
    }
    assert not unhelpful, unhelpful
    assert "a model is opened as .safetensors" in report["a PyTorch checkpoint"]["sentence"]


def is_helpful(outcome: str, sentence: str) -> bool:
    return bool(
        outcome == "PlaygroundError"
        and re.fullmatch(r"[A-Z].{25,}\.", sentence)
        and re.search(r"\b(save|choose|crop|give|take)\b", sentence, re.IGNORECASE)
        and not re.search(r"Error|0x|object at|buffer|Traceback", sentence)
    )


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_no_hostile_file_takes_300_megabytes(report):
    greedy_files = {name: round(result["MB"]) for name, result in report.items() if result["MB"] >= 300}
    assert not greedy_files


class Liar:
    def __init__(self, answer):
        self.answer = answer

    def read(self, size=-1):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


SOURCES = {
    "nothing": lambda folder: None,
    "a number": lambda folder: 5,
    "a list": lambda folder: [1, 2],
    "an array": lambda folder: np.zeros((32, 32, 7), np.uint8),
    "a folder": lambda folder: folder,
    "a missing file": lambda folder: folder / "missing.png",
    "an empty path": lambda folder: "",
    "a path with a zero in it": lambda folder: "a\0b.png",
    "a path of 10,000 letters": lambda folder: "a" * 10_000,
    "a web address": lambda folder: "https://example.org/cat.jpg",
    "an empty buffer": lambda folder: memoryview(b""),
    "a closed file": lambda folder: _closed(),
    "a text file": lambda folder: io.StringIO("picture"),
    "a file that gives text": lambda folder: Liar("text"),
    "a file that gives numbers": lambda folder: Liar(7),
    "a file that gives nothing": lambda folder: Liar(None),
    "a file that breaks": lambda folder: Liar(OSError(5, "Input/output error")),
    "a file that hangs up": lambda folder: Liar(RuntimeError()),
}


def _closed() -> io.BytesIO:
    file = io.BytesIO(b"x")
    file.close()
    return file


@pytest.mark.parametrize("source", SOURCES)
def test_a_wrong_source_of_a_picture_is_refused_in_a_sentence(source, tmp_path):
    with pytest.raises(PlaygroundError, match=r"^.{20,400}\.$"):
        open_image(SOURCES[source](tmp_path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_named_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PlaygroundError, match="no ordinary file"):
        open_image(tmp_path / "pipe")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted in /proc")
def test_refused_files_leave_no_open_file_thread_or_temporary_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = [
        "half of a WEBP file",
        "half of a AVIF file",
        "half of a HEIF file",
        "half of a LZW TIFF file",
        "a TIFF of rubbish JPEG",
    ]
    paths = [tmp_path / str(number) for number in range(len(names))]
    for path, name in zip(paths, names, strict=True):
        path.write_bytes(hostile.KINDS[name]())

    def footprint():
        gc.collect()
        return len(os.listdir("/proc/self/fd")), threading.active_count(), sorted(os.listdir(tmp_path))

    footprint_before = footprint()
    for path in paths * 5:
        with pytest.raises(PlaygroundError):
            open_image(path)
        with path.open("rb") as file, pytest.raises(PlaygroundError):
            open_image(file)
    assert footprint() == footprint_before


def test_threads_do_not_get_in_each_others_way():
    good_files = [saved(quarters(), kind) for kind in ("JPEG", "PNG", "WEBP", "AVIF", "HEIF", "TIFF")]
    bad_files = [
        hostile.KINDS[kind]() for kind in ("half of a PNG file", "a GIF of broken codes", "81 megapixels, truly")
    ]
    globals_before = (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES, list(warnings.filters))

    def opens_right(data):
        try:
            return are_alike(corners(open_image(data)), [RED, GREEN, BLUE, WHITE], 24)
        except PlaygroundError:
            return False

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(opens_right, (good_files + bad_files) * 20)) == ([True] * 6 + [False] * 3) * 20
    assert (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES, list(warnings.filters)) == globals_before


KEPT_FILES = sorted((Path(__file__).parent.parent / "hostile" / "kept").iterdir())


@pytest.fixture(scope="module")
def workers():
    """A list of workers. The last one decodes; a new one is appended after a number of files."""
    workers = [Worker()]
    yield workers
    for worker in workers:
        worker.end()


@pytest.mark.parametrize("kind", sorted({file.name.partition("-")[0] for file in KEPT_FILES}))
def test_a_kept_file_is_opened_or_refused_in_a_sentence(workers, kind):
    for file in (file for file in KEPT_FILES if file.name.startswith(f"{kind}-")):
        if not workers[-1].can_go_on():
            workers.append(Worker())
        sentence = "."
        try:
            assert workers[-1].decoded(file.read_bytes(), 2**22).mode == "RGB", file.name
        except (Killed, TookTooMuch) as error:
            raise AssertionError(f"{file.name}: {error!r}") from error
        except PlaygroundError as error:
            sentence = str(error)
        assert sentence.endswith((".", "!")), (file.name, sentence)
