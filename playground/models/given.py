"""Reads options on how a model was built and trained: facts that a file of weights may lack."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from playground.errors import PlaygroundError
from playground.numbers import index

Colours = tuple[float, float, float]
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "quick_gelu", "silu")  # as in vit_parts.py, which imports torch
POOL_WORDS = {
    "token": "the class token",
    "avg": "the mean of the patches",
}  # poolings that the weights do not tell apart
POOLS = (*POOL_WORDS, "map", "max", "avgmax")  # timm's names; with the last two the playground shows rows but no labels
LARGEST_COLOUR = 10  # the largest accepted mean or deviation; pixels lie between 0 and 1


@dataclass(frozen=True)
class GivenOptions:
    """How a model was built and trained, under timm's names, which `load` uses too; None: not given."""

    mean: Colours | None = None
    std: Colours | None = None
    num_heads: int | None = None
    act_layer: str | None = None
    global_pool: str | None = None

    @staticmethod
    def read(words: Mapping[str, Any]) -> GivenOptions:
        """Parses options, given as Python values or as texts of a command, such as "0.5,0.5,0.5"."""
        values = {word: _READERS[word](word, words[word]) for word in OPTION_NAMES if words.get(word) is not None}
        return GivenOptions(**values)

    @staticmethod
    def from_json_beside(file: Path) -> GivenOptions:
        """The options in the .json beside a file of weights: {"mean": [0.485, 0.456, 0.406], …}."""
        words = json_of(file.with_suffix(".json"))
        try:
            return GivenOptions.read(words)
        except PlaygroundError as error:
            raise PlaygroundError(f"{file.with_suffix('.json')}: {error}") from None

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for word in OPTION_NAMES if getattr(self, word) is not None)

    @property
    def texts(self) -> dict[str, str]:
        """{option: value as text}, for the flags of a command."""
        values = {word: getattr(self, word) for word in self.words}
        return {
            word: ",".join(map(repr, value)) if isinstance(value, tuple) else str(value)
            for word, value in values.items()
        }

    def with_defaults(self, defaults: GivenOptions) -> GivenOptions:
        """These options, with `defaults` for those that are None."""
        return replace(defaults, **{word: getattr(self, word) for word in self.words})


NO_OPTIONS = GivenOptions()
OPTION_NAMES = tuple(field.name for field in dataclasses.fields(GivenOptions))


def _read_colours(word: str, value: Any) -> Colours:
    parts = value.replace(",", " ").split() if isinstance(value, str) else value
    try:
        red, green, blue = (float(part) for part in parts)
    except (TypeError, ValueError):
        raise PlaygroundError(
            f"{word} is a number for red, green and blue, such as 0.485,0.456,0.406; given was {value!r:.60}."
        ) from None
    colours = red, green, blue
    if not all(math.isfinite(number) and abs(number) <= LARGEST_COLOUR for number in colours):
        raise PlaygroundError(f"{word} is of pixels between 0 and 1; given was {value!r:.60}.")
    if word == "std" and min(colours) <= 0:
        raise PlaygroundError(f"std divides the pixels: its numbers are greater than 0; given was {value!r:.60}.")
    return colours


def _read_count(word: str, value: Any) -> int:
    number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 6 else index(value)
    if number is None or not 1 <= number <= 256:
        raise PlaygroundError(f"{word} goes from 1 to 256; given was {value!r:.60}.")
    return number


def _one_of(names: Collection[str]) -> Callable[[str, Any], str]:
    def read(word: str, value: Any) -> str:
        if value not in names:
            raise PlaygroundError(f"{word} is one of {', '.join(names)}; given was {value!r:.60}.")
        return value

    return read


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "mean": _read_colours, "std": _read_colours, "num_heads": _read_count, "act_layer": _one_of(ACTIVATIONS),
    "global_pool": _one_of(POOLS),
}  # fmt: skip


def json_of(file: Path) -> dict[str, Any]:
    """The object in a JSON file; {} if the file is missing, invalid, or holds no object."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
