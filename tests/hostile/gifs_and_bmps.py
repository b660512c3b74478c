"""Broken GIF and BMP files."""

import struct

GIF = b"GIF89a" + struct.pack("<HHBBB", 64, 64, 0, 0, 0)


def gif_frame(left=0, top=0, width=64, height=64, bits=8, data=b"") -> bytes:
    return GIF + b"," + struct.pack("<HHHHBB", left, top, width, height, 0, bits) + data + b"\0;"


def bmp(
    width=64, height=64, bits=24, compression=0, data=b"", header_size=40, palette=b"", pixels_at=None, colours=0
) -> bytes:
    info = struct.pack("<IiiHHIIiiII", header_size, width, height, 1, bits, compression, 0, 0, 0, colours, 0)
    offset = 54 + len(palette) if pixels_at is None else pixels_at
    return b"BM" + struct.pack("<IHHI", 0, 0, 0, offset) + info + palette + data


GREYS = bytes(range(1, 256)) * 4 + b"\0\0\0\0"


GIFS = {
    "a GIF without a frame": lambda: GIF + b";",
    "a GIF of broken codes": lambda: gif_frame(data=b"\xff" + b"\xff" * 255),
    "a GIF with codes of 255 bits": lambda: gif_frame(bits=255, data=b"\x04abcd"),
    "a GIF frame of no size": lambda: gif_frame(width=0, height=0),
    "a GIF whose colour table is missing": lambda: GIF[:10] + b"\xf7\0\0",
    "a GIF with a comment of 10,000,000 parts": lambda: GIF + b"!\xfe" + b"\2ab" * 10_000_000,
    "a GIF followed by 30,000,000 zeros": lambda: GIF + bytes(30_000_000),
}
BMPS = {
    "a BMP of 3 bits": lambda: bmp(bits=3),
    "a BMP with a header of 41 bytes": lambda: bmp(header_size=41),
    "a BMP of an unknown compression": lambda: bmp(compression=99),
    "a BMP whose pixels lie beyond the file": lambda: bmp(pixels_at=2**32 - 1),
    "a BMP with a palette of 4,000,000,000 colours": lambda: bmp(bits=8, colours=2**32 - 1),
    "a BMP of impossible bit fields": lambda: bmp(bits=16, compression=3, data=b"\xff" * 12),
    "a BMP without pixels": lambda: bmp(),
    "a run-length BMP of 64 megapixels": lambda: bmp(16_000, 4_000, 8, 1, b"\1\1\0\0" * 4_000, palette=GREYS),
    "a run-length BMP that never moves": lambda: bmp(64, 64, 8, 1, b"\0\2\0\0" * 8_000_000, palette=GREYS),
    "a run-length BMP that ends early": lambda: bmp(64, 64, 8, 1, b"\5\1\0\1", palette=GREYS),
}
