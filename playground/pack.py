"""Arrays as bytes, for the browser and the standalone figure: a JSON header, then the arrays one after another.

    u32 little-endian n | n bytes of UTF-8 JSON, padded with spaces | array | array | …

Everything starts at a multiple of 16 bytes, so that JavaScript can make a typed array of it without copying. The
header's "sections" names each array with its offset (from the end of the header), dtype and shape.
"""

from __future__ import annotations

import json
import math
import struct

import numpy as np

from playground.errors import PlaygroundError

ALIGN = 16


def pack(header: dict, arrays: dict[str, np.ndarray | bytes]) -> bytes:
    sections, offset, body = {}, 0, []
    for name, array in arrays.items():
        array = np.frombuffer(array, np.uint8) if isinstance(array, bytes) else np.ascontiguousarray(array)
        sections[name] = {"offset": offset, "dtype": array.dtype.name, "shape": list(array.shape)}
        data = array.tobytes()
        body.append(data + bytes(-len(data) % ALIGN))
        offset += len(body[-1])
    text = json.dumps({**header, "sections": sections}, ensure_ascii=False, allow_nan=False).encode()
    text += b" " * (-(4 + len(text)) % ALIGN)
    return b"".join([struct.pack("<I", len(text)), text, *body])


def unpack(data: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """The header and the arrays, which are views of `data`."""
    try:
        (length,) = struct.unpack_from("<I", data)
        header = json.loads(data[4 : 4 + length].decode())
        arrays = {}
        for name, section in header["sections"].items():
            dtype, shape = np.dtype(section["dtype"]), [int(n) for n in section["shape"]]
            array = np.frombuffer(data, dtype, math.prod(shape), 4 + length + int(section["offset"]))
            arrays[name] = array.reshape(shape)
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise PlaygroundError(f"These bytes are no pack of this playground ({error}).") from None
    return header, arrays
