"""Hostile weights and packs, with impossible claims.

FILES maps a name to a function that writes the file into a folder and returns the function that reads it.
"""

import dataclasses
import json
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

import playground
from playground.pack import FORMAT, pack
from playground.tracing import Trace
from playground.vit import Config, VisionTransformer

SMALL = Config(image_size=(32, 32), patch_size=8, depth=2, width=24, mlp_width=48, heads=2, classes=3)
Reader = Callable[[], object]


def sparse_file(file: Path, size: int) -> Path:
    """Makes or extends a sparse file to this size, which takes no more space on the disk."""
    with file.open("r+b" if file.exists() else "wb") as stream:
        stream.truncate(size)
    return file


def small_weights(folder: Path, value: float = 0.0, **entries) -> Reader:
    """Weights of a small model, all with the same value; `entries` replaces some of its description."""
    state = {name: torch.full_like(tensor, value) for name, tensor in VisionTransformer(SMALL).state_dict().items()}
    config = json.dumps(dataclasses.asdict(SMALL) | entries)
    save_file(state, folder / "a.safetensors", metadata={"config": config})
    return partial(playground.load, folder / "a.safetensors", device="cpu")


def sparse_weights(folder: Path, numbers: int = 2**28, header_length: int | None = None) -> Reader:
    """A sparse file of weights, whose header names one large tensor."""
    entries: dict = {"a": {"dtype": "F32", "shape": [numbers], "data_offsets": [0, 4 * numbers]}}
    entries["__metadata__"] = {"config": json.dumps(dataclasses.asdict(SMALL))}
    header_text, file = json.dumps(entries).encode(), folder / "a.safetensors"
    file.write_bytes(struct.pack("<Q", header_length or len(header_text)) + header_text)
    sparse_file(file, 8 + len(header_text) + 4 * numbers)
    return partial(playground.load, file, device="cpu")


def pack_of(folder: Path, header: dict, body: bytes = b"") -> Reader:
    header_text = json.dumps(header).encode()
    return partial(Trace.from_bytes, struct.pack("<I", len(header_text)) + header_text + body)


def large_pack(folder: Path, number: float) -> Reader:
    """A valid pack of 12 layers, 12 heads and 1,024 patches, in which all numbers are `number`."""
    shape = (12, 12, 1024, 64)
    header = {
        "format": FORMAT, "model": "x", "layers": 12, "heads": 12, "head_dim": 64, "tokens": 1024,
        "prefix": [], "size": [512, 512], "patch": 16, "held": list(range(12)), "scale": 0.125, "forward_scale": 0.125,
        "predictions": None,
    }  # fmt: skip
    arrays = {name: np.full(shape, number, np.float16) for name in ("q", "k")}
    return partial(Trace.from_bytes, pack(header, arrays | {"value_norms": np.ones(shape[:3], np.float16)}))


FILES: dict[str, Callable[[Path], Reader]] = {
    "weights that are a sparse gigabyte": sparse_weights,
    "weights whose header is a gigabyte": partial(sparse_weights, header_length=2**30),
    "weights of ten thousand layers": partial(small_weights, depth=10_000),
    "weights of a thousand million numbers a token": partial(small_weights, width=10**9),
    "weights for pictures of 10⁵ pixels a side": partial(small_weights, image_size=[10**5, 10**5]),
    "weights for a million registers": partial(small_weights, registers=10**6),
    "weights that are NaN": partial(small_weights, value=float("nan")),
    "weights that are infinite": partial(small_weights, value=float("inf")),
    "a pack of a thousand million million numbers": partial(
        pack_of, header={"sections": {"a": {"dtype": "uint8", "shape": [2**50], "offset": 0}}}
    ),
    "a pack whose header is 4 GB": lambda folder: partial(Trace.from_bytes, b"\xff" * 4 + bytes(100)),
    "a pack whose header is a million lists": lambda folder: partial(
        Trace.from_bytes, struct.pack("<I", 4 * 10**6) + b"[" * 4 * 10**6
    ),
    "a pack of the same bytes four thousand times": partial(
        pack_of,
        header={"sections": {f"{i}": {"dtype": "uint8", "shape": [10**6], "offset": 0} for i in range(4000)}},
        body=bytes(10**6),
    ),
    "a large pack of NaN": partial(large_pack, number=float("nan")),
    "a large pack of infinite numbers": partial(large_pack, number=float("inf")),
}
