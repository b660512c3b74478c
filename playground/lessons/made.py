"""A recipe stands in a part where a value depends on the trace on view. The browser computes the value: of a sample or
of a person's own photograph, with a server or without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Made:
    """The name of a function of microscope/lessons/subject.js or core/measures.js, and its arguments, which may be
    recipes too."""

    name: str
    given: Mapping[str, object]


def made(name: str, **given: object) -> Made:
    return Made(name, given)


def made_words(text: str, **values: Made) -> Made:
    """The text with values in its blanks, such as {rows:,}; {share:%} is written by our rule for shares."""
    return Made("words", {"text": text, **values})
