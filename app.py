"""The web app: its pages and its frame. Start it with `make run` or `streamlit run app.py`."""

import streamlit as st

from playground.ui.frame import frame

frame()
st.navigation(
    [st.Page("pages/microscope.py", title="Microscope", icon=":material/center_focus_strong:", default=True)],
    position="hidden",
).run()
