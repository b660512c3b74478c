"""Broken TIFF files."""

import struct

from hostile.making import BIG, NOISE, deflated_zeros, noisy_picture


def short(tag: int, value: int) -> tuple[int, int, int, bytes]:
    return tag, 3, 1, struct.pack("<H", value)


def long(tag: int, *values: int) -> tuple[int, int, int, bytes]:
    return tag, 4, len(values), struct.pack(f"<{len(values)}I", *values)


def tiff(*tags, pixels: bytes = b"", without=(), next_directory=0) -> bytes:
    """A TIFF of a 64 × 64 RGB picture in one strip. `tags` (tag, type, count, bytes) replace its usual tags."""
    default_tags = [long(256, 64), long(257, 64), short(258, 8), short(259, 1), short(262, 2), short(277, 3)]
    default_tags += [long(278, 2**32 - 1), long(273, 0), long(279, len(pixels))]
    entries = {tag[0]: tag for tag in [*default_tags, *tags] if tag[0] not in without}
    blob_at = 8 + 2 + 12 * len(entries) + 4
    blob = b"".join(value for *_, value in entries.values() if len(value) > 4)
    if 273 in entries and 273 not in {tag[0] for tag in tags}:
        entries[273] = long(273, blob_at + len(blob))
    directory, next_value_at = b"", blob_at
    for tag in sorted(entries):
        _, kind, count, value = entries[tag]
        if len(value) > 4:
            value, next_value_at = struct.pack("<I", blob_at + _value_offset(entries, tag)), next_value_at + len(value)
        directory += struct.pack("<HHI", tag, kind, count) + value.ljust(4, b"\0")
    return (
        b"II*\0" + struct.pack("<IH", 8, len(entries)) + directory + struct.pack("<I", next_directory) + blob + pixels
    )


def _value_offset(entries: dict, sought_tag: int) -> int:
    earlier_tags = list(entries)[: list(entries).index(sought_tag)]
    return sum(len(entries[tag][3]) for tag in earlier_tags if len(entries[tag][3]) > 4)


def tiff_of_floats(*values: float) -> bytes:
    pixels = struct.pack("<f", values[0]) * 4095 + struct.pack("<f", values[-1])
    return tiff(short(258, 32), short(262, 1), short(277, 1), short(339, 3), pixels=pixels)


def tiff_of_one_strip(side: int, missing_bytes: int) -> bytes:
    pixels = deflated_zeros(side * side * 3 // 2**20 * 2**20)
    return tiff(long(256, side), long(257, side), short(259, 8), pixels=pixels[:-missing_bytes])


def big_tiff(tag_count: int) -> bytes:
    return struct.pack("<2sHHHQQ", b"II", 43, 8, 0, 16, tag_count) + struct.pack("<HHQQ", 1000, 3, 1, 5) * min(
        tag_count, 10**6
    )


TIFFS = {
    "a TIFF whose directory lies beyond the file": lambda: b"II*\0\xff\xff\xff\x7f",
    "a TIFF whose directory is its header": lambda: b"II*\0\0\0\0\0" + bytes(100),
    "a TIFF of 65,535 tags that aren't there": lambda: b"II*\0" + struct.pack("<IH", 8, 65_535),
    "a TIFF without dimensions": lambda: tiff(without=(256,)),
    "a TIFF without strips": lambda: tiff(without=(273,)),
    "a TIFF of negative dimensions": lambda: tiff((256, 9, 1, struct.pack("<i", -64))),
    "a TIFF of rational dimensions": lambda: tiff((256, 5, 1, struct.pack("<II", 64, 0))),
    "a TIFF whose pixels lie beyond the file": lambda: tiff(long(273, 2**31)),
    "a TIFF of 65,535 samples per pixel": lambda: tiff(short(277, 65_535)),
    "a TIFF of 7 bits": lambda: tiff(short(258, 7)),
    "a TIFF of 64-bit floats": lambda: tiff(short(258, 64), short(262, 1), short(277, 1), short(339, 3)),
    "a TIFF of an unknown compression": lambda: tiff(short(259, 12_345)),
    "a TIFF of old-style JPEG": lambda: tiff(short(259, 6), pixels=noisy_picture("JPEG")),
    "a TIFF of rubbish LZW": lambda: tiff(short(259, 5), pixels=NOISE),
    "a TIFF of rubbish JPEG": lambda: tiff(short(259, 7), pixels=NOISE),
    "a TIFF of rubbish fax": lambda: tiff(short(259, 4), short(258, 1), short(262, 0), short(277, 1), pixels=b""),
    "a TIFF that is nowhere a number": lambda: tiff_of_floats(float("nan")),
    "a TIFF that is everywhere infinite": lambda: tiff_of_floats(float("inf"), float("-inf")),
    "a TIFF of 3,900,000 rational bits per sample": lambda: tiff((258, 5, 3_900_000, b"\1\0\0\0" * 7_800_000)),
    "a TIFF of 7,900,000 strips": lambda: tiff(long(278, 1), (273, 4, 7_900_000, b"\1\2\3\0" * 7_900_000)),
    "a TIFF with a tile of 22,000 × 22,000": lambda: tiff(
        long(322, 22_000),
        long(323, 22_000),
        long(324, 200),
        long(325, 10**6),
        short(259, 8),
        without=(278, 273, 279),
        pixels=deflated_zeros(2**30),
    ),
    "a TIFF strip bomb cut short": lambda: tiff_of_one_strip(BIG, 3_000),
    "a BigTIFF of 1,000,000 equal tags": lambda: big_tiff(10**6),
    "a BigTIFF of 2⁶⁰ tags": lambda: big_tiff(2**60),
}
