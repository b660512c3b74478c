"""Mounts the drawings of the lessons: what they begin with, and how a choice in one reaches the address."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass

import streamlit as st

from playground.pack import pack, unpack
from playground.ui.components import component
from playground.ui.navigation import Setting, write_address

state = st.session_state


@dataclass(frozen=True)
class Written(Setting):
    """A choice with too many options to list: whatever matches a pattern."""

    options: tuple = ()
    pattern: str = ""

    def read(self, text: str | None) -> object:
        return text if text and re.fullmatch(self.pattern, text, re.ASCII) else self.default


def drawing(name: str, style: str, data: bytes | dict, settings: tuple[str, ...] = ()) -> None:
    """Mounts microscope/lessons/NAME.js. What it says of a setting goes into session state and the address."""

    def hear(setting: str) -> None:
        said = getattr(state[f"drawing_{name}"], setting)
        if said is not None:
            state[setting] = state.settings[setting].read(str(said))
            write_address()

    listeners = {f"on_{setting}_change": (lambda s=setting: hear(s)) for setting in settings}
    component(name, f"lessons/{name}.js", "drawing/drawing.css", style, box='<div class="drawing" data-drawing></div>')(
        key=f"drawing_{name}", data=data, default=dict.fromkeys(settings), **listeners
    )


def with_header(blob: bytes, **more) -> bytes:
    """The same bytes, with more in their header."""
    header, arrays = unpack(blob)
    return pack(header | more, arrays)


def begun(name: str, about: Hashable, now: dict) -> dict:
    """What a drawing begins with: `now`, and the same as long as it is `about` the same. What it shows since, it knows
    for itself; if it were told, all its bytes would be sent again."""
    first = state.setdefault("begun", {})
    if name not in first or first[name][0] != about:
        first[name] = (about, now)
    return first[name][1]
