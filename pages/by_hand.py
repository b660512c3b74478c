"""By hand: queries and keys that nobody trained."""

import streamlit as st

from playground.ui import lesson
from playground.ui.lessons import by_hand

here = lesson.begin(
    "by_hand",
    "Attention needs no training to be understood. Give each token two arrows: a **query**, what it looks for, and a "
    "**key**, what it offers. Where a query points the way a key points, the weight is large. Drag the tips.",
    by_hand.SETTINGS,
)
by_hand.nine_tokens()
with st.container(key="lesson_nine"):
    lesson.exercise(
        "Make A listen to everybody equally. How many ways are there?",
        "Set A’s **query** to 0, 0: all its scores are 0, and softmax makes ninths of them. Or make all keys the same, "
        "however A’s query points: *equal* scores are enough, they need not be zero. Then the other rows are even too.",
    )
    lesson.exercise(
        "A listens to B. Does B listen to A?",
        "Not necessarily: A’s weight comes from A’s query and B’s key, B’s weight from B’s query and A’s key. Press "
        "*Start again*: everybody asks for the next one and is asked back less. The matrix is not symmetric.",
    )
    st.subheader("The same on a picture", anchor=False)
    st.markdown(
        "Now a patch of the picture is a token, and its query and its key are both its mean colour, as a vector of "
        "length one. Hover a patch: patches of similar colour light up. **Temperature** divides the scores before "
        "softmax; at 1 every patch gets almost the same."
    )
by_hand.colours(here)
with st.container(key="lesson_colours"):
    lesson.exercise(
        "Why does a dark patch light up for a bright one?",
        "Length one forgets brightness: a dark green and a light green point the same way, and so do black, grey and "
        "white. The right picture shows what is left. A trained model learns which differences should count.",
    )
    st.subheader("Masks: minus infinity", anchor=False)
    st.markdown(
        "Hide a token, and nobody may listen to it: **−∞** is added to its score before softmax. e to the power of −∞ "
        "is 0, exactly, and the row still sums to one. Hide some of your nine tokens, then some patches above."
    )
by_hand.masks()
with st.container(key="lesson_masks"):
    lesson.exercise(
        "Why −∞ before softmax, and not 0 after it?",
        "A weight set to 0 afterwards leaves a row that sums to less than one: what the hidden token took is missing. "
        "A *score* of 0 is no mask either: e⁰ = 1 is a weight like any other.",
    )
lesson.end()
