"""The workbench: what needs Python, in plain Streamlit. `streamlit run app.py` starts it alone; the playground's own
server (playground/ui/server.py) answers it at /workbench, beside the learner's page."""

import streamlit as st

st.set_page_config(page_title="Attention workbench", page_icon="🔭", layout="wide")
PAGES = {
    "Look": [st.Page("pages/microscope.py", title="Microscope", icon=":material/center_focus_strong:", default=True)],
    "Compute": [
        st.Page("pages/folder.py", title="A folder of images", icon=":material/photo_library:"),
        st.Page("pages/heads_off.py", title="Heads switched off", icon=":material/power_settings_new:"),
        st.Page("pages/train.py", title="Train two now", icon=":material/timelapse:"),
        st.Page("pages/measure.py", title="Measure here", icon=":material/timer:"),
        st.Page("pages/models.py", title="Models", icon=":material/download:"),
    ],
}
st.navigation(PAGES, position="top").run()
