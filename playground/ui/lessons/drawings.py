"""Mounts the drawings of the lessons: where their bytes are kept, and how a choice in one reaches the address."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass

import streamlit as st

from playground.serving.cache import MB, Cache
from playground.serving.session import Session
from playground.ui.components import component
from playground.ui.navigation import Setting, write_address

state = st.session_state
_samples = Cache(64 * MB)


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


def kept(here: Session, key: Hashable, make: Callable[[], bytes]) -> bytes:
    """Bytes about the picture and the model. Those about a sample are shared; those about an upload go when its session
    does."""
    cache = _samples if here.picture.sample else state.setdefault("drawn", Cache(32 * MB))
    return cache.get((here.picture.id, here.wish.model, key), make)
