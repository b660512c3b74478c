"""Pictures are decoded in processes that limit the memory and time of each, and that end with the process that started
them."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hostile.profiles import matrix_profile, matrix_stage, stages
from made_pictures import quarters, saved
from PIL import Image

from playground.errors import Busy, PlaygroundError
from playground.pictures import decoder
from playground.pictures.decoder import TookTooMuch, Worker
from playground.pictures.images import KEPT_PIXELS, open_image

ROOT = Path(__file__).parent.parent.parent
MB = 2**20
WRITE_LIAR = """
import struct, sys
from PIL import Image

Image.MAX_IMAGE_PIXELS = None
Image.new("RGB", (8_000, 8_000), "teal").save(path := sys.argv[1], speed=10, quality=20, subsampling="4:4:4")
data = bytearray(open(path, "rb").read())
struct.pack_into(">II", data, data.index(b"ispe") + 8, 7_992, 7_992)
open(path, "wb").write(data)
"""
MEASURE_OPENING = """
import contextlib, resource, sys
from playground.errors import PlaygroundError
from playground.pictures.images import open_image

def peak(whose):
    return resource.getrusage(whose).ru_maxrss // 1024

before = peak(resource.RUSAGE_SELF)
with contextlib.suppress(PlaygroundError):
    open_image(sys.argv[1])
print(peak(resource.RUSAGE_SELF) - before, peak(resource.RUSAGE_CHILDREN))
"""


def run(script: str, path) -> str:
    return subprocess.run([sys.executable, "-c", script, path], check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps a process within its memory")
def test_a_picture_with_a_false_size_in_its_header_takes_limited_memory(tmp_path):
    """Once, a file of a kilobyte with a false header took 840 MB."""
    run(WRITE_LIAR, path := tmp_path / "liar.avif")
    assert path.stat().st_size < 5_000
    growth, peak = map(int, run(MEASURE_OPENING, path).split()[-2:])
    assert growth < 50
    assert peak < 700


@pytest.mark.parametrize("kind", ["AVIF", "HEIF"])
def test_without_memory_a_sentence_says_what_to_do(kind, monkeypatch):
    monkeypatch.setattr(decoder, "MOST_BYTES", MB)
    with pytest.raises(PlaygroundError, match=r"save it (again|smaller)"):
        open_image(saved(quarters(), kind))


# A process that decodes one file after the other


@pytest.fixture
def endless(tmp_path, monkeypatch) -> bytes:
    """A small picture whose colour profile takes minutes, because the new processes do not check profiles."""
    code = "import playground.pictures.images as profiles\nprofiles.is_usable = lambda profile: True\n"
    (tmp_path / "sitecustomize.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    return saved(quarters(), "PNG", icc_profile=matrix_profile(D2B0=stages(100_000, matrix_stage())))


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.skipif(sys.platform == "win32", reason="nothing limits a process's time there")
def test_a_file_that_takes_more_than_its_share_of_a_core_ends_the_process(endless, monkeypatch):
    monkeypatch.setattr(decoder, "CORE_SECONDS", 1)
    monkeypatch.setattr(decoder, "PATIENCE", 100.0)
    with Worker() as worker:
        for _ in range(3):
            assert worker.decoded(saved(quarters(), "JPEG"), KEPT_PIXELS).size == (64, 48)
        with pytest.raises(PlaygroundError, match="far more memory or time"):
            worker.decoded(endless, KEPT_PIXELS)
        assert is_gone(worker.pid)
        assert not worker.can_go_on()


def test_seconds_before_a_file_do_not_count_for_it(monkeypatch, tmp_path):
    """The process computes for 2.5 seconds as it starts; then a file may take one second."""
    monkeypatch.setattr(decoder, "CORE_SECONDS", 1)
    monkeypatch.setattr(decoder, "PATIENCE", 100.0)
    (tmp_path / "sitecustomize.py").write_text("import time\nwhile time.process_time() < 2.5: pass\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    with Worker() as worker:
        assert worker.decoded(saved(quarters(), "JPEG"), KEPT_PIXELS).size == (64, 48)


def test_a_file_that_takes_too_long_ends_the_process(endless, monkeypatch):
    monkeypatch.setattr(decoder, "PATIENCE", 0.1)
    with Worker() as worker:
        with pytest.raises(PlaygroundError, match="takes too long"):
            worker.decoded(endless, KEPT_PIXELS)
        assert is_gone(worker.pid)


@pytest.fixture
def start_gate(tmp_path, monkeypatch):
    """The path of a file; new processes wait until this file exists."""
    gate = tmp_path / "gate"
    code = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
    (tmp_path / "sitecustomize.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    return gate


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still; the list holds its time in seconds."""
    clock_time = [0.0]
    monkeypatch.setattr(decoder, "time", SimpleNamespace(monotonic=lambda: clock_time[0]))
    return clock_time


def test_a_process_that_does_not_start_means_a_busy_machine_and_no_bad_file(start_gate, clock):
    def pass_time():
        clock[0] += decoder.START_SECONDS / 2

    with Worker() as worker:
        with pytest.raises(Busy, match="so busy is the machine"):
            worker.decoded(saved(quarters(), "JPEG"), KEPT_PIXELS, check_person=pass_time)
        assert is_gone(worker.pid)


class PersonLeft(Exception):
    pass


def test_decoding_ends_when_the_person_leaves(endless):
    checks = []

    def leave_later():
        checks.append(1)
        if len(checks) > 3:
            raise PersonLeft

    with Worker() as worker:
        with pytest.raises(PersonLeft):
            worker.decoded(endless, KEPT_PIXELS, check_person=leave_later)
        assert is_gone(worker.pid)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the environment is read in /proc")
def test_the_decoder_process_has_no_secret_of_the_server(monkeypatch):
    monkeypatch.setenv("STREAMLIT_SERVER_COOKIE_SECRET", "a secret")
    with Worker() as worker:
        assert worker.decoded(saved(quarters(), "JPEG"), KEPT_PIXELS)
        assert b"a secret" not in Path(f"/proc/{worker.pid}/environ").read_bytes()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read in /proc")
def test_a_process_takes_no_file_after_a_large_picture():
    with Worker() as worker:
        assert worker.decoded(saved(Image.new("RGB", (8_000, 8_000)), "PNG"), 2**20).size == (1_000, 1_000)
        assert not worker.can_go_on()


def test_an_answer_with_too_many_pixels_is_not_believed():
    with Worker() as worker:
        assert worker._ask(decoder.REQUEST_HEADER.pack(KEPT_PIXELS, 10**5, 5, 10**6), bytes(10**6), 100).sentence
        picture = saved(quarters(), "PNG")
        assert worker._ask(decoder.REQUEST_HEADER.pack(KEPT_PIXELS, 10**5, 5, len(picture)), picture, 100) is None


def test_a_process_that_answers_with_too_long_a_sentence_is_ended(monkeypatch):
    monkeypatch.setattr(decoder, "LONGEST_SENTENCE", 3)
    with Worker() as worker:
        with pytest.raises(TookTooMuch):
            worker.decoded(bytes(1000), KEPT_PIXELS)
        assert is_gone(worker.pid)
        assert not worker.can_go_on()
