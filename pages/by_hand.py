"""By hand: queries and keys that nobody trained."""

import streamlit as st

from playground.ui import guess, lesson
from playground.ui.lessons import by_hand

here = lesson.begin(
    "by_hand",
    "Attention needs no training to be understood. Give each token two arrows: a **query**, what it looks for, and a "
    "**key**, what it offers. Where a query points the way a key points, the weight is large. One idea at a time:",
    by_hand.SETTINGS,
)
match lesson.steps(by_hand.STEPS):
    case "arrows":
        by_hand.guess_longer()
        with guess.after("by_hand_query"):
            by_hand.nine_tokens()
            by_hand.roles()
    case "values":
        st.markdown(
            "Weights alone move nothing. Each token also has a **value**, here one number. What a token receives is "
            "the mean of all values, weighted by its row. Drag an arrow, and what is received changes with it."
        )
        by_hand.nine_tokens()
        by_hand.guess_values()
        with guess.after("by_hand_values"):
            by_hand.values()
            by_hand.as_neurons()
    case "colours":
        st.markdown(
            "Now a patch of the picture is a token. Its query and its key are both its mean colour, as a vector of "
            "length one. Point at a patch: patches of similar colour light up. The scores are divided by the "
            "**temperature** before the softmax; at 1 every patch gets almost the same weight."
        )
        by_hand.colours(here)
        by_hand.guess_dark()
    case "masks":
        st.markdown(
            "Hide a token, and no token may listen to it: **−∞** is added to its score before the softmax. e^−∞ is "
            "exactly 0, and the row still sums to one. Hide some of your nine tokens."
        )
        by_hand.masks()
        by_hand.guess_mask()
        lesson.exercise(
            "A text model predicts the next word: no word may listen to a later one. Set that mask.",
            "Row A keeps one weight, its own: 100 %. Row I keeps all nine. A picture has no “later”, so a ViT has no "
            "such mask.",
            hint="One button above the matrices says it in words.",
            done=by_hand.causal(),
            id="by_hand_causal",
        )
lesson.end()
