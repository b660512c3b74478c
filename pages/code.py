"""The code of the ViT, beside its formulas."""

from playground.ui import guess, lesson
from playground.ui.lessons import code

said = code.said
here = lesson.begin("code", said.TEXT.idea, code.SETTINGS)
match lesson.steps(code.STEPS):
    case "file":
        code.listing()
        code.exercises()
        guess.ask(said.column())
    case "twice":
        code.twins(here)
    case "library":
        code.analogy(here)
lesson.end()
