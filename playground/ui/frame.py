"""What is the same on every page: the window's title, and the little room around it."""

from __future__ import annotations

import re
from functools import cache

import streamlit as st

from playground.ui.startup import once_per_server
from playground.ui.streamlit_private import PARTS

STYLE = """
.block-container { max-width: 110rem; padding: 0.7rem 1.6rem 0.5rem; }
HEADER { background: none; height: 2.4rem; pointer-events: none; }
HEADER * { pointer-events: auto; }
CONTENT VERTICAL { gap: 0.5rem; }
MAIN STALE { opacity: 1 !important; }
SELECT input { text-overflow: ellipsis; }
.st-key-toolbar POPOVER_BUTTON { padding-inline: 0.45rem; }
SELECT_LIST:has([role="option"]:nth-child(6)) { /* models */
  min-width: min(46rem, 95vw);
}
.st-key-frame { position: absolute; }
.st-key-lesson { max-width: 46rem; padding-top: 0.6rem; }
.st-key-lesson h2 { font-size: 1.6rem; padding: 0.2rem 0 0.7rem; }
.st-key-errand { position: fixed; inset: auto 0 0; z-index: 1000; padding: 0.2rem 1.6rem 1rem; }
.st-key-errand { backdrop-filter: blur(12px); }
@media (max-width: 1100px) { /* the samples have a line to themselves */
  .st-key-toolbar HORIZONTAL { flex-wrap: wrap; gap: 0.5rem; }
  .st-key-toolbar COLUMN:first-child { flex: 1 1 100%; }
}
@media (max-width: 640px) {
  .st-key-toolbar COLUMN:not(:first-child) { flex: 1 1 40%; min-width: 40%; }
}
"""  # words in capitals stand for the parts of Streamlit's page that streamlit_private.py names


def frame() -> None:
    st.set_page_config(page_title="Attention Playground", page_icon="🔭", layout="wide")
    _style()(key="frame")
    once_per_server()


@cache
def _style():
    """As a component it is there before the microscope. What st.html brings comes later, and the page jumps."""
    css = re.sub(r"\b[A-Z_]{4,}\b", lambda word: PARTS[word[0]], STYLE)
    return st.components.v2.component("attention_frame", html="<i></i>\n", css=css, isolate_styles=False)
