"""Where the norms stand, and what that does to gradients."""

from __future__ import annotations

import streamlit as st

from playground.lessons.words import block as said
from playground.ui import guess


def norms() -> None:
    guess.ask(said.norms())
    words = said.TEXT.steps["norms"].said
    left, right = st.columns(2)
    left.markdown(words["pre"])
    left.code("x = x + attention(norm(x))\nx = x + mlp(norm(x))", language="python")
    right.markdown(words["post"])
    right.code("x = norm(x + attention(x))\nx = norm(x + mlp(x))", language="python")
