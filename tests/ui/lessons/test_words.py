"""How much a reader of the lessons has to read."""

import re
from collections.abc import Iterable, Iterator

import pytest
from lessons.playing import kept, parts_of

from playground.lessons.parts import plain_parts
from playground.lessons.registry import LESSONS
from ui.lessons.kept import strings

pytestmark = pytest.mark.usefixtures("nothing_fetched")
MOST = 11_350  # words of all steps
LONGEST = 480  # of one
DRAWN = ("figure", "file", "after", "kind")  # fields without sentences of their own


def read(parts: Iterable[dict]) -> Iterator[str]:
    """All sentences, reasons and answers too; code is no prose, and what is folded away is for who wants more."""
    for part in parts:
        if part["kind"] == "fold":
            yield part["title"]
        elif "parts" in part:
            yield from read(part["parts"])
        elif part["kind"] != "code":
            yield from strings({name: value for name, value in part.items() if name not in DRAWN})


def words_of(name: str, step: str) -> int:
    texts = read(plain_parts(parts_of(name, step), kept))
    return sum(any(letter.isalpha() for letter in word) for text in texts for word in re.split(r"\s+", text))


def test_the_lessons_are_short():
    """Some 16,000 words they had; the idea of a lesson stands above its first step."""
    ideas = sum(len(lesson.idea.split()) for lesson in LESSONS.values())
    steps = {(name, step): words_of(name, step) for name, lesson in LESSONS.items() for step in lesson.steps}
    print(ideas + sum(steps.values()), sorted(steps.items(), key=lambda one: -one[1])[:12])
    assert ideas + sum(steps.values()) <= MOST
    assert max(steps.values()) <= LONGEST
