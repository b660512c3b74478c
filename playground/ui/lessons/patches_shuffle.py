"""The same patches in another order, without positions and with them."""

from __future__ import annotations

import numpy as np
import streamlit as st
from PIL import Image

from playground.lessons.questions import Pictures
from playground.lessons.words import patches as said
from playground.pack import pack, unpack
from playground.serving import models, queue
from playground.serving.here import Here
from playground.serving.pictures import as_jpeg, data_url
from playground.ui import guess, lesson
from playground.ui.lessons.drawings import drawing, photo, with_header
from playground.ui.lessons.patches import SETTINGS

state = st.session_state
STEP = said.TEXT.steps["shuffle"]


def guess_shuffle(here: Here) -> None:
    guess.ask(said.shuffled(_mixed(photo(here.picture.jpeg), here.picture.image)))


def _mixed(url: str, image: Image.Image, side: int = 8) -> Pictures:
    """The picture, and its patches in another order."""
    across, down = (max(2, round(side * length / max(image.size))) for length in image.size)
    patch = 480 // side
    small = image.convert("RGB").resize((across * patch, down * patch))
    boxes = [(x * patch, y * patch, (x + 1) * patch, (y + 1) * patch) for y in range(down) for x in range(across)]
    mixed = small.copy()
    for box, n in zip(boxes, np.random.default_rng(0).permutation(len(boxes)), strict=True):
        mixed.paste(small.crop(boxes[n]), box[:2])
    both = (url, data_url(as_jpeg(mixed)))
    return Pictures(both, both, ("in order", "in another order"), across / down)


@st.fragment
def shuffle(here: Here) -> None:
    depth = models.load(here.wish.model).config.depth
    state.after = min(state.after, depth - 1)
    which, layer, again = st.columns([1.2, 2, 1.4], vertical_alignment="bottom")
    which.segmented_control("Positions are", ("off", "on"), key="positions", required=True)
    layer.select_slider("In layer", range(depth), key="after")
    if again.button("Shuffle again", icon=":material/shuffle:"):
        state.order = state.order % 99 + 1
    key = ("shuffle", state.after, state.order, state.positions)
    blob = here.kept(key, lambda: reordered(here, *key[1:]))
    drawing("shuffle", "lessons/patches.css", with_header(blob, at=state.asker), ("asker",))
    lesson.say(noticed(unpack(blob)[0], state.positions))
    done = state.positions == "on" or (state.order != SETTINGS["order"].default and "order")
    lesson.exercises(STEP, {"patches_told": done})


def noticed(header: dict, positions: str) -> str:
    numbers = {name: header[name] for name in ("heads", "difference", "largest")}
    return STEP.after.format(noticed=STEP.said[positions], **numbers)


def reordered(here: Here, layer: int, order: int, positions: str) -> bytes:
    from playground.lessons import patches
    from playground.pack.schema import FORMAT
    from playground.pictures.images import displayed

    vit = models.load(here.wish.model)
    with queue.turn():
        found = patches.shuffle(vit, here.picture.image, layer, order, positions == "on")
    heads, tokens, dim = found.before.q.shape
    height, width = found.size
    header = {
        "format": FORMAT,
        "id": f"{here.picture.id} {here.wish.model} {layer} {order} {positions}",
        "scale": found.scale,
        "layers": 2,
        "heads": heads,
        "head_dim": dim,
        "tokens": tokens,
        "prefix": list(vit.config.prefix),
        "grid": found.grid,
        "size": found.size,
        "held": [0, 1],
        "order": found.order.tolist(),
        "difference": found.difference,
        "largest": found.largest,
    }
    arrays = {
        "q": np.stack([found.before.q.half().numpy(), found.after.q.half().numpy()]),
        "k": np.stack([found.before.k.half().numpy(), found.after.k.half().numpy()]),
        "image": as_jpeg(displayed(here.picture.image, (2 * height, 2 * width))),
    }
    return pack(header, arrays)
