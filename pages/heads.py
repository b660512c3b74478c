"""Heads: what each of them does, by its numbers, and what is lost without it."""

from playground.ui import guess, lesson
from playground.ui.lessons import heads, heads_atlas, heads_far, heads_numbers, heads_off, heads_row, heads_sum

said = heads.said
here = lesson.begin("heads", said.TEXT.idea, heads.SETTINGS)
seen = here.traced()
step = lesson.steps(heads.STEPS)
prose = said.TEXT.steps[step].prose
match step:
    case "row":
        heads_row.paint_a_row(here, seen)
    case "atlas":
        lesson.say(prose)
        heads_atlas.atlas(here, seen, *heads_numbers.measured(here, seen))
        guess.ask(said.entropy())
    case "far":
        mean, spread = heads_numbers.measured(here, seen)
        lesson.say(prose, **heads_far.near_or_far(mean))
        lesson.chart(heads_far.scatter(seen, mean, spread), "distance", 290, "heads-distance-by-depth")
        guess.ask(said.far())
    case "off":
        lesson.say(prose)
        mean = heads_numbers.habits_here(here)
        heads_numbers.say_drawn(seen)
        heads_off.board(here, seen, mean)
        heads_off.switches(seen, mean)
        heads_off.guess_sharp(mean)
    case "sum":
        heads_sum.sum_of_heads(here, seen)
lesson.end()
