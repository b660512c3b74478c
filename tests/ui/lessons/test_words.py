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
MOST_WORDS = 9_100  # most words outside of folds; once, there were about 16,000
MOST_WITH_REASONS = 10_300  # most words with the reasons for all wrong guesses
MOST_IN_A_STEP = 480  # most words of one step, with the reasons for all wrong guesses
WORDLESS_FIELDS = ("figure", "file", "after", "kind")  # fields that hold no sentences


def sentences(parts: Iterable[dict], reasons: Callable[[list], list]) -> Iterator[str]:
    """All sentences of the parts, without code and without contents of folds. `reasons` chooses which of the reasons
    for wrong guesses count, because a reader sees only one of them."""
    for record in parts:
        part = {name: value for name, value in record.items() if name != "own"}  # `own` is for a user's photograph
        if part["kind"] == "fold":
            yield part["title"]
        elif "parts" in part:
            yield from sentences(part["parts"], reasons)
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
            yield from strings({name: value for name, value in part.items() if name not in WORDLESS_FIELDS})


def longest_reason(reasons: list[str]) -> list[str]:
    return [max(reasons, key=word_count)] if reasons else []


def word_count(text: str) -> int:
    return sum(any(letter.isalpha() for letter in word) for word in re.split(r"\s+", text))


@cache
def parts_of_step(name: str, step: str) -> list[dict]:
    return plain_parts(parts_of(name, step), stand_in_for_file)


def words_of_lessons() -> dict[str, int]:
    """{lesson: number of its words}. A label that several steps show counts once."""
    return {
        name: sum(map(word_count, {
            text for step in lesson.steps for text in sentences(parts_of_step(name, step), longest_reason)
        })) + word_count(lesson.idea)
        for name, lesson in LESSONS.items()
    }  # fmt: skip


def test_the_lessons_are_short():
    word_counts = words_of_lessons()
    print(sum(word_counts.values()), word_counts)
    assert sum(word_counts.values()) <= MOST_WORDS


def test_no_step_is_long():
    word_counts = {
        (name, step): sum(map(word_count, sentences(parts_of_step(name, step), list)))
        for name, lesson in LESSONS.items()
        for step in lesson.steps
    }
    print(sum(word_counts.values()), sorted(word_counts.items(), key=lambda pair: -pair[1])[:12])
    assert sum(word_counts.values()) <= MOST_WITH_REASONS
    assert max(word_counts.values()) <= MOST_IN_A_STEP
