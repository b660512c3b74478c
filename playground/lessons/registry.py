"""All lessons, their questions and their exercises. Importing this module does not import torch."""

from playground.lessons import block, by_hand, code, cost, heads, patches, scale, shapes, training, two_ways, weight

_MODULES = (by_hand, patches, shapes, block, scale, heads, weight, cost, two_ways, training, code)  # order of the pages
LESSONS = {module.LESSON.name: module.LESSON for module in _MODULES}
_STEPS = tuple(step for lesson in LESSONS.values() for step in lesson.steps.values())
QUESTIONS = tuple(step.question for step in _STEPS)  # ids
EXERCISES = tuple(id for step in _STEPS for id in step.exercises)  # ids of the exercises that a page checks
