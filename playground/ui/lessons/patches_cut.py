"""The picture falls apart: how many tokens that makes, and what one matrix makes of each patch."""

from __future__ import annotations

import numpy as np
import streamlit as st

from playground.lessons.words import patches as said
from playground.models.names import plain_name
from playground.pack import pack, unpack
from playground.serving import models, queue, traces
from playground.serving.pictures import as_jpeg
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.drawings import body_of, drawing, photo, with_header
from playground.ui.lessons.patches import PATCHES, SETTINGS
from playground.ui.navigation import write_address

state = st.session_state


def guess_patches(here: Here) -> None:
    """How many patches the picture makes, cut as it is below: one of them is outlined."""
    from playground.lessons import patches

    P, c = SETTINGS["patch"].default, models.load(here.wish.model).config
    high, wide = patches.picture_size(here.picture.image)
    rows, columns = high // P, wide // P
    url = photo(_whole(here, P, rows, columns))
    guess.ask(said.tokens((high, wide), P, _by_the_model(here, c), url), (here.picture.id, P))


def _by_the_model(here: Here, c) -> str:
    high, wide = traces.size(here.picture, here.wish)
    rows, columns, front = high // c.patch_size, wide // c.patch_size, len(c.prefix)
    extra = f", and {front} tokens more in front of them ({', '.join(c.prefix)})" if front else ""
    return (
        f"{plain_name(here.wish.model)} reads it at {wide} × {high} with patches of {c.patch_size} × {c.patch_size}: "
        f"{columns} × {rows} = {rows * columns:,}{extra}."
    )


def _whole(here: Here, patch: int, rows: int, columns: int) -> bytes:
    """The picture without the pixels that make no whole patch."""
    from playground.lessons import patches
    from playground.pictures.images import displayed

    size = patches.picture_size(here.picture.image)
    fine = displayed(here.picture.image, tuple(4 * side for side in size))
    return as_jpeg(fine.crop((0, 0, 4 * columns * patch, 4 * rows * patch)))


@st.fragment
def apart(here: Here) -> None:
    st.segmented_control("Patch size in pixels", PATCHES, key="patch", required=True)
    write_address()
    blob = here.kept(("cut", state.patch), lambda: _cut(here, state.patch))
    drawing("patches", "lessons/patches.css", with_header(blob, at=state.at, number=state.number), ("at", "number"))
    _same_numbers(unpack(blob)[0])
    lesson.exercises(said.TEXT.steps["cut"], {"patches_halve": state.patch == 8})


def _cut(here: Here, patch: int) -> bytes:
    from playground.lessons import patches
    from playground.pictures.images import displayed

    vit = models.load(here.wish.model)
    with queue.turn():
        found = patches.cut(vit, here.picture.image, patch)
    own, c = vit.config.patch_size, vit.config
    filters, bias = patches.projection(vit)
    header = {
        "id": f"{here.picture.id} {here.wish.model} {patch}",
        "size": found.size,
        "patch": patch,
        "own": own,
        "width": c.width,
        "mean": c.mean,
        "std": c.std,
        "difference": found.difference,
        "typical": found.typical,
    }
    arrays = {
        "pixels": np.array(displayed(here.picture.image, found.size, c.interpolation)),
        "filters": filters.half().numpy(),
        "stretch": patches.stretching(own, patch).numpy(),
        "bias": np.zeros(0, np.float32) if bias is None else bias.numpy(),
        "tokens": found.tokens.half().numpy(),
    }
    return pack(header, arrays)


def _same_numbers(header: dict) -> None:
    """Both ways, in the lines that have just run."""
    from playground.lessons import patches

    rows, columns = (side // header["patch"] for side in header["size"])
    left, right = st.columns(2)
    left.code(body_of(patches.by_unfolding), language="python", wrap_lines=True)
    right.code(body_of(patches.by_convolution), language="python", wrap_lines=True)
    st.markdown(
        f"Both give {rows * columns:,} × {header['width']:,} numbers. The largest difference between them, measured "
        f"just now on this picture: **{header['difference']:.1e}**, where a typical number is {header['typical']:.2f}."
        + ("" if header["own"] == header["patch"] else _stretched(header))
    )


def _stretched(header: dict) -> str:
    own, patch = header["own"], header["patch"]
    return (
        f" This model learned filters of {own} × {own} pixels; for {patch} × {patch} they are "
        f"{'stretched' if patch > own else 'shrunk'}, so that a token keeps what it says."
    )
