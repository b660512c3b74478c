"""What a weight is not: not importance, not a score, not always about the picture."""

import streamlit as st

from playground.ui import lesson
from playground.ui.lessons import weight, weight_explain

here = lesson.begin(
    "weight",
    "A weight is a share: how much of one token's value goes into the mixture that another token receives. It is easy "
    "to read more into a bright patch than that.",
    weight.SETTINGS,
)
step = lesson.steps(weight.STEPS)
if step == "carries":
    st.markdown(
        lesson.mathematics(
            "What arrives is the weight times the value, after W_O (and LayerScale, where a model has it): a vector. "
            "At the same weight, a short value adds less than a long one. Point at a patch: the tags show the patch "
            "with the largest weight and the patch that adds the longest vector."
        )
    )
    weight.carried(here)
    weight.guess_differs(here)
elif step == "scores":
    weight.scores()
elif step == "locked":
    weight.locked_on(here)
    weight.exercises()
else:
    weight_explain.explain(here)
lesson.end()
