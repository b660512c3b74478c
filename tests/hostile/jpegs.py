"""Broken JPEG files."""

import struct

from hostile.making import BIG, half, noisy_picture, saved


def segment(marker: int, data: bytes = b"") -> bytes:
    return bytes((0xFF, marker)) + struct.pack(">H", len(data) + 2) + data


def jpeg_with(segments: bytes, data: bytes | None = None) -> bytes:
    data = data or saved("JPEG")
    return data[:2] + segments + data[2:]


def jpeg_of(width: int, height: int, bits: int = 8, layers: int = 3, frame_marker: int = 0xC0) -> bytes:
    """A JPEG that has only a header, which may claim any size."""
    sof = struct.pack(">BHHB", bits, height, width, layers) + b"".join(bytes((i, 0x11, 0)) for i in range(layers))
    return b"\xff\xd8" + segment(frame_marker, sof) + segment(0xDA, bytes(10)) + b"\xff\xd9"


def jpeg_without(marker: bytes) -> bytes:
    jpeg = noisy_picture("JPEG")
    while (offset := jpeg.find(marker)) >= 0:
        jpeg = jpeg[:offset] + jpeg[offset + 2 + struct.unpack_from(">H", jpeg, offset + 2)[0] :]
    return jpeg


def jpeg_of_many_scans(count: int) -> bytes:
    data = saved("JPEG", (BIG, BIG), "L", 128, progressive=True)
    last_scan = data[data.rindex(b"\xff\xda") : -2]
    return data[:-2] + last_scan * count + data[-2:]


JPEGS = {
    "a JPEG without a picture": lambda: b"\xff\xd8\xff\xd9",
    "a JPEG of 12 bits": lambda: jpeg_of(64, 64, bits=12),
    "a JPEG of 2 layers": lambda: jpeg_of(64, 64, layers=2),
    "a JPEG of 255 layers": lambda: jpeg_of(64, 64, layers=255),
    "a lossless JPEG": lambda: jpeg_of(64, 64, frame_marker=0xC3),
    "a JPEG without quantisation tables": lambda: jpeg_without(b"\xff\xdb"),
    "a JPEG with a broken table": lambda: jpeg_with(segment(0xDB, b"\x00abc")),
    "a JPEG whose segment is longer than the file": lambda: jpeg_with(b"\xff\xe1\xff\xff"),
    "a JPEG of 2,000 scans": lambda: jpeg_of_many_scans(2_000),
    "a JPEG of 8,000,000 empty segments": lambda: jpeg_with(segment(0xE5) * 8_000_000),
    "a JPEG of 600,000 EXIF blocks": lambda: jpeg_with(segment(0xE1, b"Exif\0\0ab") * 600_000),
    "a JPEG that promises 64 megapixels": lambda: half(saved("JPEG", (BIG, BIG), "L")),
    "a progressive JPEG of 64 megapixels cut short": lambda: saved(
        "JPEG", (BIG, BIG), progressive=True, quality=95, subsampling=0
    )[:-40],
}
