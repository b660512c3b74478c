"""The code of the ViT, beside its formulas."""

from playground.ui import lesson
from playground.ui.lessons import code

here = lesson.begin(
    "code",
    "This is the file that runs once for every new picture, and it keeps the queries and keys. When you point at a "
    "patch, nothing of it runs again: the browser repeats one row, softmax(q·Kᵀ/√d_k), from what was kept. One idea at "
    "a time:",
    code.SETTINGS,
)
match lesson.steps(code.STEPS):
    case "file":
        code.listing()
        lesson.exercise(
            "Open the part in which W_O is applied. What is it called there?",
            "`self.proj`, in *Heads*. It takes the heads’ results, side by side in one vector, and mixes them.",
            hint="Attention gives a result for every head. Where are they put together again?",
            done=code.shows("heads"),
            id="code_output",
        )
        code.guess_column()
    case "twice":
        code.twins(here)
    case "library":
        code.analogy(here)
lesson.end()
