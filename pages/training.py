"""Training: the same patch at a dozen moments of a run, and a run of one's own."""

from playground.ui import lesson
from playground.ui.lessons import training

here = lesson.begin(
    "training",
    "At step 0 the weights are random and very small. So queries and keys are short, all scores are nearly 0, and "
    "every patch listens to all patches alike. Each step changes the weights a little, so that the loss falls. "
    "**Play**, and watch how the attention of one patch changes.",
    training.settings(),
)
training.guess_when()
training.chooser()
training.stage(here)

sharp, first = training.answers()
lesson.exercise("The loss falls most at the beginning. When does the attention become sharp?", sharp)
lesson.exercise("Which heads are the first to have a habit? And who taught the heads that find whole objects?", first)
lesson.end()
