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
LONGEST_HEADER = 4 * 2**20  # bytes
KINDS = ("float16", "float32", "float64", "uint8", "int8", "uint16", "int16", "uint32", "int32", "int64")


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


def eight_bits(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(…, tokens, dim) float32 -> (codes uint8, low, step): each dimension from its smallest to its largest in 255 even
    steps, so that x ≈ low + step · code. `low` and `step` are (…, dim) float32."""
    low, high = x.min(-2), x.max(-2)
    step = np.where(high > low, (high - low) / 255, 1).astype(np.float32)
    return ((x - low[..., None, :]) / step[..., None, :]).round().clip(0, 255).astype(np.uint8), low, step


def from_eight_bits(codes: np.ndarray, low: np.ndarray, step: np.ndarray) -> np.ndarray:
    return low[..., None, :] + step[..., None, :] * codes.astype(np.float32)


def in_eight_bits(data: bytes) -> bytes:
    """A trace's pack with its queries and keys in half as many bytes: to be drawn, not to be read as numbers."""
    header, arrays = unpack(data)
    del header["sections"]
    for name in ("q", "k"):
        parts = eight_bits(arrays[name].astype(np.float32))
        arrays |= zip((name, f"{name}_low", f"{name}_step"), parts, strict=True)
    return pack(header, arrays)


def unpack(data: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """The header and the arrays, which are views of `data`. What the header says is believed only as far as there are
    bytes."""
    try:
        (length,) = struct.unpack_from("<I", data)
        if length > min(LONGEST_HEADER, len(data) - 4):
            raise ValueError("they don't begin with the header of one")
        header = json.loads(data[4 : 4 + length].decode(), parse_constant=_no_number)
        arrays, claimed = {}, 0
        for name, section in header["sections"].items():
            if section["dtype"] not in KINDS:
                raise ValueError(f"{name} is {section['dtype']!r:.60}")
            shape, offset = section["shape"], section["offset"]
            if not (len(shape) <= 8 and all(type(n) is int and n >= 0 for n in (*shape, offset))):
                raise ValueError(f"{name} is of the shape {shape!r:.60}")
            array = np.frombuffer(data, section["dtype"], math.prod(shape), 4 + length + offset)
            if (claimed := claimed + array.nbytes) > len(data):
                raise ValueError("it says that the same bytes are several arrays")
            arrays[name] = array.reshape(shape)
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise PlaygroundError(f"These bytes are no pack of this playground ({error}).") from None
    return header, arrays


def upper_layer(layers: int) -> int:
    """The layer that is shown by default: two thirds of the way up, where heads tend to look at objects. The same rule
    stands in microscope/core/view.js."""
    return 2 * layers // 3


def _no_number(word: str) -> None:
    raise ValueError(f"its header says {word}")
