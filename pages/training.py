"""Training: the same patch at a dozen moments of a run, and a run of one's own."""

from playground.ui import lesson, training

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
    "Which heads are the first to have a habit, and which find the object?",
    "Look at the field of habits from left to right. What depends on the place alone, such as a fixed offset, needs no "
    "understanding of the picture; who finds the same object needs the layers below to have made its patches alike.",
)
lesson.end()
