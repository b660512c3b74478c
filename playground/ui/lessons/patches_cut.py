"""The picture falls apart: how many tokens that makes, and what one matrix makes of each patch."""

from __future__ import annotations

import inspect

import numpy as np
import streamlit as st

from playground.lessons.questions import Number, Photo
from playground.models.names import plain_name
from playground.pack import pack, unpack
from playground.serving import models, queue, traces
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.drawings import drawing, photo, with_header
from playground.ui.lessons.patches import PATCHES
from playground.ui.navigation import write_address

state = st.session_state


def guess_patches(here: Here) -> None:
    """How many patches the model makes of the picture: one of them is outlined."""
    c = models.load(here.wish.model).config
    high, wide = traces.size(here.picture, here.wish)
    rows, columns, P, front = high // c.patch_size, wide // c.patch_size, c.patch_size, len(c.prefix)
    extra = f" With {front} more in front of them ({', '.join(c.prefix)}) they are {rows * columns + front:,} tokens."
    guess.number(
        "patches_tokens",
        f"{plain_name(here.wish.model)} cuts it into patches of {P} × {P} pixels; the first is outlined. The picture "
        "becomes ▢ patches.",
        Number(10, 4000, log=True), rows * columns,
        f"Here it is {wide} × {high} pixels large: {wide} ÷ {P} = {columns} and {high} ÷ {P} = {rows}, so {rows} × "
        f"{columns} = {rows * columns:,} patches.{extra if front else ''}",
        (here.picture.id, here.wish),
        tempting=(((min(columns, rows) - 2, max(columns, rows) + 2), "So many lie along one side: multiply both."),),
        picture=Photo(photo(here.picture.jpeg), (rows, columns), wide / high, counts=True),
    )  # fmt: skip


@st.fragment
def apart(here: Here) -> None:
    st.segmented_control("Patch size in pixels", PATCHES, key="patch", required=True)
    write_address()
    blob = here.kept(("cut", state.patch), lambda: _cut(here, state.patch))
    drawing("patches", "lessons/patches.css", with_header(blob, at=state.at, number=state.number), ("at", "number"))
    _same_numbers(unpack(blob)[0])
    lesson.exercise(
        "Halve the patch size, from 16 to 8. What happens to the number of tokens, and to attention?",
        "Four times as many tokens, and sixteen times as many weights: every token has a weight for every other.",
        hint="The patch size stands above the picture.",
        done=state.patch == 8, id="patches_halve",
    )  # fmt: skip


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
    left.code(_body(patches.by_unfolding), language="python", wrap_lines=True)
    right.code(_body(patches.by_convolution), language="python", wrap_lines=True)
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


def _body(function) -> str:
    return inspect.cleandoc("\n" + "".join(inspect.getsourcelines(function)[0][1:]))
