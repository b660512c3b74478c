"""Reads weights from files that may come from anybody: the header is checked before any data is read. What torch has
pickled (.pth, .pt, .bin, .ckpt, .pth.tar) is read by `torch.load(weights_only=True)`, which runs nothing in the file,
and only for Python's `load` and the command line: a server opens safetensors alone."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.models.layouts import unwrapped

LONGEST_HEADER = 4 * 2**20  # bytes; the header of a ViT-g has 100,000
MOST_TENSORS = 10_000
PICKLE_STARTS = (b"PK", b"\x80\x02")  # a zip since 2020, before it a bare pickle
PICKLED = (".pth", ".pt", ".bin", ".ckpt", ".tar")
STATE_KEYS = ("state_dict_ema", "model_ema", "state_dict", "model_state_dict", "model", "teacher", "student")


def outline(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """(metadata, weights without memory) from the header of a file."""
    return _read(path, lambda file, name: torch.empty(file.get_slice(name).get_shape(), device="meta"))


def read_weights(path: Path) -> dict[str, Tensor]:
    """The weights of a safetensors file, in float32."""
    return _read(path, lambda file, name: file.get_tensor(name).float())[1]


def _read(path: Path, tensor_of: Callable[[Any, str], Tensor]) -> tuple[dict[str, str], dict[str, Tensor]]:
    from safetensors import safe_open

    _check_start(path)
    try:
        with safe_open(path, framework="pt") as file:  # checks the header's claims against the file's length
            names = list(file.keys())
            if len(names) > MOST_TENSORS:
                raise ValueError(f"it claims {len(names):,} tensors")
            state, metadata = {name: tensor_of(file, name) for name in names}, file.metadata() or {}
    except Exception as error:  # its library raises exceptions of its own
        reason = f"is not a readable safetensors file ({error}); save it again in that format"
        raise PlaygroundError(f"{path} {reason}.") from None
    return metadata, _sound(path, state)


def _check_start(path: Path) -> None:
    try:
        with open(path, "rb") as file:
            start = file.read(8)
    except FileNotFoundError:
        raise PlaygroundError(f"There is no file {path}.") from None
    except OSError as error:  # an error of disk or folder, not of the format
        raise PlaygroundError(f"{path} can't be read: {error.strerror or error}.") from None
    if start[:2] in PICKLE_STARTS:
        raise PlaygroundError(
            f"{path} is a file that torch has pickled, not safetensors. On your own machine call it .pth, and "
            "playground.load and the command line read it; a server does not."
        )
    if int.from_bytes(start, "little") > LONGEST_HEADER:
        raise PlaygroundError(f"{path} is not a readable safetensors file: it does not begin with the header of one.")


def _sound(path: Path, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights, without the prefixes that wrapper classes add to their names. Raises if one is NaN or infinite."""
    try:
        state = unwrapped(state)
    except PlaygroundError as error:
        raise PlaygroundError(f"{path} can't be loaded: {error}.") from None
    for name, x in state.items():
        if not x.is_meta and not bool(torch.isfinite(x).all()):
            raise PlaygroundError(f"{path} holds numbers that are none (NaN or infinite) in {name}.")
    return state


def is_pickled(path: Path) -> bool:
    """Whether the name is that of a pickled file. Raises PlaygroundError if there is no such file."""
    if path.suffix not in PICKLED:
        return False
    if not path.is_file():
        raise PlaygroundError(f"There is no file {path}.")
    with open(path, "rb") as file:
        if file.read(2) not in PICKLE_STARTS:
            raise PlaygroundError(f"{path} is no file of weights that torch wrote.")
    return True


def read_pickled(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """(metadata, weights) of a pickled file, which may be a checkpoint that holds the weights. The metadata may have
    "arch", the model's name as timm's training script writes it."""
    size = path.stat().st_size
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:  # torch compresses nothing
                if sum(member.file_size for member in archive.infolist()) > size:
                    raise PlaygroundError(f"{path} unpacks to far more than its size: it was not read.")
        with torch.serialization.safe_globals(_harmless_classes()):
            content = torch.load(path, map_location="cpu", weights_only=True)
    except PlaygroundError:
        raise
    except Exception as error:  # a damaged or hostile file can make torch raise any exception
        first_line = (str(error).splitlines() or [type(error).__name__])[0][:200]
        advice = "save the weights alone, by torch.save(model.state_dict(), file)"
        reason = f"can't be read by torch without running code ({first_line})"
        raise PlaygroundError(f"{path} {reason}: {advice}, or give the model itself to playground.load.") from None
    arch = content.get("arch") if isinstance(content, Mapping) else None
    for name in STATE_KEYS:
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
            break
    items = content.items() if isinstance(content, Mapping) else ()
    state = {name: x for name, x in items if isinstance(name, str) and isinstance(x, Tensor)}
    if not state:
        raise PlaygroundError(f"{path} holds no weights, such as torch.save(model.state_dict(), file) writes.")
    if sum(x.numel() * x.element_size() for x in state.values()) > 2 * size + 10**6:
        raise PlaygroundError(f"{path} claims more numbers than it has bytes for.")
    metadata = {"arch": arch} if isinstance(arch, str) else {}
    return metadata, _sound(path, {name: x.detach().float() for name, x in state.items()})


def _harmless_classes() -> list:
    """Classes that training scripts save with weights, timm's options and NumPy's numbers; making one runs nothing."""
    import argparse

    import numpy

    types = ("float64", "float32", "int64", "int32", "bool")
    scalar = numpy._core.multiarray.scalar  # type: ignore[attr-defined]
    numpy_types = [numpy.dtype, *(type(numpy.dtype(name)) for name in types)]
    return [argparse.Namespace, scalar, (scalar, "numpy.core.multiarray.scalar"), *numpy_types]
