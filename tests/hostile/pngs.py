"""Broken PNG files."""

import struct
import zlib

from hostile.making import BIG, NOISE, deflated_zeros, patched

PNG = b"\x89PNG\r\n\x1a\n"


def chunk(name: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def ihdr(width=64, height=64, bits=8, colour=2, compression=0, filtering=0, interlace=0) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, compression, filtering, interlace))


def png(*chunks: bytes, pixels: bytes | None = None, **header) -> bytes:
    data = zlib.compress(b"\0" * 193 * 64) if pixels is None else pixels
    return PNG + ihdr(**header) + b"".join(chunks) + chunk(b"IDAT", data) + chunk(b"IEND")


def packed_chunks(name: bytes, head: bytes) -> bytes:
    one_chunk = chunk(name, head + zlib.compress(bytes(10**6), 9))
    return one_chunk * (30_000_000 // len(one_chunk))


def apng_beyond_its_canvas() -> bytes:
    frame = struct.pack(">IIIIIHHBB", 0, 640, 640, 0, 0, 1, 10, 0, 0)
    return png(chunk(b"acTL", struct.pack(">II", 2, 0)), chunk(b"fcTL", frame))


PNGS = {
    "a PNG without pixels": lambda: PNG + ihdr() + chunk(b"IEND"),
    "a PNG without a header": lambda: PNG + chunk(b"IDAT", b"") + chunk(b"IEND"),
    "a PNG with a wrong checksum": lambda: patched(png(), 29, b"\0\0\0\0"),
    "a PNG whose header is a gigabyte long": lambda: patched(png(), 8, b"\x40\0\0\0"),
    "a PNG with a header of 3 bytes": lambda: PNG + chunk(b"IHDR", b"\0\0\0"),
    "a PNG of an unknown colour type": lambda: png(colour=5),
    "a PNG of 3 bits": lambda: png(bits=3),
    "a PNG that promises 64 megapixels": lambda: png(width=BIG, height=BIG),
    "a PNG bomb cut short": lambda: png(width=BIG, height=BIG, bits=16, colour=6, pixels=deflated_zeros(2**28)),
    "an interlaced PNG bomb cut short": lambda: png(width=BIG, height=BIG, interlace=1, pixels=deflated_zeros(2**26)),
    "a PNG of rubbish pixels": lambda: png(pixels=NOISE),
    "a PNG of unknown row filters": lambda: png(pixels=zlib.compress(b"\xff" * 193 * 64)),
    "a PNG with a text bomb": lambda: png(chunk(b"zTXt", b"a\0\0" + deflated_zeros(2**26))),
    "a PNG with a profile bomb": lambda: png(chunk(b"iCCP", b"a\0\0" + deflated_zeros(2**26))),
    "a PNG with 30,000 profiles": lambda: png(packed_chunks(b"iCCP", b"a\0\0")),
    "a PNG with 30,000 nameless texts": lambda: png(packed_chunks(b"zTXt", b"\0\0")),
    "a PNG of 2,600,000 empty chunks": lambda: png(chunk(b"aaAa") * 2_600_000),
    "a PNG of 2,600,000 empty pixel chunks": lambda: PNG + ihdr() + chunk(b"IDAT") * 2_600_000 + chunk(b"IEND"),
    "an APNG whose frame exceeds its canvas": apng_beyond_its_canvas,
    "a PNG with half a transparent colour": lambda: png(chunk(b"tRNS", b"\0")),
}
