"""Reads weights from files. The header of a safetensors file is checked before any data is read, because the file may
come from anybody and its header may state anything.

What torch has pickled (.pth, .pt, .bin, .ckpt, .pth.tar) is read by `torch.load(weights_only=True)`, which runs nothing
in the file, and only for Python's `load` and the command line: a server opens safetensors alone.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.models.given import json_of
from playground.models.layouts import unwrapped

LONGEST_HEADER = 4 * 2**20  # bytes; the header of a ViT-g has 100,000
MOST_TENSORS = 10_000
INDEX = ".safetensors.index.json"  # end of the name of an index to weights in several files
PICKLED = (".pth", ".pt", ".bin", ".ckpt", ".tar")
STATE_KEYS = ("state_dict_ema", "model_ema", "state_dict", "model_state_dict", "model", "teacher", "student")


def shards(index: Path) -> list[Path]:
    """The files that an index names, which must lie in the index's folder."""
    names = json_of(index).get("weight_map")
    if not isinstance(names, dict) or not names or not all(isinstance(name, str) for name in names.values()):
        raise PlaygroundError(f"{index} is no index of weights: it has no weight_map.")
    file_names = sorted(set(names.values()))
    if strange_names := [name for name in file_names if Path(name).name != name or not name.endswith(".safetensors")]:
        raise PlaygroundError(f"{index} names {strange_names[0]!r:.60}, which is no .safetensors file beside it.")
    return [index.with_name(name) for name in file_names]


def outline(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """(metadata, weights without memory) from the header of a file, or of the files of an index."""
    headers = [_header(part) for part in (shards(path) if path.name.endswith(INDEX) else [path])]
    return headers[0][0], _without_wrappers(path, {name: x for _, arrays in headers for name, x in arrays.items()})


def read_weights(path: Path) -> dict[str, Tensor]:
    """The weights of a safetensors file, or of the files of an index, in float32."""
    from safetensors import safe_open

    state: dict[str, Tensor] = {}
    for part in shards(path) if path.name.endswith(INDEX) else [path]:
        _header(part)
        try:
            with safe_open(part, framework="pt") as file:
                state |= {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118 `file` is no dict
        except Exception as error:  # its library raises exceptions of its own
            raise _unreadable_error(part, error) from None
    return _finite(path, _without_wrappers(path, state))


def _header(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise PlaygroundError(f"There is no file {path}.")
    try:
        with open(path, "rb") as file:
            first_bytes = file.read(8)
        if first_bytes[:2] in (b"PK", b"\x80\x02"):
            raise PlaygroundError(
                f"{path} is a file that torch has pickled, not safetensors. On your own machine call it .pth, and "
                "playground.load and the command line read it; a server does not."
            )
        if int.from_bytes(first_bytes, "little") > LONGEST_HEADER:
            raise ValueError("it does not begin with the header of one")
        with safe_open(path, framework="pt") as file:
            names = list(file.keys())
            if len(names) > MOST_TENSORS:
                raise ValueError(f"it claims {len(names):,} tensors")
            arrays = {name: torch.empty(file.get_slice(name).get_shape(), device="meta") for name in names}
            return file.metadata() or {}, arrays
    except (SafetensorError, OSError, ValueError, MemoryError, RuntimeError) as error:
        raise _unreadable_error(path, error) from None


def _unreadable_error(path: Path, error: Exception) -> PlaygroundError:
    if isinstance(error, PlaygroundError):
        return error
    if isinstance(error, OSError):  # an error of disk or folder, not of the format
        return PlaygroundError(f"{path} can't be read: {error.strerror or error}.")
    return PlaygroundError(f"{path} is not a readable safetensors file ({error}); save it again in that format.")


def _finite(path: Path, state: dict[str, Tensor]) -> dict[str, Tensor]:
    for name, x in state.items():
        if not bool(torch.isfinite(x).all()):
            raise PlaygroundError(f"{path} holds numbers that are none (NaN or infinite) in {name}.")
    return state


def _without_wrappers(path: Path, state: dict[str, Tensor]) -> dict[str, Tensor]:
    try:
        return unwrapped(state)
    except PlaygroundError as error:
        raise PlaygroundError(f"{path} can't be loaded: {error}.") from None


# Pickled files --------------------------------------------------------------------------------------------------------


def is_pickled(path: Path) -> bool:
    """Whether the name is that of a pickled file. Raises PlaygroundError if there is no such file."""
    if path.suffix not in PICKLED:
        return False
    if not path.is_file():
        raise PlaygroundError(f"There is no file {path}.")
    with open(path, "rb") as file:
        if file.read(2) not in (b"PK", b"\x80\x02"):  # a zip since 2020, before it a bare pickle
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
        raise PlaygroundError(f"{path} {_reason(error)}.") from None
    arch = content.get("arch") if isinstance(content, Mapping) else None
    for name in STATE_KEYS:
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
            break
    items = content.items() if isinstance(content, Mapping) else ()
    state = {name: x for name, x in items if isinstance(name, str) and isinstance(x, Tensor)}
    if not state:
        raise PlaygroundError(
            f"{path} holds no weights: a dictionary of names and tensors, such as torch.save(model.state_dict(), file) "
            "writes."
        )
    if sum(x.numel() * x.element_size() for x in state.values()) > 2 * size + 10**6:
        raise PlaygroundError(f"{path} claims more numbers than it has bytes for.")
    state = _without_wrappers(path, {name: x.detach().float() for name, x in state.items()})
    return {"arch": arch} if isinstance(arch, str) else {}, _finite(path, state)


def _harmless_classes() -> list:
    """Classes that training scripts save with weights, timm's options and NumPy's numbers; making one runs nothing."""
    import argparse

    import numpy

    types = ("float64", "float32", "int64", "int32", "bool")
    scalar = numpy._core.multiarray.scalar
    numpy_types = [numpy.dtype, *(type(numpy.dtype(name)) for name in types)]
    return [argparse.Namespace, scalar, (scalar, "numpy.core.multiarray.scalar"), *numpy_types]


def _reason(error: Exception) -> str:
    sentence = str(error)
    if "weights_only" in sentence or "Unsupported" in sentence or "GLOBAL" in sentence:
        return (
            "holds whole Python objects, which run code when they are read, not weights alone: save them again where "
            "it was made, by torch.save(model.state_dict(), file), or give the model itself to playground.load"
        )
    return f"is no file that torch can read ({(sentence.splitlines() or [type(error).__name__])[0][:200]})"
