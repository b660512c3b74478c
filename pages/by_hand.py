"""By hand: queries and keys that nobody trained."""

import streamlit as st

from playground.ui import guess, lesson
from playground.ui.lessons import by_hand

here = lesson.begin("by_hand", by_hand.TEXT.idea, by_hand.SETTINGS)
match lesson.steps(by_hand.STEPS):
    case "arrows":
        by_hand.guess_longer()
        with guess.after("by_hand_query"):
            by_hand.nine_tokens()
            by_hand.roles()
    case "values":
        st.markdown(by_hand.TEXT.steps["values"].prose)
        by_hand.nine_tokens()
        by_hand.guess_values()
        with guess.after("by_hand_values"):
            by_hand.values()
            by_hand.as_neurons()
    case "colours":
        st.markdown(by_hand.TEXT.steps["colours"].prose)
        by_hand.colours(here)
        by_hand.guess_dark()
    case "masks":
        st.markdown(by_hand.TEXT.steps["masks"].prose)
        by_hand.masks()
        by_hand.guess_mask()
        lesson.exercises(by_hand.TEXT.steps["masks"], {"by_hand_causal": by_hand.causal()})
lesson.end()
