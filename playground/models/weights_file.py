"""A safetensors file of weights. Its header is checked before any of its data is touched: a file may come from anybody,
and claim anything."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.models.checkpoints import unwrapped

LONGEST_HEADER = 4 * 2**20  # bytes; that of a ViT-g has 100,000
MOST_TENSORS = 10_000


def outline(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, Tensor]]:
    """(metadata, tensors without memory): what the file says it holds."""
    from safetensors import SafetensorError, safe_open

    if not Path(path).is_file():
        raise PlaygroundError(f"There is no file {path}.")
    try:
        with open(path, "rb") as file:
            first = file.read(8)
        if first[:2] in (b"PK", b"\x80\x02"):
            raise PlaygroundError(
                f"{path} is a file that torch has pickled, not safetensors. On your own machine call it .pth, and "
                "playground.load and the command line read it; a server does not."
            )
        length = int.from_bytes(first, "little")
        if length > LONGEST_HEADER:
            raise ValueError("it does not begin with the header of one")
        with safe_open(path, framework="pt") as file:
            names = list(file.keys())
            if len(names) > MOST_TENSORS:
                raise ValueError(f"it claims {len(names):,} tensors")
            shapes = {name: file.get_slice(name).get_shape() for name in names}
            metadata = file.metadata() or {}
    except PlaygroundError:
        raise
    except (SafetensorError, OSError, ValueError, MemoryError) as error:
        raise _unreadable(path, error) from None
    return metadata, _unwrapped(path, {name: torch.empty(shape, device="meta") for name, shape in shapes.items()})


def read_weights(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """A state dict. Other formats are refused: pickled ones can run code when they are loaded."""
    from safetensors import SafetensorError, safe_open

    outline(path)
    state = {}
    try:
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118 it is no dict
                state[name] = file.get_tensor(name).float()
                if not bool(torch.isfinite(state[name]).all()):
                    raise PlaygroundError(f"{path} holds numbers that are none (NaN or infinite) in {name}.")
    except PlaygroundError:
        raise
    except (SafetensorError, OSError, ValueError, MemoryError) as error:
        raise _unreadable(path, error) from None
    return _unwrapped(path, state)


def _unwrapped(path: str | os.PathLike[str], state: dict[str, Tensor]) -> dict[str, Tensor]:
    try:
        return unwrapped(state)
    except PlaygroundError as error:
        raise PlaygroundError(f"{path} can't be loaded: {error}.") from None


def _unreadable(path: str | os.PathLike[str], error: Exception) -> PlaygroundError:
    if isinstance(error, OSError):  # the disk's or the folder's fault: nothing is known about the format
        return PlaygroundError(f"{path} can't be read: {error.strerror or error}.")
    return PlaygroundError(f"{path} is not a readable safetensors file ({error}); save it again in that format.")
