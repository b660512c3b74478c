"""What is the same on every page: the window's title, and the little room around it."""

from __future__ import annotations

import re
from functools import cache

import streamlit as st

from playground.ui.startup import once_per_server
from playground.ui.streamlit_private import PARTS, drawn_by_the_next_server

STYLE = """
.block-container { max-width: 110rem; padding: 0.7rem 1.6rem 0.5rem; }
.block-container:has(.st-key-lens) { max-width: 150rem; }
HEADER { background: none; height: 2.4rem; pointer-events: none; }
HEADER * { pointer-events: auto; }
CONTENT VERTICAL { gap: 0.5rem; }
MAIN STALE { opacity: 1 !important; }
SELECT input { text-overflow: ellipsis; }
.st-key-toolbar POPOVER_BUTTON { padding-inline: 0.45rem; }
SELECT_LIST:has([role="option"]:nth-child(6)) { /* models */
  min-width: min(46rem, 95vw);
}
html.takes-a-picture::after { /* while a file is dragged over the page, see shell/strip.js */
  content: "Drop your picture"; position: fixed; inset: 0; z-index: 1000; display: grid; place-items: center;
  border: 6px dashed #0072b2; background: rgb(0 114 178 / 0.22); font: 600 2rem system-ui; pointer-events: none;
}
CONTENT table { display: block; max-width: 100%; overflow-x: auto; }
.st-key-frame { position: absolute; }
.st-key-lesson { max-width: 46rem; padding-top: 0.6rem; }
.st-key-lesson h2 { font-size: 1.6rem; padding: 0.2rem 0 0.7rem; }
.st-key-errand { /* over the picture, which can be explored meanwhile */
  position: fixed;
  inset: 9.5rem auto auto 2.6rem;
  z-index: 1000;
  width: min(24rem, 85vw);
  padding: 0.6rem 0.9rem;
  border-radius: 8px;
  background: color-mix(in srgb, Canvas 80%, transparent);
  backdrop-filter: blur(12px);
}
.st-key-offer { min-height: 24px; margin: -4px 0 -2px; }
.st-key-offer button { min-height: 0; padding: 0; text-decoration: underline; text-underline-offset: 3px; }
.st-key-offer p { font-size: 14px; }
[class*="st-key-card-"] button { padding: 0.3rem 0.6rem; text-align: left; }
[class*="st-key-card-"] button, [class*="st-key-card-"] button * { justify-content: flex-start; }
[class*="st-key-card-"] button > * { flex: 1; }
[class*="st-key-card-chosen"] button { background: color-mix(in srgb, currentColor 12%, transparent); }
[class*="st-key-card-"] button:hover { background: color-mix(in srgb, currentColor 8%, transparent); }
/* the guided tour: all can be brought above its card */
.tour-scrolls CONTENT { padding-bottom: 55vh; }
POPOVER_BODY:has([class*="st-key-card-"]) VERTICAL { gap: 0.1rem; }
POPOVER_BODY:has([class*="st-key-card-"]) { width: min(30rem, 95vw); max-height: 80vh; }
@media (min-width: 1600px) { /* the samples have what the others need not */
  .st-key-toolbar COLUMN { flex: 0 0 10rem; }
  .st-key-toolbar COLUMN:nth-child(2) { flex: 1 1 0; }
}
body TOASTS { inset: auto 1rem 1rem auto; } /* below the switch and the sentence */
body:has(.tour-card) TOASTS { inset: auto auto 1rem 1rem; }
body:has(.tour-card) :is(TOASTS, TOASTS *) { /* under a cursor one stays, and would lie over the card */
  pointer-events: none !important;
}
@media (max-width: 1100px) { /* two lines: the pages and the samples, then the rest */
  .st-key-toolbar HORIZONTAL { flex-wrap: wrap; gap: 0.5rem; }
  .st-key-toolbar COLUMN:first-child { flex: 0 0 9.5rem; }
  .st-key-toolbar COLUMN:nth-child(2) { flex: 1 1 calc(100% - 11rem); }
}
@media (max-width: 640px) {
  .st-key-toolbar HORIZONTAL { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; }
  .st-key-toolbar COLUMN:nth-child(n) { flex: 0 0 9.5rem; min-width: 9.5rem; }
  .st-key-toolbar COLUMN:nth-child(2) { flex-basis: 13rem; }
}
"""  # words in capitals stand for the parts of Streamlit's page that streamlit_private.py names


def frame() -> None:
    st.set_page_config(page_title="Attention Playground", page_icon="🔭", layout="wide")
    _style()(key="frame")
    drawn_by_the_next_server()
    once_per_server()


@cache
def _style():
    """As a component it is there before the microscope. What st.html brings comes later, and the page jumps."""
    css = re.sub(r"\b[A-Z_]{4,}\b", lambda word: PARTS[word[0]], STYLE)
    return st.components.v2.component("attention_frame", html="<i></i>\n", css=css, isolate_styles=False)
