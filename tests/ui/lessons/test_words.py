"""Bounds on the number of words that a reader of the lessons has to read."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pytest
from lessons.playing import parts_of, stand_in_for_file

from playground.lessons.parts import plain_parts
from playground.lessons.registry import LESSONS
from ui.lessons.kept import strings

pytestmark = pytest.mark.usefixtures("nothing_fetched")
MOST = 9_100  # most words outside of folds; once, there were about 16,000
ALL = 10_300  # most words with the reasons for all wrong guesses
LONGEST = 480  # most words of one step, with the reasons for all wrong guesses
DRAWN = ("figure", "file", "after", "kind")  # fields that hold no sentences


def read(parts: Iterable[dict], reasons: Callable[[list], list]) -> Iterator[str]:
    """All sentences of the parts, without code and without contents of folds. `reasons` chooses which of the reasons
    for wrong guesses count, because a reader sees only one of them."""
    for record in parts:
        part = {name: value for name, value in record.items() if name != "own"}  # `own` is for a user's photograph
        if part["kind"] == "fold":
            yield part["title"]
        elif "parts" in part:
            yield from read(part["parts"], reasons)
        elif part["kind"] == "ask":
            question = part["question"]
            yield from strings(question | {"tempting": reasons([why for _, why in question["tempting"]])})
        elif part["kind"] == "exercise":
            exercise_reasons = [why for _, why in part["tempting"]] + [why for _, why in part["answers"]]
            yield from strings(
                part | {"tempting": reasons(exercise_reasons), "answers": [words for words, _ in part["answers"]]}
            )
        elif part["kind"] == "drawing" and part["name"] == "read":  # this drawing shows lines of code
            yield from ()
        elif part["kind"] != "code":
            yield from strings({name: value for name, value in part.items() if name not in DRAWN})


def one(reasons: list[str]) -> list[str]:
    return [max(reasons, key=words_in)] if reasons else []


def words_in(text: str) -> int:
    return sum(any(letter.isalpha() for letter in word) for word in re.split(r"\s+", text))


@cache
def parts_of_step(name: str, step: str) -> list[dict]:
    return plain_parts(parts_of(name, step), stand_in_for_file)


def met() -> dict[str, int]:
    """{lesson: number of its words}. A label that several steps show counts once."""
    return {
        name: sum(
            map(words_in, {text for step in lesson.steps for text in read(parts_of_step(name, step), one)})
        ) + words_in(lesson.idea)
        for name, lesson in LESSONS.items()
    }  # fmt: skip


def test_the_lessons_are_short():
    lessons = met()
    print(sum(lessons.values()), lessons)
    assert sum(lessons.values()) <= MOST


def test_no_step_is_long():
    steps = {
        (name, step): sum(map(words_in, read(parts_of_step(name, step), list)))
        for name, lesson in LESSONS.items()
        for step in lesson.steps
    }
    print(sum(steps.values()), sorted(steps.items(), key=lambda one: -one[1])[:12])
    assert sum(steps.values()) <= ALL
    assert max(steps.values()) <= LONGEST
