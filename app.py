"""The web app: its pages and its frame. Start it with `make run` or `streamlit run app.py`."""

import streamlit as st

from playground.ui.frame import frame
from playground.ui.pages import MICROSCOPE, PAGES

frame()
st.navigation(
    [
        st.Page(page.file, title=page.title, icon=page.icon, url_path=page.name, default=page == MICROSCOPE)
        for page in PAGES.values()
    ],
    position="hidden",
).run()
