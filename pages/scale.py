"""Scale: random rows under two dials, and the same on a real model."""

from playground.ui import lesson
from playground.ui.lessons import scale

here = lesson.begin("scale", scale.IDEA, scale.SETTINGS, exports="curves")
match lesson.steps(scale.STEPS):
    case "row":
        if scale.guess_spread():
            scale.one_row(here)
    case "rows":
        scale.many_rows(here)
    case "model":
        scale.real_model(here)
    case "answer":
        scale.predictions(here)
lesson.end()
