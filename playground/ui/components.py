"""The microscope and the strip of samples as Streamlit components."""

from __future__ import annotations

import base64
import io
from functools import cache

import streamlit as st
from PIL import Image

from playground.bundle import bundle, stylesheet
from playground.samples import SAMPLES

THUMB = 96  # pixels, for 38 on a sharp screen


@cache
def _lens():
    return st.components.v2.component(
        "attention_lens", html="<div data-lens></div>\n", js=bundle("streamlit.js"), css=stylesheet("lens.css")
    )


@cache
def _strip():
    return st.components.v2.component(
        "attention_strip",
        html='<div class="strip" data-strip role="group" aria-label="Sample pictures"></div>\n',
        js=bundle("strip.js"),
        css=stylesheet("strip.css"),
    )


def lens(key: str, data: bytes, on_view, on_ask) -> None:
    """What it says is in st.session_state[key]: `view` as it stands in an address, `ask` a question to the server."""
    _lens()(key=key, data=data, default={"view": ""}, on_view_change=on_view, on_ask_change=on_ask)


def strip(key: str, chosen: str | None, own: str | None, on_pick, on_photo) -> None:
    data = {"samples": _thumbs(), "chosen": chosen, "own": own}
    _strip()(key=key, data=data, on_pick_change=on_pick, on_photo_change=on_photo)


@cache
def _thumbs() -> list[dict[str, str]]:
    thumbs = []
    for sample in SAMPLES:
        image = Image.open(sample.path)
        image.draft("RGB", (THUMB * 2, THUMB * 2))
        image.thumbnail((THUMB * 2, THUMB))
        out = io.BytesIO()
        image.save(out, "JPEG", quality=80)
        src = f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}"
        thumbs.append({"name": sample.name, "title": sample.title, "hint": sample.hint, "src": src})
    return thumbs
