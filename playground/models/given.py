"""What a person says of a model, where a file of weights alone does not: how it was built and trained."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from playground.errors import PlaygroundError

Colours = tuple[float, float, float]
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "quick_gelu", "silu")  # those of vit.py, by name: torch can wait
READ_OUT = {"token": "the class token", "avg": "the mean of the patches"}  # what weights can't tell apart
POOLS = (*READ_OUT, "map", "max", "avgmax")  # of timm; of the last two the playground shows rows, and no labels
LARGEST = 10  # the largest mean or deviation that is taken: pixels lie between 0 and 1


@dataclass(frozen=True)
class Given:
    """How a model was built and trained, in the words of `load`, which are timm's; None: not said."""

    mean: Colours | None = None
    std: Colours | None = None
    num_heads: int | None = None
    act_layer: str | None = None
    global_pool: str | None = None

    @staticmethod
    def read(said: Mapping[str, Any]) -> Given:
        """Of Python's values, or of text as a command has it: "0.5,0.5,0.5". PlaygroundError says what can't be."""
        found = {word: _READ[word](word, said[word]) for word in WORDS if said.get(word) is not None}
        return Given(**found)

    @staticmethod
    def beside(file: Path) -> Given:
        """What a .json of the same name says of a file of weights: {"mean": [0.485, 0.456, 0.406], …}."""
        said = json_of(file.with_suffix(".json"))
        try:
            return Given.read(said)
        except PlaygroundError as error:
            raise PlaygroundError(f"{file.with_suffix('.json')}: {error}") from None

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for word in WORDS if getattr(self, word) is not None)

    @property
    def texts(self) -> dict[str, str]:
        """As a command says it."""
        values = {word: getattr(self, word) for word in self.words}
        return {
            word: ",".join(map(repr, value)) if isinstance(value, tuple) else str(value)
            for word, value in values.items()
        }

    def before(self, other: Given) -> Given:
        """With what `other` says where this one is silent."""
        return replace(other, **{word: getattr(self, word) for word in self.words})


NOTHING = Given()
WORDS = tuple(field.name for field in dataclasses.fields(Given))


def _three(word: str, given: Any) -> Colours:
    parts = given.replace(",", " ").split() if isinstance(given, str) else given
    try:
        red, green, blue = (float(part) for part in parts)
    except (TypeError, ValueError):
        raise PlaygroundError(
            f"{word} is a number for red, green and blue, such as 0.485,0.456,0.406; given was {given!r:.60}."
        ) from None
    numbers = red, green, blue
    if not all(math.isfinite(number) and abs(number) <= LARGEST for number in numbers):
        raise PlaygroundError(f"{word} is of pixels between 0 and 1; given was {given!r:.60}.")
    if word == "std" and min(numbers) <= 0:
        raise PlaygroundError(f"std divides the pixels: its numbers are greater than 0; given was {given!r:.60}.")
    return numbers


def _count(word: str, given: Any) -> int:
    whole = int(given) if isinstance(given, str) and given.isdecimal() and len(given) < 6 else given
    if isinstance(whole, bool) or not isinstance(whole, int) or not 1 <= whole <= 256:
        raise PlaygroundError(f"{word} goes from 1 to 256; given was {given!r:.60}.")
    return whole


def _one_of(names: Collection[str]) -> Callable[[str, Any], str]:
    def read(word: str, given: Any) -> str:
        if given not in names:
            raise PlaygroundError(f"{word} is one of {', '.join(names)}; given was {given!r:.60}.")
        return given

    return read


_READ: dict[str, Callable[[str, Any], Any]] = {
    "mean": _three, "std": _three, "num_heads": _count, "act_layer": _one_of(tuple(ACTIVATIONS)),
    "global_pool": _one_of(POOLS),
}  # fmt: skip


def json_of(file: Path) -> dict[str, Any]:
    """The object in a JSON file; empty where the file is missing, is no JSON or holds no object."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
