"""One attention layer, step by step."""

import streamlit as st

from playground.ui import guess, lesson
from playground.ui.lessons import shapes

said = shapes.said
here = lesson.begin("shapes", said.TEXT.idea, shapes.SETTINGS)
with st.container(key="wide"):
    shapes.choose(here)
    shapes.walk(here)
guess.ask(said.scores())
shapes.exercises()
shapes.whole_table(here)
shapes.other_texts()
lesson.end()
