"""What a weight is not: not importance, not a score, not always about the picture."""

from playground.ui import lesson
from playground.ui.lessons import weight, weight_explain

here = lesson.begin("weight", weight.TEXT.idea, weight.SETTINGS)
match lesson.steps(weight.STEPS):
    case "carries":
        lesson.say(weight.TEXT.steps["carries"].prose)
        weight.carried(here)
        weight.guess_differs(here)
    case "scores":
        weight.scores()
    case "locked":
        weight.locked_on(here)
        lesson.exercises(weight.TEXT.steps["locked"], {})
    case "explain":
        weight_explain.explain(here)
lesson.end()
