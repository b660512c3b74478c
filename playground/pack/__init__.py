"""Packs named arrays into bytes for the browser and the standalone figure, and reads them.

    u32 little-endian n | n bytes of UTF-8 JSON, padded with spaces | array | array | …

Each array starts at a multiple of 16 bytes, so that JavaScript makes a typed array of it without copying. The JSON
header's field "sections" holds the name, dtype, shape and offset of each array; offsets count from the header's end.
Headers are checked, because a file may come from a stranger.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from mmap import mmap
from typing import Any

import numpy as np

from playground.errors import PlaygroundError

ALIGN = 16
LONGEST_HEADER = 4 * 2**20  # bytes
DTYPES = ("float16", "float32", "float64", "uint8", "int8", "uint16", "int16", "uint32", "int32", "int64")


def pack(header: dict[str, Any], arrays: Mapping[str, np.ndarray | bytes]) -> bytes:
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
    """Rounds (…, tokens, dim) float32 to eight bits: (codes, low, step) with x ≈ low + step · code. Each dimension has
    its own `low` and `step`, (…, dim) float32, so that the 256 codes reach from its smallest value to its largest."""
    low, high = x.min(-2), x.max(-2)
    step = np.where(high > low, (high - low) / 255, 1).astype(np.float32)
    codes = x - low[..., None, :]
    codes /= step[..., None, :]
    return np.rint(codes, out=codes).clip(0, 255, out=codes).astype(np.uint8), low, step


def from_eight_bits(codes: np.ndarray, low: np.ndarray, step: np.ndarray) -> np.ndarray:
    return low[..., None, :] + step[..., None, :] * codes.astype(np.float32)


def unpack(data: bytes | mmap) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Returns the header, and the arrays as views of `data`. Refuses a header that does not fit the bytes."""
    try:
        (length,) = struct.unpack_from("<I", data)
        if length > min(LONGEST_HEADER, len(data) - 4):
            raise ValueError("they don't begin with the header of one")
        header = json.loads(data[4 : 4 + length].decode(), parse_constant=_no_number)
        arrays, claimed_bytes = {}, 0
        for name, section in header["sections"].items():
            if section["dtype"] not in DTYPES:
                raise ValueError(f"{name} is {section['dtype']!r:.60}")
            shape, offset = section["shape"], section["offset"]
            if not (len(shape) <= 8 and all(type(n) is int and n >= 0 for n in (*shape, offset))):
                raise ValueError(f"{name} is of the shape {shape!r:.60}")
            array = np.frombuffer(data, section["dtype"], math.prod(shape), 4 + length + offset)
            if (claimed_bytes := claimed_bytes + array.nbytes) > len(data):
                raise ValueError("it says that the same bytes are several arrays")
            arrays[name] = array.reshape(shape)
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise PlaygroundError(f"These bytes are no pack of this playground ({error}).") from None
    return header, arrays


def upper_layer(layers: int) -> int:
    """The layer that is shown by default: where heads tend to look at objects. core/view.js has the same rule."""
    return 2 * layers // 3


def _no_number(word: str) -> None:
    raise ValueError(f"its header says {word}")


# Bounds on the headers of packs and time-lapses, whose files may come from strangers.

FORMAT = "attention-playground/1"  # the format that the header of a trace's pack names
COUNT_BOUNDS = {  # field of the header -> (smallest value, largest value)
    "layers": (1, 1000), "heads": (1, 1000), "head_dim": (1, 4096), "tokens": (1, 70_000), "patch": (1, 4096),
}  # fmt: skip
MOST_SIDE = 65_536  # pixels of a picture's side
LONGEST_WORD = 300
MOST_SCORE = 1e6  # largest absolute value in queries and keys

Arrays = dict[str, np.ndarray]


