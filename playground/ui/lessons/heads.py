"""The lesson on heads: its steps, each drawn by the file heads_STEP.py, and what stands in its address."""

from __future__ import annotations

import io
import re

import streamlit as st
from PIL import Image

from playground.lessons.settings import Setting, Steps
from playground.lessons.words import heads as said
from playground.samples import SAMPLES
from playground.serving import pictures

ENTROPY, DISTANCE, SELF, CLASS, REGISTERS = "entropy", "distance", "self", "class", "registers"
MEASURES = {
    ENTROPY: "entropy",
    DISTANCE: "distance",
    SELF: "share to itself",
    CLASS: "share to CLS",
    REGISTERS: "share to registers",
}
PICTURE, SAMPLES_ALL = "picture", "samples"
OVER = {PICTURE: "this picture", SAMPLES_ALL: f"the {len(SAMPLES)} samples"}
THUMB = 200  # pixels
MOST_OFF = 40
Spot = tuple[int, int]  # (layer, head)


class Off(Setting):
    """Heads that are switched off, as "3.0 4.2": layer and head of each."""

    def read(self, text: str | None) -> str:
        if not re.fullmatch(r"\d{1,3}\.\d{1,3}( \d{1,3}\.\d{1,3})*", text or "", re.ASCII):
            return self.default
        return " ".join(text.split(" ")[:MOST_OFF])


TEXT = said.TEXT
STEPS = TEXT.titles
SETTINGS = {
    "measure": Setting.of(ENTROPY, MEASURES),
    "over": Setting.of(PICTURE, OVER),
    "off": Off("", ()),
    "step": Steps.by(STEPS, **TEXT.settings),
}


@st.cache_data(max_entries=64, ttl=3600, show_spinner=False)
def thumbnail(jpeg: bytes) -> str:
    """The picture as two of the steps show it, as a data URL."""
    image = Image.open(io.BytesIO(jpeg)).convert("RGB")
    image.thumbnail((THUMB, THUMB))
    return pictures.data_url(pictures.as_jpeg(image, quality=80))
