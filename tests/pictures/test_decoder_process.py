"""No AVIF and no HEIC takes more than its share: they are decoded in a process that has no more."""

import io
import subprocess
import sys

import pillow_heif
import pytest
from PIL import Image

from playground.errors import PlaygroundError
from playground.pictures import decoder_process
from playground.pictures.images import open_image

MB = 2**20
LIAR = """
import struct, sys
from PIL import Image

Image.MAX_IMAGE_PIXELS = None
Image.new("RGB", (8_000, 8_000), "teal").save(path := sys.argv[1], speed=10, quality=20, subsampling="4:4:4")
data = bytearray(open(path, "rb").read())
struct.pack_into(">II", data, data.index(b"ispe") + 8, 7_992, 7_992)
open(path, "wb").write(data)
"""
OPENED = """
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


def saved(**how) -> bytes:
    """A picture whose upper half is red."""
    picture = Image.new("RGB", (64, 48), "blue")
    picture.paste("red", (0, 0, 64, 24))
    file = io.BytesIO()
    picture.save(file, **how)
    return file.getvalue()


def heic() -> bytes:
    picture = Image.open(io.BytesIO(saved(format="PNG")))
    file = io.BytesIO()
    pillow_heif.from_pillow(picture).save(file, quality=90)
    return file.getvalue()


KINDS = {"AVIF": lambda: saved(format="AVIF"), "HEIC": heic}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps a process within its memory")
def test_a_picture_that_is_not_as_large_as_its_header_says_takes_no_more_than_its_share(tmp_path):
    """In the process that opens it, one of a kilobyte took 840 MB."""
    run(LIAR, path := tmp_path / "liar.avif")
    assert path.stat().st_size < 5_000
    grew, took = map(int, run(OPENED, path).split()[-2:])
    assert grew < 50
    assert took < 700


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_from_there_is_the_picture(kind):
    image = open_image(KINDS[kind]())
    assert (image.mode, image.size) == ("RGB", (64, 48))
    (red, _, few), (less, _, blue) = image.getpixel((32, 6)), image.getpixel((32, 42))
    assert red > 200 > 60 > few
    assert blue > 200 > 60 > less


@pytest.mark.parametrize("kind", KINDS)
def test_without_memory_a_sentence_says_what_to_do(kind, monkeypatch):
    monkeypatch.setattr(decoder_process, "MOST_BYTES", MB)
    with pytest.raises(PlaygroundError, match="save it again as JPEG"):
        open_image(KINDS[kind]())


def test_who_waits_too_long_is_told_so(monkeypatch):
    monkeypatch.setattr(decoder_process, "MOST_WAIT", 0.001)
    with pytest.raises(PlaygroundError, match="takes minutes to decode"):
        open_image(KINDS["AVIF"]())