def check_trace(header: dict[str, Any], arrays: Arrays) -> None:
    """Checks the pack of a trace. Raises a ValueError that says what is wrong."""
    for name, (smallest, largest) in COUNT_BOUNDS.items():
        if not _is_integer(header[name], smallest, largest):
            raise ValueError(f"{name} goes from {smallest} to {largest:,}, and {header[name]!r:.60} stands there")
    _check_words("model", [header["model"]])
    _check_words("prefix", header["prefix"])
    if not (isinstance(header["size"], list) and len(header["size"]) == 2):
        raise ValueError(f"size is two sides in pixels, not {header['size']!r:.60}")
    if not all(
        _is_integer(side, header["patch"], MOST_SIDE) and side % header["patch"] == 0 for side in header["size"]
    ):
        raise ValueError(f"patches of {header['patch']} pixels don't fill {header['size']!r:.60}")
    patches = math.prod(side // header["patch"] for side in header["size"])
    if patches + len(header["prefix"]) != header["tokens"]:
        raise ValueError(f"{patches} patches and {len(header['prefix'])} more are not {header['tokens']} tokens")
    layers = header["held"]
    if not (isinstance(layers, list) and layers and all(_is_integer(i, 0, header["layers"] - 1) for i in layers)):
        raise ValueError(f"held is layers from 0 to {header['layers'] - 1}, not {layers!r:.60}")
    if len(set(layers)) != len(layers):
        raise ValueError("a layer is held twice")
    for scale in (header["scale"], header["forward_scale"]):
        if not (_is_number(scale) or (scale is None and header["forward_scale"] is None)):
            raise ValueError(f"a scale is a number, not {scale!r:.60}")
    head_numbers = header.get("head_numbers") or []
    if not (
        isinstance(head_numbers, list) and all(_is_integer(n, 0, COUNT_BOUNDS["heads"][1] - 1) for n in head_numbers)
    ):
        raise ValueError(f"head_numbers are heads, not {head_numbers!r:.60}")
    if head_numbers and len(head_numbers) != header["heads"]:
        raise ValueError(f"{len(head_numbers)} heads are named, and {header['heads']} are there")
    _check_words("assumed", [header.get("assumed", "")])
    _check_words("picture_name", [header.get("picture_name", "")])
    _check_words("interventions", header.get("interventions", []))
    if not isinstance(header.get("cuts", []), list):
        raise ValueError(f"cuts are a list of texts, not {header['cuts']!r:.60}")
    for pair in header["predictions"] or []:
        if not (isinstance(pair, list) and len(pair) == 2 and _is_word(pair[0]) and _is_number(pair[1])):
            raise ValueError(f"predictions are labels and numbers, not {pair!r:.60}")
    norms_shape = (len(layers), header["heads"], header["tokens"])
    for name in ("q", "k"):
        _check_floats(name, arrays, (*norms_shape, header["head_dim"]), MOST_SCORE, or_bytes=f"{name}_low" in arrays)
        for array_name in (f"{name}_low", f"{name}_step"):
            if array_name in arrays:
                _check_floats(array_name, arrays, (*norms_shape[:2], header["head_dim"]), MOST_SCORE)
    if "value_norms" in arrays:
        _check_floats("value_norms", arrays, norms_shape)


def _check_floats(
    name: str, arrays: Arrays, shape: tuple[int, ...], largest: float = math.inf, or_bytes: bool = False
) -> None:
    array = arrays[name]
    if array.shape != shape:
        raise ValueError(f"{name} is of the shape {array.shape}, not {shape}")
    if or_bytes and array.dtype == np.uint8:
        return
    if array.dtype not in (np.float16, np.float32):
        raise ValueError(f"{name} is {array.dtype}, no float16 or float32")
    if not (np.isfinite(array).all() and (largest == math.inf or float(np.abs(array).max()) <= largest)):
        raise ValueError(f"{name} holds numbers that are none, or are beyond all measure")


def _is_integer(value: Any, smallest: int, largest: int) -> bool:
    return type(value) is int and smallest <= value <= largest


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e9


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_WORD


def _check_words(name: str, words: Any) -> None:
    if not (isinstance(words, list) and len(words) <= 1000 and all(map(_is_word, words))):
        raise ValueError(f"{name} is in words of at most {LONGEST_WORD} letters, not {words!r:.60}")
