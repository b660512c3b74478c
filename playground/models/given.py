"""What people and files state of a model: the options of `load`, and the fields of a Config. Files may come from
anybody, so each value lies within bounds. Knows no torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from playground.errors import PlaygroundError
from playground.numbers import index

ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "quick_gelu", "silu")  # as in vit_parts.py, which imports torch
POOL_WORDS = {"token": "the class token", "avg": "the mean of the patches"}  # the weights do not tell these apart
POOLS = (*POOL_WORDS, "map", "max", "avgmax")  # timm's names; with the last two the playground shows rows but no labels

# How a model was built and trained, under timm's names, which `load` uses too -> the field of Config
CONFIG_FIELDS = {"mean": "mean", "std": "std", "num_heads": "heads", "act_layer": "activation", "global_pool": "pool"}
OPTION_NAMES = tuple(CONFIG_FIELDS)
Options = dict[str, Any]  # {option: value}, of those that are stated


class Bounds(NamedTuple):
    words: str  # the end of the sentence "NAME …"
    fit: Callable[[Any], bool]


def _count(smallest: int, largest: int) -> Bounds:
    words = f"goes from {smallest} to {largest:,}"
    return Bounds(words, lambda number: type(number) is int and smallest <= number <= largest)


def _one_of(*names: str) -> Bounds:
    return Bounds(f"is one of {', '.join(names)}", lambda name: name in names)


def _colours(smallest: float, example: str) -> Bounds:
    def fit(numbers: Any) -> bool:
        are_numbers = len(numbers) == 3 and all(type(number) in (int, float) for number in numbers)
        return are_numbers and all(smallest < number <= 10 for number in numbers)  # pixels lie between 0 and 1

    return Bounds(f"is a number for red, green and blue, such as {example}", fit)


BOUNDS = {  # of an option of `load`, and of a field of Config that is no mere yes or no; published ViTs lie within
    "patch_size": _count(1, 224), "depth": _count(1, 100), "width": _count(1, 8192), "mlp_width": _count(1, 65_536),
    "heads": _count(1, 256), "num_heads": _count(1, 256), "classes": _count(0, 100_000), "registers": _count(0, 64),
    "positions": _one_of("learned", "patches", "sinusoidal", "rotary", "none"),
    "stretching": _one_of("antialiased", "plain", "offset"),
    "pool": _one_of("token", "avg", "map", "token+avg"),
    "global_pool": _one_of(*POOLS),
    "norm_place": _one_of("tokens", "pooled", "nowhere"),
    "activation": _one_of(*ACTIVATIONS), "act_layer": _one_of(*ACTIVATIONS),
    "interpolation": _one_of("bicubic", "bilinear", "nearest", "lanczos"),
    "eps": Bounds("is a number between 0 and 1", lambda number: type(number) in (int, float) and 0 < number <= 1),
    "mean": _colours(-10, "0.485,0.456,0.406"),
    "std": _colours(0, "0.229,0.224,0.225, all greater than 0"),
    "image_size": Bounds(
        "is two sides of at most 4,096 pixels",
        lambda sides: len(sides) == 2 and all(type(side) is int and 1 <= side <= 4096 for side in sides),
    ),
    "labels": Bounds(
        "are words of at most 200 letters", lambda words: all(type(word) is str and len(word) <= 200 for word in words)
    ),
}  # fmt: skip


def check(name: str, value: Any) -> None:
    with suppress(TypeError):  # such as the length of a number
        if BOUNDS[name].fit(value):
            return
    raise PlaygroundError(f"{name} {BOUNDS[name].words}; given was {value!r:.60}.")


def read_options(words: Mapping[str, Any]) -> Options:
    """The options among `words`, given as Python values or as texts of a command, such as "0.5,0.5,0.5"."""
    return {name: _read(name, words[name]) for name in OPTION_NAMES if words.get(name) is not None}


def _read(name: str, value: Any) -> Any:
    read = value
    with suppress(TypeError, ValueError):
        if name in ("mean", "std"):
            read = tuple(float(part) for part in (value.replace(",", " ").split() if isinstance(value, str) else value))
        elif name == "num_heads":
            read = int(value) if isinstance(value, str) else index(value)
    check(name, value if read is None else read)
    return read


def config_fields(options: Options) -> dict[str, Any]:
    """The fields of Config for these options. Pools outside POOL_WORDS are left out (see POOLS)."""
    known = {name: value for name, value in options.items() if name != "global_pool" or value in POOL_WORDS}
    return {CONFIG_FIELDS[name]: value for name, value in known.items()}


def json_of(file: Path) -> dict[str, Any]:
    """The object in a JSON file; {} if the file is missing, invalid, or holds no object."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
