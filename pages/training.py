"""Training: the same patch at a dozen moments of a run, and a run of one's own."""

from playground.ui import lesson
from playground.ui.lessons import training

here = lesson.begin(
    "training",
    training.idea(),
    training.settings(),
)
training.guess_when()
training.chooser()
training.stage(here)

sharp, first = training.answers()
lesson.exercise("The loss falls most at the beginning. When does the attention become sharp?", sharp)
lesson.exercise("Which heads are the first to have a habit? And who taught the heads that find whole objects?", first)
lesson.end()
