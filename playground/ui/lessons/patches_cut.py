"""The picture falls apart: how many tokens that makes, and what one matrix makes of each patch."""

from __future__ import annotations

import numpy as np
import streamlit as st

from playground.lessons.questions import Photo
from playground.lessons.words import patches as said
from playground.models.names import plain_name
from playground.pack import pack, unpack
from playground.samples import start_patch
from playground.serving import models, queue, traces
from playground.serving.here import Here
from playground.serving.pictures import as_jpeg
from playground.ui import guess, lesson
from playground.ui.lessons import beside
from playground.ui.lessons.drawings import body_of, drawing, photo, with_header
from playground.ui.lessons.patches import PATCHES, SETTINGS

state = st.session_state
STEP = said.TEXT.steps["cut"]


def guess_patches(here: Here) -> None:
    """How many patches the picture makes, cut as it is below: one of them is outlined."""
    from playground.lessons import patches
    from playground.pictures.images import displayed

    P, c = SETTINGS["patch"].default, models.load(here.wish.model).config
    high, wide = patches.picture_size(here.picture.image)
    rows, columns = high // P, wide // P
    row, column = start_patch(here.picture.name, (rows, columns))
    pixels = np.array(displayed(here.picture.image, (high, wide), c.interpolation))
    one = pixels[row * P : (row + 1) * P, column * P : (column + 1) * P]
    shown = Photo(
        photo(_whole(here, P, rows, columns)), (rows, columns), columns / rows, mark=row * columns + column,
        counts=True, beside=beside.pixels(one, said.ONE.format(P=P)),
    )  # fmt: skip
    guess.ask(said.tokens((high, wide), P, _by_the_model(here, c), shown), (here.picture.id, P))


def _by_the_model(here: Here, c) -> str:
    high, wide = traces.size(here.picture, here.wish)
    own, words = c.patch_size, STEP.said
    rows, columns = high // own, wide // own
    extra = (
        words["extra" if len(c.prefix) > 1 else "extra_one"].format(
            count=len(c.prefix), names=", ".join(said.front(c.prefix))
        )
        if c.prefix
        else ""
    )
    return words["by_model"].format(
        model=plain_name(here.wish.model), wide=wide, high=high, own=own, rows=rows, columns=columns,
        patches=rows * columns, extra=extra,
    )  # fmt: skip


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
    blob = here.kept(("cut", state.patch), lambda: cut_up(here, state.patch))
    drawing("patches", "lessons/patches.css", with_header(blob, at=state.at, number=state.number), ("at", "number"))
    _same_numbers(unpack(blob)[0])
    lesson.exercises(STEP, {"patches_halve": state.patch == 8 or (state.patch > 16 and "larger")})


def cut_up(here: Here, patch: int) -> bytes:
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

    left, right = st.columns(2)
    left.code(body_of(patches.by_unfolding), language="python", wrap_lines=True)
    right.code(body_of(patches.by_convolution), language="python", wrap_lines=True)
    lesson.say(measured(header))


def measured(header: dict) -> str:
    rows, columns = (side // header["patch"] for side in header["size"])
    numbers = {name: header[name] for name in ("width", "difference", "typical", "own", "patch")}
    stretched = "stretched" if header["patch"] > header["own"] else "shrunk"
    more = STEP.said["stretched"] if header["own"] != header["patch"] else ""
    numbers |= {name: ", ".join(f"{part:.3g}" for part in header[name]) for name in ("mean", "std")}
    return (STEP.after + more).format(tokens=rows * columns, stretched=stretched, **numbers)
