"""Training: the same patch at a dozen moments, a run that was told where to look, and a run of one's own."""

from playground.ui import lesson
from playground.ui.lessons import training

said = training.said
here = lesson.begin("training", said.TEXT.idea, training.settings())
lesson.steps(training.steps())
training.stage(here)
lesson.end()
