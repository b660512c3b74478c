"""The code of the ViT, beside its formulas."""

import streamlit as st

from playground.ui import lesson
from playground.ui.lessons import code

here = lesson.begin(
    "code",
    "This is the file that runs when you point at a patch. A formula stands beside each line that computes it.",
    code.SETTINGS,
)
code.listing()
st.subheader("Twice the same attention", anchor=False)
code.twins(here)
st.subheader("A library, and where the picture breaks", anchor=False)
code.analogy(here)
st.subheader("What a weight is not", anchor=False)
st.markdown(
    "A weight says how much of a token's value is added, not how much that is: a short value adds little. Point at a "
    "patch; the tags show the patch of the largest weight and the one that contributes most."
)
code.carried(here)
lesson.exercise(
    "By hand and fused differ a little in the last digits. Which one is right?",
    "Neither: sums of 32-bit numbers depend on their order, and the fused kernel adds up in blocks.",
)
lesson.exercise(
    "What goes wrong if softmax ran over dim=-2 instead of dim=-1?",
    "The columns would sum to one: every token would be heard equally much in all, and a row would be no mixture.",
)
lesson.end()
