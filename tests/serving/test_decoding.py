"""People's pictures are decoded in separate processes; one spare process is always ready."""

import io
import os
import signal
import subprocess
import sys
from collections import deque
from pathlib import Path

import pytest
from hostile import KINDS
from made_pictures import quarters, saved
from PIL import Image, ImageFile
from waiting import until

from playground.errors import PlaygroundError
from playground.pictures.decoder import Worker
from playground.pictures.images import open_image
from playground.serving import pictures, queue
from playground.serving.effort import UNKNOWN_SECONDS, seconds_to_decode
from playground.serving.queue import LONG_SECONDS

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def workers(monkeypatch):
    monkeypatch.setattr(pictures.workers(), "ready", ready := deque())
    yield ready
    for worker in ready:
        worker.end()


class Asker(queue.Asker):
    """An asker that calls `act` whenever the queue asks whether the asker stays."""

    def __init__(self, act):
        super().__init__()
        self.raise_if_left = act


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "HEIF"])
def test_no_file_is_decoded_in_the_server_s_own_process(kind, monkeypatch):
    expected = open_image(saved(quarters(), kind))
    monkeypatch.setattr(ImageFile.ImageFile, "load", None)  # decoding in this process fails
    assert pictures.upload(saved(quarters(), kind), "mine").image == expected


def test_one_process_decodes_one_file_after_the_other_and_a_spare_one_stays_ready(workers):
    pictures.workers().warm_up()
    first, spare = list(workers)
    for _ in range(3):
        pictures.upload(saved(quarters(), "JPEG"), "mine")
        with pytest.raises(PlaygroundError, match="damaged"):
            pictures.upload(KINDS["half of a PNG file"](), "mine")
    assert list(workers) == [first, spare]


def test_a_process_that_is_killed_in_the_middle_of_a_picture_costs_nobody_their_picture(workers):
    """Linux kills this process first when memory runs out, because of its OOM score. An operator may kill it, too."""
    pictures.workers().warm_up()
    first_worker = workers[0]

    def kill():
        if first_worker.can_go_on():
            os.kill(first_worker.pid, signal.SIGKILL)

    with queue.working_for(Asker(kill)):
        assert pictures.upload(saved(quarters(), "JPEG"), "mine").size == (64, 48)
    assert first_worker not in workers


def test_a_picture_whose_process_is_killed_each_time_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(Worker, "_ask", lambda worker, *_: os.kill(worker.pid, signal.SIGKILL))
    with pytest.raises(PlaygroundError, match="ended from outside: try again"):
        pictures.upload(saved(quarters(), "JPEG"), "mine")


def test_a_sender_who_leaves_frees_the_place_for_the_next(workers):
    def leave():
        raise RuntimeError("left")

    pictures.workers().warm_up()
    first_worker, spare = list(workers)
    with queue.working_for(Asker(leave)), pytest.raises(RuntimeError):
        pictures.decoded(saved(quarters(), "JPEG"), 2**20, 64)
    assert workers[0] is spare
    assert first_worker not in workers
    assert pictures.upload(saved(quarters(), "JPEG"), "mine").size == (64, 48)


SERVER_CODE = """
import time
from playground.serving import pictures

pictures.workers().warm_up()
print(*(worker.pid for worker in pictures.workers().ready), flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="other people's children are looked up in /proc")
def test_decoders_end_with_the_server_however_it_ends():
    server = subprocess.Popen([sys.executable, "-c", SERVER_CODE], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    pids = list(map(int, server.stdout.readline().split()))
    assert len(pids) == 2
    server.kill()
    server.wait()
    server.stdout.close()
    until(lambda: not any(_runs(pid) for pid in pids), "they go on")


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def encode_picture(kind: str, size: tuple[int, int], **options) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "teal").save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_photograph_of_four_megapixels_is_small_and_a_larger_one_costs_more(kind):
    small_seconds, large_seconds = (
        seconds_to_decode(encode_picture(kind, size)) for size in ((2000, 2000), (4000, 4000))
    )
    assert 0 < small_seconds < LONG_SECONDS
    assert large_seconds == pytest.approx(4 * small_seconds, rel=0.01)


def test_a_progressive_jpeg_costs_as_much_as_its_number_of_scans():
    plain_jpeg, progressive_jpeg = (
        encode_picture("JPEG", (800, 800), progressive=is_progressive) for is_progressive in (False, True)
    )
    assert seconds_to_decode(progressive_jpeg) == progressive_jpeg.count(b"\xff\xda") * seconds_to_decode(plain_jpeg)


@pytest.mark.parametrize(
    "data", [b"", b"BM" + bytes(80), b"II*\0", b"%PDF", b"\x89PNG\r\n", b"GIF89a\1\0\1\0", b"\xff\xd8\xff"]
)
def test_a_file_that_can_t_be_read_is_taken_for_costly(data):
    assert seconds_to_decode(data) == UNKNOWN_SECONDS > LONG_SECONDS
