"""The choices in the microscope: name, values, default. Addresses are checked by this table (serving/chosen.py). The
browser has its own copy in microscope/core/view.js; a test compares the two."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from playground.figures.drawing.ways import FIRST_WAY, WAYS

_NUMBER = r"-?\d{1,3}(\.\d{1,6})?"


@dataclass(frozen=True)
class Choice:
    key: str  # the choice's name in the browser's view and in an address
    default: object  # None: the default depends on the picture and the model
    options: Collection[object] = ()  # all allowed values; empty: see `pattern`
    pattern: str = ""  # a regular expression for allowed values in an address
    field: str = ""  # the field of Spec with this choice; "": a drawn figure does not have the choice

    @property
    def text(self) -> str:
        """A regular expression for the choice's value in an address."""
        options = (True, False) if isinstance(self.default, bool) else self.options
        return self.pattern or "|".join(re.escape(as_in_address(option)) for option in options)


VIEW_CHOICES = (
    Choice("layer", None, pattern=r"\d{1,3}", field="layer"),
    Choice("head", 0, pattern=r"\d{1,3}", field="head"),
    Choice("query", None, pattern=r"\d{1,3},\d{1,3}|cls|dist|reg\d{1,2}", field="query"),
    Choice("locked", False),
    Choice("scale", "on", pattern=rf"on|off|{_NUMBER}|\d(\.\d+)?(e-\d+)?", field="scale"),
    Choice("pass", "layer", ("layer", "whole"), field="whole"),
    Choice("cut", "", pattern=r"[0-9a-z,<>@.:+*;]{3,1000}", field="cut"),
    Choice("label", "", pattern=r"\d{1,5}", field="label"),
    Choice("text", "", pattern=r"[A-Za-z0-9][A-Za-z0-9 ,.'-]{0,59}", field="text"),
    Choice("blank", "mean", ("mean", "noise", "neighbours"), field="blank"),
    Choice("what", FIRST_WAY, WAYS, field="what"),
    Choice("direction", "row", ("row", "column"), field="direction"),
    Choice("ceiling", "auto", pattern=rf"auto|{_NUMBER}", field="ceiling"),
    Choice("beside", "convolution", ("convolution", "wall", "compare", "filter")),
    Choice("curtain", 0, pattern=r"[01](\.\d{1,3})?"),
)
FIGURE_CHOICES = tuple(choice for choice in VIEW_CHOICES if choice.field)  # the choices that a figure has too


def as_in_address(value: object) -> str:
    """The value as an address writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def allowed_words(words: Mapping[str, str]) -> dict[str, str]:
    """The words of a link that name a choice and give it an allowed value; all others are dropped."""
    return with_allowed_values(words, {choice.key: choice.text for choice in VIEW_CHOICES})


def with_allowed_values(words: Mapping[str, str], patterns: Mapping[str, str]) -> dict[str, str]:
    """The words whose values match their patterns, in the patterns' order."""
    return {
        key: words[key]
        for key, pattern in patterns.items()
        if key in words and re.fullmatch(pattern, words[key], re.ASCII)
    }
