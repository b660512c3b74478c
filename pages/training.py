"""Training: the same patch at a dozen moments, a run that was told where to look, and a run of one's own."""

from playground.ui import lesson
from playground.ui.lessons import training

here = lesson.begin(
    "training",
    "A model begins with random parameters. Each step of its training changes them a little, so that its **losses** "
    "fall: "
    "numbers that say how far its answers are from those that it should give. One idea at a time:",
    training.settings(),
)
lesson.steps(training.steps())
training.stage(here)
lesson.end()
