"""What an option of a figure is called by those who read of it: `other_image=` in Python, `--with-image` on the command
line, `with` in an address.

A sentence holds options by their names in a Spec: {mass}, or with a value {layout:compare}. Whoever shows the sentence
puts the words of its readers in: `OptionError.told(words)`. Python's are there without asking.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Formatter

from playground.errors import PlaygroundError


@dataclass(frozen=True)
class Words:
    """The words of those who read a sentence."""

    alone: Callable[[str], str]  # an option -> its word
    given: Callable[[str, str], str]  # its word, and a value -> how both are written
    own: Mapping[str, str] = field(default_factory=dict)  # what follows no rule, whatever its value is

    def __getitem__(self, option: str) -> Word:
        if option in self.own:
            return Word(self.own[option], lambda word, value: word)
        return Word(self.alone(option), self.given)

    def put_into(self, sentence: str, *values: object) -> str:
        """{} and {0} are values, {mass} and {layout:compare} options."""
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


OTHER = "other="  # another trace: of another model, or of a whole pass with another scale
PYTHON = Words("{}=".format, _with_a_value, {"other_model": OTHER, "whole": OTHER})


class OptionError(PlaygroundError):
    """A sentence that names options of a figure. As it stands it is for Python."""

    def __init__(self, sentence: str, *values: object) -> None:
        self.sentence, self.values = sentence, values
        super().__init__(self.told(PYTHON))

    def told(self, words: Words) -> str:
        return words.put_into(self.sentence, *self.values)


def word(option: str, value: object) -> str:
    """For a sentence: a switch as it was turned, anything else by its name."""
    return f"{{{option}:{value}}}" if isinstance(value, bool) else f"{{{option}}}"


def told(error: PlaygroundError, words: Words) -> str:
    return error.told(words) if isinstance(error, OptionError) else str(error)
