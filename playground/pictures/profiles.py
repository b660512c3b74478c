"""Whether LittleCMS may be asked to read a colour profile, told by its table of tags.

Two kinds would take what no picture is worth: multi-process elements, whose stages may be named a hundred thousand
times in a few hundred bytes and are all computed for each of 36,000 colours; and tables that claim more numbers than
the profile holds, for which room is made before they are read. Cameras, scanners, screens and printers need neither.
"""

from __future__ import annotations

import math
import struct

TAGS_AT, TAG = 128, struct.Struct(">4sII")  # name, offset, size
MOST_TAGS = 100  # LittleCMS reads no profile that has more


def is_usable(profile: bytes) -> bool:
    held = memoryview(profile)
    try:
        (count,) = struct.unpack_from(">I", held, TAGS_AT)
        if count > MOST_TAGS:
            return False
        tags = [TAG.unpack_from(held, TAGS_AT + 4 + TAG.size * number) for number in range(count)]
        return all(_is_modest(held[offset:], len(held)) for _, offset, _ in tags)
    except (struct.error, ValueError):  # cut short
        return False


def _is_modest(data: memoryview, held: int) -> bool:
    """Of a tag, and all that follows it: where it ends is only claimed."""
    kind = bytes(data[:4])
    if kind == b"mpet":
        return False
    if kind in (b"mft1", b"mft2"):  # a table with as many points along each side
        inputs, outputs, points = data[8:11]
        return points**inputs * outputs <= held
    if kind in (b"mAB ", b"mBA ") and (at := int.from_bytes(data[24:28])):
        inputs, outputs = data[8:10]
        return math.prod(data[at : at + 16][:inputs]) * outputs <= held
    return True
