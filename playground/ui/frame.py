"""What is the same on every page: the window's title, the little room around it, and what happens once per server."""

from __future__ import annotations

import streamlit as st

from playground.ui import engine

STYLE = """
<style>
  .block-container { max-width: 110rem; padding: 0.7rem 1.6rem 0.5rem; }
  [data-testid="stHeader"] { background: none; height: 2.4rem; pointer-events: none; }
  [data-testid="stHeader"] * { pointer-events: auto; }
  [data-testid="stMainBlockContainer"] [data-testid="stVerticalBlock"] { gap: 0.5rem; }
</style>
"""


def frame() -> None:
    st.set_page_config(page_title="Attention Playground", page_icon="🔭", layout="wide")
    st.html(STYLE)
    _once_per_server()


@st.cache_resource(show_spinner=False)
def _once_per_server() -> None:
    engine.warm_up()
