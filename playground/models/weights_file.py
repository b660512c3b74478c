"""A safetensors file of weights. Its header is checked before any of its data is touched: a file may come from anybody,
and claim anything."""

from __future__ import annotations

import dataclasses
import math
import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.models.checkpoints import unwrapped
from playground.models.given import json_of
from playground.vit import ACTIVATIONS, Config

LONGEST_HEADER = 4 * 2**20  # bytes; that of a ViT-g has 100,000
MOST_TENSORS = 10_000


INDEX = ".safetensors.index.json"  # of weights that lie in several files


def shards(index: Path) -> list[Path]:
    """The files that an index names, which lie beside it."""
    names = json_of(index).get("weight_map")
    if not isinstance(names, dict) or not names or not all(isinstance(name, str) for name in names.values()):
        raise PlaygroundError(f"{index} is no index of weights: it has no weight_map.")
    found = sorted(set(names.values()))
    if strange := [name for name in found if Path(name).name != name or not name.endswith(".safetensors")]:
        raise PlaygroundError(f"{index} names {strange[0]!r:.60}, which is no .safetensors file beside it.")
    return [index.with_name(name) for name in found]


def outline(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, Tensor]]:
    """(metadata, tensors without memory): what the file says it holds."""
    if not Path(path).is_file():
        raise PlaygroundError(f"There is no file {path}.")
    if str(path).endswith(INDEX):
        parts = [_outline(part) for part in shards(Path(path))]
        return parts[0][0], _unwrapped(path, {name: x for _, held in parts for name, x in held.items()})
    metadata, held = _outline(path)
    return metadata, _unwrapped(path, held)


def _outline(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, Tensor]]:
    """With the names that the file has."""
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
    return metadata, {name: torch.empty(shape, device="meta") for name, shape in shapes.items()}


def read_weights(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """A state dict. Other formats are refused: pickled ones can run code when they are loaded."""
    parts = shards(Path(path)) if str(path).endswith(INDEX) else [path]
    return _unwrapped(path, {name: x for part in parts for name, x in _read(part).items()})


def _read(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    from safetensors import SafetensorError, safe_open

    _outline(path)
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
    return state


def _unwrapped(path: str | os.PathLike[str], state: dict[str, Tensor]) -> dict[str, Tensor]:
    try:
        return unwrapped(state)
    except PlaygroundError as error:
        raise PlaygroundError(f"{path} can't be loaded: {error}.") from None


def _unreadable(path: str | os.PathLike[str], error: Exception) -> PlaygroundError:
    if isinstance(error, OSError):  # the disk's or the folder's fault: nothing is known about the format
        return PlaygroundError(f"{path} can't be read: {error.strerror or error}.")
    return PlaygroundError(f"{path} is not a readable safetensors file ({error}); save it again in that format.")


# What the description of an architecture may say. Files of weights carry one, and a file may come from anybody.


COUNTS = {  # field -> (smallest, largest): beyond any ViT that was published
    "patch_size": (1, 224), "depth": (1, 100), "width": (1, 8192), "mlp_width": (1, 65_536), "heads": (1, 256),
    "classes": (0, 100_000), "registers": (0, 64), "pool_heads": (0, 256),
}  # fmt: skip
WORDS = {
    "positions": ("learned", "patches", "sinusoidal", "rotary", "none"),
    "pool": ("token", "avg", "map", "map of all", "token+avg"),
    "norm_place": ("tokens", "pooled", "nowhere"),
    "activation": tuple(ACTIVATIONS),
    "interpolation": ("bicubic", "bilinear", "nearest", "lanczos"),
}
MOST_SIDE = 4096  # pixels of a side that a model was trained on
LONGEST_LABEL = 200


def config(said: Any) -> Config:
    """The architecture that a file describes. ValueError says what can't be."""
    if not isinstance(said, dict):
        raise ValueError("it is no list of names and values")
    defaults = {field.name: field.default for field in dataclasses.fields(Config)}
    if unknown := said.keys() - defaults.keys():
        raise ValueError(f"there is no {min(unknown)!r}")
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in said.items()}
    for name, value in given.items():
        _check(name, value, defaults[name])
    made = Config(**given)
    if made.labels and len(made.labels) != made.classes:
        raise ValueError(f"{len(made.labels)} labels stand there for {made.classes} classes")
    if any(side % made.patch_size for side in made.image_size):
        raise ValueError(f"patches of {made.patch_size} pixels don't fill {made.image_size}")
    return made


def _check(name: str, value: Any, default: Any) -> None:
    if type(value) is not type(default) and not (isinstance(default, float) and type(value) is int):
        raise ValueError(f"{name} is a {type(default).__name__}, not {value!r:.60}")
    if name in COUNTS and not COUNTS[name][0] <= value <= COUNTS[name][1]:
        raise ValueError(f"{name} goes from {COUNTS[name][0]} to {COUNTS[name][1]:,}, and {value:,} stands there")
    if name in WORDS and value not in WORDS[name]:
        raise ValueError(f"{name} is one of {', '.join(WORDS[name])}, not {value!r:.60}")
    if name == "eps" and not 0 < value <= 1:
        raise ValueError(f"eps lies between 0 and 1, and {value} stands there")
    if name == "image_size" and not (
        len(value) == 2 and all(type(side) is int and 1 <= side <= MOST_SIDE for side in value)
    ):
        raise ValueError(f"image_size is two sides of at most {MOST_SIDE:,} pixels, not {value!r:.60}")
    if (
        name == "rotation"
        and value
        and not (len(value) == 4 and all(type(n) is int and 0 <= n <= MOST_SIDE for n in value))
    ):
        raise ValueError(f"rotation is four numbers up to {MOST_SIDE:,}, not {value!r:.60}")
    if name in ("mean", "std") and not _colours(value, positive=name == "std"):
        raise ValueError(f"{name} is a number for red, green and blue, not {value!r:.60}")
    if name == "labels" and not all(isinstance(label, str) and len(label) <= LONGEST_LABEL for label in value):
        raise ValueError(f"labels are words of at most {LONGEST_LABEL} letters")


def _colours(value: tuple, positive: bool) -> bool:
    numbers = all(type(number) in (int, float) and math.isfinite(number) and abs(number) <= 10 for number in value)
    return len(value) == 3 and numbers and (not positive or min(value) > 0)
