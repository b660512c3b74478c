"""Sets what is the same on every page: the window's title, and the page's narrow margins."""

from __future__ import annotations

import re
from functools import cache

import streamlit as st

from playground.ui import lesson
from playground.ui.pages import ICON, TITLE
from playground.ui.streamlit_private import SELECTORS, drawn_by_the_next_server

STYLE = """
CONTENT { max-width: 110rem; padding: 0.7rem 1.6rem 0.5rem; }
CONTENT:has(.st-key-stage) { max-width: 150rem; padding: 0.2rem 1.25rem 0; }
CONTENT VERTICAL { gap: 0.5rem; }
CONTENT:has(.st-key-stage) VERTICAL { gap: 0.15rem; }
HEADER { background: none; height: 2.4rem; pointer-events: none; }
HEADER * { pointer-events: auto; }
MAIN STALE { opacity: 1 !important; }
CONTENT table { display: block; max-width: 100%; overflow-x: auto; }
.st-key-frame { position: absolute; }
[class*=st-key-settings_] { display: none; }
.st-key-lesson { max-width: 84rem; padding-top: 0.2rem; gap: 0.1rem; }
.st-key-lesson h2 { font-size: 1.45rem; padding: 0; line-height: 1.1; }
.st-key-lesson div:has(> div > h2) { margin: 0; } /* Streamlit moves up what is below a text or a title */
@media (min-width: 641px) { .st-key-lesson div:has(> div > h2) { margin-bottom: -0.5rem; } }
@media (max-width: 640px) { /* on a phone a lesson's picture stands within reach of its title */
  .st-key-overview { order: 1; }
  .st-key-lesson h2 { font-size: 1.15rem; padding: 0; }
  .st-key-lesson p { font-size: 0.88rem; line-height: 1.3; }
  .st-key-step [role=radiogroup] { flex-wrap: nowrap; overflow-x: auto; }
  .st-key-step [role=radio][aria-checked=false] { flex: none; } /* of the other steps, the number alone */
  .st-key-step [role=radio][aria-checked=false] p { width: 1ch; overflow: hidden; text-overflow: clip; }
}
.tour-goes-on :is(.attention-notice, TOASTS) { inset: auto auto 1rem 1rem; }
.tour-goes-on .attention-notice { transform: none; }
.tour-goes-on :is(TOASTS, TOASTS *) { /* a toast stays while the cursor is over it, and would cover the card */
  pointer-events: none !important;
}
"""  # each word in capitals is replaced by the selector of that name in SELECTORS


def frame() -> None:
    st.set_page_config(page_title=TITLE, page_icon=ICON, layout="wide")
    _style()(key="frame")
    drawn_by_the_next_server()


@cache
def _style():
    """Mounts the styles as a component, which arrives before the microscope. By st.html the styles would arrive later,
    and the page would jump."""
    css = re.sub(r"\b[A-Z_]{4,}\b", lambda word: SELECTORS[word[0]], STYLE) + lesson.hiding_css()
    return st.components.v2.component("attention_frame", html="<i></i>\n", css=css, isolate_styles=False)
