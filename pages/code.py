"""The code of the ViT, beside its formulas."""

from playground.ui import lesson
from playground.ui.lessons import code

here = lesson.begin("code", code.TEXT.idea, code.SETTINGS)
match lesson.steps(code.STEPS):
    case "file":
        code.listing()
        code.exercises()
        code.guess_column()
    case "twice":
        code.twins(here)
    case "library":
        code.analogy(here)
lesson.end()
