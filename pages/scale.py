"""Scale: random rows under two dials, and the same on a real model."""

from playground.ui import guess, lesson
from playground.ui.lessons import scale, scale_answer, scale_model, scale_row, scale_rows

here = lesson.begin("scale", scale.TEXT.idea, scale.SETTINGS)
match lesson.steps(scale.STEPS):
    case "row":
        scale_row.guess_spread()
        with guess.after("scale_spread"):
            scale_row.one_row(here)
    case "rows":
        scale_rows.guess_gradient()
        with guess.after("scale_gradient"):
            scale_rows.many_rows(here)
    case "model":
        scale_model.real_model(here)
    case "answer":
        scale_answer.predictions(here)
lesson.end()
