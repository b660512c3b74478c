"""Helpers that build broken files."""

import io
import random
import struct
import zlib

from PIL import Image
from pillow_heif.as_plugin import _save_heif

Image.register_save("HEIF", _save_heif)  # the app itself only reads HEIF


BIG = 8_000  # pixels of a side: a picture of 8,000 × 8,000 is just allowed
NOISE = random.Random(0).randbytes(20_000)


def saved(kind: str, size=(64, 48), mode="RGB", color=0, **options) -> bytes:
    file = io.BytesIO()
    Image.new(mode, size, color).save(file, kind, **options)
    return file.getvalue()


def noisy_picture(kind: str, **options) -> bytes:
    """A picture of noise, which hardly compresses, so that half of its file holds about half of the picture."""
    file = io.BytesIO()
    Image.frombytes("RGB", (80, 80), NOISE[: 80 * 80 * 3]).save(file, kind, **options)
    return file.getvalue()


def half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def spoiled(data: bytes, start: int) -> bytes:
    return data[:start] + NOISE[: len(data) - start]


def patched(data: bytes, at: int, replacement: bytes) -> bytes:
    return data[:at] + replacement + data[at + len(replacement) :]


def deflated_zeros(size: int) -> bytes:
    """`size` zeros, compressed by zlib to about a thousandth."""
    packer = zlib.compressobj(9, wbits=-15)
    megabyte = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x78\xda" + megabyte * (size // 2**20) + b"\3\0" + struct.pack(">HH", size % 65521, 1)


def box(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", 8 + len(data)) + name + data
