"""The lens as a Streamlit component: point, and the picture shows whom that patch looks at; press, and Python knows
which patch it was."""

from __future__ import annotations

import hashlib
from base64 import b64encode

import streamlit as st

from playground.figures.bundle import bundle, stylesheet
from playground.pictures import jpegs
from playground.tracing import Trace

_mount = st.components.v2.component(
    "attention_lens", html="<div data-lens></div>\n", css=stylesheet(), js=bundle("shell/component.js")
)


def lens(seen: Trace, layer: int, head: int, patch: str, scale: str = "on", height: int = 520) -> str:
    """Shows one layer of a trace. Gives the patch of this picture that was pressed last, "row,column"; before the first
    press it is `patch`."""
    numbers, picture = seen.to_bytes([layer]), jpegs.as_jpeg(seen.picture)  # type: ignore[arg-type]  # traced here
    pressed = _mount(
        key=f"lens {seen.grid} {hashlib.sha256(picture).hexdigest()}",
        data={
            "id": hashlib.sha256(numbers).hexdigest(),
            "title": seen.model,
            "numbers": b64encode(numbers).decode(),
            "picture": b64encode(picture).decode(),
            "view": {"layer": layer, "head": head, "query": patch, "scale": scale, "locked": True},
            "height": height,
        },
        default={"patch": None},
        on_patch_change=lambda: None,
    )
    return pressed.patch or patch
