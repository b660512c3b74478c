"""One file a lesson: all that it says and asks, as data. Nothing here imports torch before something is asked."""

from playground.lessons.words import (
    block,
    by_hand,
    code,
    cost,
    heads,
    patches,
    scale,
    shapes,
    training,
    two_ways,
    weight,
)

_ALL = (by_hand, patches, shapes, block, scale, heads, weight, cost, two_ways, training, code)
TEXTS = {module.TEXT.page: module.TEXT for module in _ALL}  # as the pages follow each other
_STEPS = tuple(step for text in TEXTS.values() for step in text.steps.values())
QUESTIONS = tuple(step.question for step in _STEPS)  # ids of all
EXERCISES = tuple(one.id for step in _STEPS for one in step.exercises if one.id)  # that a page checks
