"""Mounts the drawings of the lessons: what they begin with, and how a choice in one reaches the address."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Hashable

import numpy as np
import streamlit as st
from PIL import Image, ImageDraw, ImageOps
from plotly.colors import sample_colorscale, unlabel_rgb

from playground.lessons.colours import KEY
from playground.pack import pack, unpack
from playground.serving import pictures
from playground.serving.here import Here
from playground.ui.components import component
from playground.ui.navigation import tell_settings

state = st.session_state


PHOTO = 960  # pixels of a picture on which a guess is made
MAP = 360  # of one among several


@st.cache_data(max_entries=64, ttl=3600, show_spinner=False)
def photo(jpeg: bytes, side: int = PHOTO) -> str:
    return pictures.small_url(jpeg, side)


def small(here: Here) -> Image.Image:
    """The picture, enlarged to the size of its maps; the pixels of a tiny one become sharp squares."""
    image = here.picture.image.convert("RGB")
    way = Image.Resampling.NEAREST if max(image.size) < pictures.TINY else Image.Resampling.BICUBIC
    return ImageOps.contain(image, (MAP, MAP), way)


def drawing(name: str, style: str, data: bytes | dict, settings: tuple[str, ...] = ()) -> None:
    """Mounts microscope/lessons/NAME.js. What it says of a setting goes into session state and the address."""

    def hear(setting: str) -> None:
        said = getattr(state[f"drawing_{name}"], setting)
        if said is not None:
            state[setting] = state.settings[setting].read(str(said))

    listeners = {f"on_{setting}_change": (lambda s=setting: hear(s)) for setting in settings}
    component(name, f"lessons/{name}.js", "drawing/drawing.css", style, box='<div class="drawing" data-drawing></div>')(
        key=f"drawing_{name}", data=data, default=dict.fromkeys(settings), **listeners
    )
    if settings:
        tell_settings(name)


def body_of(function: Callable) -> str:
    """Its lines, without the first."""
    return inspect.cleandoc("\n" + "".join(inspect.getsourcelines(function)[0][1:]))


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


MAGMA = np.array([unlabel_rgb(colour) for colour in sample_colorscale("magma", np.linspace(0, 1, 256).tolist())])


def end_of(weights) -> float:
    """Where the colours end: one weight of a thousand is larger."""
    return float(np.quantile(weights.numpy(), 0.999)) or 1.0


def table_of(weights) -> bytes:
    """A table of weights as a picture, a pixel for each."""
    shares = (weights / end_of(weights)).clamp(max=1).numpy()
    out = io.BytesIO()
    Image.fromarray(MAGMA[(shares * 255).astype(int)].astype(np.uint8)).save(out, "PNG")
    return out.getvalue()


def outlined(
    cut: Image.Image,
    grid: tuple[int, int],
    spot: tuple[int, int],
    asked: tuple[int, int] | None = None,
    around: int = 0,
) -> bytes:
    """The picture, the place that asks in white; `asked` and those around it in the colour of keys."""
    made = cut.convert("RGB").resize((cut.width * 2, cut.height * 2))
    high, wide = made.height / grid[0], made.width / grid[1]
    pen = ImageDraw.Draw(made)
    for place, reach, colour in ((asked, around, KEY), (spot, 0, "white")):
        if place is not None:
            (top, left), (bottom, right) = (tuple(at + side for at in place) for side in (-reach, 1 + reach))
            box = [left * wide, top * high, right * wide, bottom * high]
            pen.rectangle(box, outline="black", width=6)  # a rim: an orange line is lost on an orange cat
            pen.rectangle(box, outline=colour, width=4)
    return pictures.as_jpeg(made)


def lit(cut: Image.Image, row, spot: tuple[int, int] | None, most: float | None = None) -> bytes:
    """The picture in grey under its row of weights; the place that asks in white. Brightest is the largest, or
    `most`."""
    rows, columns = row.shape
    shares = (row / (most or row.max())).clamp(0, 1).numpy()
    colours = MAGMA[(shares * 255).astype(int)]  # (rows, columns, 3)
    size = (cut.width * 2, cut.height * 2)
    heat = Image.fromarray(colours.astype(np.uint8)).resize(size, Image.Resampling.NEAREST)
    cover = Image.fromarray((40 + shares * 200).astype(np.uint8)).resize(size, Image.Resampling.NEAREST)
    grey = cut.convert("L").convert("RGB").resize(size)
    made = Image.composite(heat, grey, cover)
    if spot is None:
        return pictures.as_jpeg(made)
    high, wide = size[1] / rows, size[0] / columns
    box = [spot[1] * wide, spot[0] * high, (spot[1] + 1) * wide, (spot[0] + 1) * high]
    ImageDraw.Draw(made).rectangle(box, outline="white", width=3)
    return pictures.as_jpeg(made)
