"""Helpers that compute a lesson's steps for the sample `meadow` in the bundled model, and judge its exercises with
exercise.js under Node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from twins import in_javascript

from playground.lessons.lesson import Lesson
from playground.lessons.parts import After, Fold, Part, Row, plain_parts
from playground.lessons.registry import LESSONS
from playground.serving.here import Here

RIGHT, SILLY = "right", "silly"
JUDGE = """return given.map(({ exercise, settings, reports }) =>
  lessons_exercise.stateOfExercise(exercise, settings, reports));"""


@cache
def meadow() -> Here:
    return Here({"sample": "meadow", "model": "bundled"})


def parts_of(name: str, step: str, **state: object) -> list[Part]:
    lesson = LESSONS[name]
    return list(lesson.steps[step].parts(meadow(), lesson.defaults(**state)))


def flat_parts(parts: Iterable[Part]) -> list[Part]:
    """All parts as one list: After, Row and Fold are replaced by the parts inside of them."""
    return [
        inner_part
        for part in parts
        for inner_part in (flat_parts(part) if isinstance(part, After | Row | Fold) else [part])
    ]


def stand_in_for_file(data: bytes) -> str:
    return f"{len(data)} bytes"


def exercises_of(name: str, step: str, **state: object) -> dict[str, dict]:
    records = flat_records(plain_parts(parts_of(name, step, **state), stand_in_for_file))
    return {part["id"]: part for part in records if part["kind"] == "exercise"}


def flat_records(parts: Iterable[dict]) -> list[dict]:
    return [inner_part for part in parts for inner_part in (flat_records(part["parts"]) if "parts" in part else [part])]


def settings_as_text(lesson: Lesson, state: Mapping[str, object]) -> dict[str, str]:
    return {name: str(state.get(name, setting.default)) for name, setting in lesson.choices.items()}


def verdicts_of(cases: list[dict]) -> list[dict]:
    """The verdicts of exercise.js, [{done, why}], for cases [{exercise, settings, reports}]."""
    return in_javascript(["lessons/exercise"], JUDGE, cases)
