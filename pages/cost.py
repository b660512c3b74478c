"""Cost: the arithmetic of a case, and the same measured on this machine."""

from playground.ui import lesson
from playground.ui.lessons import cost

lesson.begin("cost", cost.IDEA, cost.SETTINGS)
cost.guess_ratio()
if (case := cost.controls()) is not None:
    cost.arithmetic(case)
    cost.exercises()
    cost.measured(case)
lesson.end()
