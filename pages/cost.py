"""Cost: the arithmetic of a case, and the same measured on this machine."""

from playground.ui import lesson
from playground.ui.lessons import cost, cost_growth, cost_measured

lesson.begin("cost", cost.IDEA, cost.SETTINGS)
step = lesson.steps(cost.STEPS)
known = step != "pairs" or cost.guess_ratio()
if known and (case := cost.controls()) is not None:
    match step:
        case "pairs":
            cost.pairs(case)
        case "formulas":
            cost_growth.formulas(case)
        case "memory":
            cost_growth.memory(case)
        case "measured":
            cost_measured.measured(case)
lesson.end()
