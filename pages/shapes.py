"""One attention layer, step by step."""

import streamlit as st

from playground.ui import lesson
from playground.ui.lessons import shapes

here = lesson.begin(
    "shapes",
    "Follow one layer from the tokens that enter it to those that leave it. Every number of a shape has a name and a "
    "colour, and each is the result of the one line of code below the picture.",
    shapes.SETTINGS,
)
with st.container(key="wide"):
    shapes.choose(here)
    shapes.walk(here)
lesson.exercise(
    "With width 512 and 8 heads, why are the scores divided by √64 and not by √512?",
    "A score sums up as many products as a head's query has numbers: d_k = 512 / 8 = 64. The more products, the larger "
    "their sum; √d_k evens out just that.",
)
lesson.exercise(
    "Which number never changes on the way? And in which steps do tokens meet at all?",
    "The tokens: as many come out as went in. They meet in QKᵀ, where two of the shape's numbers are tokens, and in "
    "× V, which uses it up again. All other steps treat every token by itself.",
)
lesson.end()
