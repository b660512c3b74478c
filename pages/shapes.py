"""One attention layer, step by step."""

import streamlit as st

from playground.ui import lesson
from playground.ui.lessons import shapes

here = lesson.begin(
    "shapes",
    "Follow one layer from the tokens that enter it to those that leave it. Every number of a shape has a name and a "
    "colour. Each is the result of the one line of code below the picture.",
    shapes.SETTINGS,
)
with st.container(key="wide"):
    shapes.choose(here)
    shapes.walk(here)
shapes.guess_scores()
lesson.exercise(
    "Choose numbers so that the scores are 2 × 8 × 10 × 10.",
    "Batch 2, 8 heads, 10 tokens. The width does not stand in the shape of the scores: any width will do that 8 heads "
    "can share evenly.",
    hint="*Your own numbers*. Which of the four is which?",
    done=shapes.has_scores(2, 8, 10),
    id="shapes_numbers",
)
lesson.exercise(
    "With width 512 and 8 heads, why are the scores divided by √64 and not by √512?",
    "A score is a sum of as many products as a head's query has numbers: d_k = 512 / 8 = 64. A sum of 64 independent "
    "products has a standard deviation √64 = 8 times that of one product, and dividing by √64 takes that away.",
)
lesson.exercise(
    "Which numbers never change on the way? And in which steps does one token's result depend on another token?",
    "The batch and the tokens: as many come out as went in. Tokens meet in three steps: in QKᵀ each query is compared "
    "with every key; in the softmax the scores of a row compete, for they have to sum to 1; in × V the values are "
    "mixed. All other steps treat every token by itself.",
)
shapes.whole_table(here)
shapes.other_texts()
lesson.end()
