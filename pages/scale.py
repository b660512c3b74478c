"""Scale: random rows under two dials, and the same on a real model."""

from playground.ui import lesson
from playground.ui.lessons import scale

here = lesson.begin("scale", scale.IDEA, scale.SETTINGS, exports="curves")
scale.guess_spread()
scale.random_rows(here)
scale.exercises()
scale.real_model(here)
lesson.end()
