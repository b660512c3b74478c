"""Training: the same patch at a dozen moments of a run, and a run of one's own."""

from playground.ui import lesson
from playground.ui.lessons import training

here = lesson.begin(
    "training",
    "At step 0 queries and keys are noise, so every patch listens to all patches alike: fog. Each step changes them a "
    "little, so that the error falls, and habits grow. **Play**, and watch one patch learn whom to ask.",
    training.settings(),
)
training.chooser()
training.stage(here)

lesson.exercise(
    "The loss falls most at the beginning. When does the attention become sharp?",
    "Later. First the model learns what is cheap: colours and rough positions, with attention still spread wide. "
    "Compare the loss with the entropies: heads stay even for hundreds of steps while the loss already falls.",
)
lesson.exercise(
    "Which heads are the first to have a habit, and which find whole objects?",
    "In layers 1 and 2 the first heads take up likeness of colour after a few hundred steps: it can be read from the "
    "patches as they are. Whole objects (*On the patch's own object*) come thousands of steps later and higher up, for "
    "they need layers below that have made an object's patches alike. What depends on the place alone (*fixed "
    "offset*, *local*) comes last here: nobody had asked for it before.",
)
lesson.end()
