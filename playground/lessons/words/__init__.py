"""One file a lesson: all that it says and asks, as data. Nothing here imports torch before something is asked."""

from playground.lessons import scale
from playground.lessons.texts import Exercise, Step, Text
from playground.lessons.words import (
    block,
    by_hand,
    code,
    cost,
    heads,
    patches,
    shapes,
    training,
    two_ways,
    weight,
)

LESSONS = {module.LESSON.name: module.LESSON for module in (scale,)}


def _text_of(name: str) -> Text:
    lesson = LESSONS[name]
    return Text(name, lesson.idea, {
        key: Step(step.title, step.question, settings=step.settings,
                  exercises=tuple(Exercise("", "", id=id) for id in step.exercises))
        for key, step in lesson.steps.items()
    })  # fmt: skip


_BEFORE, _AFTER = (by_hand, patches, shapes, block), (heads, weight, cost, two_ways, training, code)
_ALL = (*(module.TEXT for module in _BEFORE), _text_of("scale"), *(module.TEXT for module in _AFTER))
TEXTS = {text.page: text for text in _ALL}  # as the pages follow each other
_STEPS = tuple(step for text in TEXTS.values() for step in text.steps.values())
QUESTIONS = tuple(step.question for step in _STEPS)  # ids of all
EXERCISES = tuple(one.id for step in _STEPS for one in step.exercises if one.id)  # that a page checks
