"""By hand: queries and keys that nobody trained."""

from playground.ui import guess, lesson
from playground.ui.lessons import by_hand

said = by_hand.said
here = lesson.begin("by_hand", said.TEXT.idea, by_hand.SETTINGS)
match lesson.steps(by_hand.STEPS):
    case "arrows":
        guess.ask(said.longer())
        with guess.after("by_hand_query"):
            by_hand.nine_tokens()
            by_hand.roles()
    case "values":
        lesson.say(said.TEXT.steps["values"].prose)
        by_hand.nine_tokens()
        guess.ask(said.mean())
        with guess.after("by_hand_values"):
            by_hand.values()
            by_hand.as_neurons()
    case "colours":
        lesson.say(said.TEXT.steps["colours"].prose)
        by_hand.colours(here)
        guess.ask(said.dark())
    case "masks":
        lesson.say(said.TEXT.steps["masks"].prose)
        by_hand.masks()
        guess.ask(said.mask())
        by_hand.hide()
lesson.end()
