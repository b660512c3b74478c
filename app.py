"""The web app: its pages and its frame. Start it with `make run` or `streamlit run app.py`."""

import streamlit as st

from playground.ui.frame import frame
from playground.ui.pages import MICROSCOPE, ROOMS

frame()
st.navigation(
    [
        st.Page(room.file, title=room.title, icon=room.icon, url_path=room.name, default=room == MICROSCOPE)
        for room in ROOMS.values()
    ],
    position="hidden",
).run()
