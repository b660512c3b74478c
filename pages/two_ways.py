"""Two ways to look: what a convolution has built in, and what attention has to learn."""

from playground.ui import lesson
from playground.ui.lessons import two_ways

here = lesson.begin("two_ways", two_ways.TEXT.idea, two_ways.SETTINGS)
match lesson.steps(two_ways.STEPS):
    case "far":
        two_ways.far(here)
    case "shift":
        two_ways.shift(here)
    case "built":
        two_ways.built(here)
    case "cheaper":
        two_ways.cheaper()
lesson.end()
