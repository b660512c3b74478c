"""A file's header tells how long its decoding will take."""

import io

import pytest
from PIL import Image

from playground.serving.effort import UNKNOWN_SECONDS, seconds_to_decode
from playground.serving.queue import LONG_SECONDS


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
