"""Hostile weights, with impossible claims.

FILES maps a name to a function that writes the file into a folder and returns the function that reads it.
"""

import dataclasses
import json
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import save_file

import playground
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


FILES: dict[str, Callable[[Path], Reader]] = {
    "weights that are a sparse gigabyte": sparse_weights,
    "weights whose header is a gigabyte": partial(sparse_weights, header_length=2**30),
    "weights of ten thousand layers": partial(small_weights, depth=10_000),
    "weights of a thousand million numbers a token": partial(small_weights, width=10**9),
    "weights for pictures of 10⁵ pixels a side": partial(small_weights, image_size=[10**5, 10**5]),
    "weights for a million registers": partial(small_weights, registers=10**6),
    "weights that are NaN": partial(small_weights, value=float("nan")),
    "weights that are infinite": partial(small_weights, value=float("inf")),
}
