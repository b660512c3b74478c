"""Cost: the arithmetic of a case, and the same measured on this machine."""

import streamlit as st

from playground.ui import guess, lesson
from playground.ui.lessons import cost, cost_growth, cost_measured

said = cost.said
lesson.begin("cost", said.TEXT.idea, cost.SETTINGS)
match lesson.steps(cost.STEPS):
    case "pairs":
        cost.guess_ratio()
        with guess.after("cost_ratio"):
            if case := cost.controls():
                cost.pairs(case)
    case "formulas":
        cost_growth.guess_share()
        with guess.after("cost_share"):
            if case := cost.controls():
                cost_growth.formulas(case)
    case "memory":
        if case := cost.controls():
            cost_growth.memory(case)
            guess.ask(said.doubled())
    case "measured":
        above = st.container()  # what is measured is seen before the dials
        if case := cost.controls():
            with above:
                cost_measured.measured(case)
            guess.ask(said.fewer())
lesson.end()
