"""How long a picture will take to decode, by its first bytes alone: small files come first. Nothing is decoded here,
and what can't be read is taken for costly; a file that lies has its bounds in decoder.py."""

from __future__ import annotations

import re
import struct

PNG_BYTES = 100e6  # of pixels, that are decoded in a second: an old processor, and other people compute meanwhile
JPEG_PIXELS, OTHER_PIXELS = 100e6, 20e6  # likewise
UNKNOWN = 2.0  # seconds
HEADER = 2**16  # bytes that are looked at; of a JPEG its whole head is walked through
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by PNG's colour type
SIZE = re.compile(rb"ispe.{4}(.{4})(.{4})", re.DOTALL)  # in AVIF and HEIC: each picture of the file has one


def seconds_to_decode(data: bytes) -> float:
    try:
        return _seconds(data)
    except (struct.error, IndexError, KeyError):
        return UNKNOWN


def _seconds(data: bytes) -> float:
    if data.startswith(b"\x89PNG"):
        width, height, bits, colours = struct.unpack_from(">IIBB", data, 16)
        return width * height * bits / 8 * CHANNELS[colours] / PNG_BYTES
    if data.startswith(b"\xff\xd8\xff"):
        return _of_jpeg(data)
    if data.startswith(b"GIF8"):
        width, height = struct.unpack_from("<HH", data, 6)
        return width * height / OTHER_PIXELS
    if data[8:15] == b"WEBPVP8":
        width, height = _of_webp(data)
        return width * height / OTHER_PIXELS
    if sizes := [struct.unpack(">II", b"".join(pair)) for pair in SIZE.findall(data[:HEADER])]:
        return sum(width * height for width, height in sizes) / OTHER_PIXELS
    return UNKNOWN


def _of_webp(data: bytes) -> tuple[int, int]:
    if data[15:16] == b" ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    if data[15:16] == b"L":
        (both,) = struct.unpack_from("<I", data, 21)
        return (both & 0x3FFF) + 1, (both >> 14 & 0x3FFF) + 1
    return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1


def _of_jpeg(data: bytes) -> float:
    """A progressive one visits its pixels once for each scan, of which ten are usual."""
    at = 2
    while at < len(data):
        marker, length = struct.unpack_from(">xBH", data, at)
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width * height * (max(1, data.count(b"\xff\xda")) if marker == 0xC2 else 1) / JPEG_PIXELS
        at += 2 + length
    return UNKNOWN
