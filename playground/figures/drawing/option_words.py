"""How readers write an option of a figure: `other_image=` in Python, `--with-image` on the command line, `with` in an
address.

A sentence names options by their fields in Spec: {mass}, or with a value {layout:compare}. `OptionError.in_words`
replaces these names by the words of one kind of reader; `str()` of the error writes them as in Python.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Formatter

from playground.errors import PlaygroundError


@dataclass(frozen=True)
class Words:
    """How one kind of reader writes options."""

    alone: Callable[[str], str]  # an option -> its word
    given: Callable[[str, str], str]  # (an option's word, a value) -> the option with that value
    own: Mapping[str, str] = field(default_factory=dict)  # an option -> its word, to which no value is added

    def __getitem__(self, option: str) -> Word:
        if option in self.own:
            return Word(self.own[option], lambda word, value: word)
        return Word(self.alone(option), self.given)

    def put_into(self, sentence: str, *values: object) -> str:
        """Fills a sentence: {} and {0} with values, {mass} and {layout:compare} with options' words."""
        return Formatter().vformat(sentence, values, self)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Word:
    word: str
    given: Callable[[str, str], str]

    def __format__(self, value: str) -> str:
        return self.given(self.word, value) if value else self.word


def _with_a_value(word: str, value: str) -> str:
    if value in ("True", "False"):
        return f"{word}{value}"
    return f"{word}({value.replace(',', ', ')})" if re.fullmatch(r"\d+,\d+", value) else f'{word}"{value}"'


OTHER_ARGUMENT = "other="  # the argument in Python for a trace of another model or of a pass with another scale
PYTHON_WORDS = Words("{}=".format, _with_a_value, {"other_model": OTHER_ARGUMENT, "whole": OTHER_ARGUMENT})


class OptionError(PlaygroundError):
    """An error whose sentence names options of a figure. `str()` writes them as in Python."""

    def __init__(self, sentence: str, *values: object) -> None:
        self.sentence, self.values = sentence, values
        super().__init__(self.in_words(PYTHON_WORDS))

    def in_words(self, words: Words) -> str:
        return words.put_into(self.sentence, *self.values)


def option_field(option: str, value: object) -> str:
    """The field of a sentence that `Words.put_into` fills with this option. A bool's value is in the field's name."""
    return f"{{{option}:{value}}}" if isinstance(value, bool) else f"{{{option}}}"


def sentence_of(error: PlaygroundError, words: Words) -> str:
    return error.in_words(words) if isinstance(error, OptionError) else str(error)


# Parsers of texts that people type: a patch, a length, a size, several numbers.


def read_query(text: str | None) -> tuple[int, int] | str | None:
    parts = (text or "").split(",")
    if len(parts) == 2 and all(part.strip().lstrip("-").isdecimal() for part in parts):
        return int(parts[0]), int(parts[1])
    return text


INCHES_PER_UNIT = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27, "": 1.0}  # TeX's points


def read_length(text: str) -> float:
    """The length in inches."""
    length = re.fullmatch(r"(\d{1,4}(?:\.\d{1,17})?) ?(in|cm|mm|pt|)", text.strip())
    if not length:
        raise argparse.ArgumentTypeError(f"a width is 5.5in, 89mm, 8.5cm or 397pt; given was {text}")
    return float(length[1]) * INCHES_PER_UNIT[length[2]]


def write_length(inches: float) -> str:
    """The length in the unit with the shortest exact text. A rounded width would make another figure."""
    texts = [f"{inches / unit_inches:.6g}{unit}" for unit, unit_inches in INCHES_PER_UNIT.items() if unit]
    exact_texts = [text for text in texts if read_length(text) == inches]
    return min(exact_texts, key=len, default=f"{inches!r}in")


def read_size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise PlaygroundError(f"--size is HEIGHTxWIDTH in pixels, such as 448x672; given was {text}.")
    return int(parts[0]), int(parts[1])


LARGEST_NUMBER = 999  # largest number of a layer or head, as in an address; no model has so many


def read_numbers(text: str | int, most: int | None, error_start: str, noun: str) -> list[int]:
    """The numbers in a text such as "all", "3", "0-3", "2,5" or "2,all", each once. `most`: how many layers or heads
    exist; None: not known yet. Errors begin with `error_start` ("{layer} takes"), and name `noun` ("layer")."""
    numbers: list[int] = []
    for part in str(text).split(","):
        end_texts = ("0", str((most or 1) - 1)) if part == "all" else part.split("-")
        if not (1 <= len(end_texts) <= 2 and all(end.strip().isdecimal() for end in end_texts)):
            raise OptionError(
                f"{error_start} a number counting from 0, several as 2,5 or 0-3, or all; not {{!r}}.", text
            )
        first, last = (int(end) if len(end) < 9 else 10**9 for end in (end_texts[0], end_texts[-1]))
        if first > last:
            raise OptionError(f"{error_start} numbers that go up: {last}-{first} instead of {{}}.", part)
        if last > LARGEST_NUMBER or (most is not None and last >= most):
            end = LARGEST_NUMBER if most is None else most - 1
            raise PlaygroundError(f"There is no {noun} {last}; they count from 0 to {end}.")
        numbers += range(first, last + 1)
    return list(dict.fromkeys(numbers))
