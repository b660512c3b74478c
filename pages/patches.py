"""Patches: how a picture becomes a row of vectors, and what is lost and kept on the way."""

from playground.ui import guess, lesson
from playground.ui.lessons import (
    patches,
    patches_cut,
    patches_extra,
    patches_filters,
    patches_positions,
    patches_shuffle,
)

said = patches.said
here = lesson.begin("patches", said.TEXT.idea, patches.SETTINGS)
match lesson.steps(patches.STEPS):
    case "cut":
        patches_cut.guess_patches(here)
        with guess.after("patches_tokens"):
            patches_cut.apart(here)
    case "filters":
        lesson.say(said.TEXT.steps["filters"].prose)
        patches_filters.filters(here)
        guess.ask(said.even())
    case "extra":
        patches_extra.extra_tokens(here)
    case "positions":
        lesson.say(said.TEXT.steps["positions"].prose)
        patches_positions.positions(here)
        guess.ask(said.below())
    case "shuffle":
        patches_shuffle.guess_shuffle(here)
        with guess.after("patches_shuffle"):
            patches_shuffle.shuffle(here)
lesson.end()
