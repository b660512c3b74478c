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
by_hand.guess_shared()
by_hand.nine_tokens()
with st.container(key="lesson_nine"):
    lesson.exercise(
        "Make A listen to everybody equally. How many ways are there?",
        "Infinitely many. Set A’s **query** to 0, 0: all its scores are 0, and softmax makes ninths of them. Or make "
        "all keys the same, whatever A’s query is: *equal* scores are enough, they need not be 0; then all other rows "
        "are even too. Or let the keys differ only at a right angle to A’s query: a step in that direction changes no "
        "score of A.",
        hint="Which scores make all nine powers of e equal? They need not be 0.",
        done=by_hand.even(),
    )
    lesson.exercise(
        "Press *Queries = keys*: now one vector has both roles. What do you see in the scores?",
        "They are symmetric: A’s score with B is B’s score with A, and among vectors of one length each token scores "
        "highest with itself. With one role a token can only look for its like. With **two** matrices, W_Q and W_K, it "
        "can look for something else than it is; with a third, W_V, it gives something else than it is found by.",
        hint="Turn the tab above the matrix from weights to scores, and compare row A, column B with row B, column A.",
        done=by_hand.one_role(),
    )
    lesson.exercise(
        "A listens to B. Does B listen to A?",
        "Not necessarily: A’s weight comes from A’s query and B’s key, B’s weight from B’s query and A’s key. Press "
        f"*Start again*: A gives B {by_hand.given('A', 'B')}, and B gives A {by_hand.given('B', 'A')}. The matrix is "
        "not symmetric.",
    )
    st.subheader("Then the values", anchor=False)
    st.markdown(
        "Weights alone move nothing. Each token also has a **value**, here one number, and each token receives the "
        "mean of all values, weighted by its row. Drag an arrow above, and what is received changes with it."
    )
by_hand.values()
with st.container(key="lesson_values"):
    st.subheader("The same on a picture", anchor=False)
    st.markdown(
        "Now a patch of the picture is a token, and its query and its key are both its mean colour, as a vector of "
        "length one. Point at a patch: patches of similar colour light up. The scores are divided by the "
        "**temperature** before the softmax; at 1 every patch gets almost the same weight."
    )
by_hand.colours(here)
with st.container(key="lesson_colours"):
    lesson.exercise(
        "Why does a dark patch light up for a bright one?",
        "A vector of length one keeps the direction of a colour and forgets its brightness: a dark green and a light "
        "green have the same direction, and so have grey and white. Pure black, 0, 0, 0, has no direction at all; here "
        "it counts as grey. The right picture shows what is left. A trained model learns which differences count.",
    )
    st.subheader("Masks: minus infinity", anchor=False)
    st.markdown(
        "Hide a token, and no token may listen to it: **−∞** is added to its score before the softmax. e^−∞ is exactly "
        "0, and the row still sums to one. Hide some of your nine tokens, then some patches above."
    )
by_hand.masks()
with st.container(key="lesson_masks"):
    lesson.exercise(
        "Why −∞ before the softmax, and not 0 after it?",
        "A weight that is set to 0 afterwards leaves a row that sums to less than one. A *score* of 0 is no mask "
        "either: e⁰ = 1, and the token gets a weight. And *multiplying* a score by a mask does not help: 0·−∞ is not "
        "a number.",
    )
    lesson.exercise(
        "A text model predicts the next word: no word may listen to a later one. Set that mask.",
        "Row A keeps one weight, its own: 100 %. Row I keeps all nine. A picture has no “later”, so a ViT has no such "
        "mask.",
        hint="One button above the matrices says it in words.",
        done=by_hand.causal(),
    )
lesson.end()
