"""What the matrix looks for: its filters, and their answers on the picture."""

from __future__ import annotations

import streamlit as st

from playground.lessons.words import patches as said
from playground.pack import pack
from playground.samples import start_patch
from playground.serving import models, queue
from playground.serving.pictures import as_jpeg
from playground.ui import guess
from playground.ui.here import Here
from playground.ui.lessons.drawings import drawing, with_header
from playground.ui.navigation import write_address

state = st.session_state


@st.fragment
def filters(here: Here) -> None:
    titles = {"filters": "Filters", "components": "Principal components"}
    st.segmented_control("Show", list(titles), format_func=titles.get, key="pictures", required=True)
    write_address()
    blob = here.kept(("filters", state.pictures), lambda: _filters(here, state.pictures))
    drawing("filters", "lessons/patches.css", with_header(blob, chosen=state.filter), ("filter",))
    if state.pictures == "filters":
        _channels(here)


def _channels(here: Here) -> None:
    """A filter has a part for each colour, and their answers are added up."""
    from playground.lessons import patches

    vit = models.load(here.wish.model)
    number = patches.strongest(vit)[min(state.filter, vit.config.width - 1)]
    grid = patches.small_grid(vit, here.picture.image)
    place = start_patch(here.picture.name, grid)
    parts = patches.by_channels(vit, here.picture.image, number, place)
    red, green, blue, bias = (f"{part:.2f}".replace("-", "−") for part in parts)
    whole = f"{sum(parts):.2f}".replace("-", "−")
    st.markdown(
        f"A filter has three planes, and their answers are **summed**: of number {number}, at row {place[0]}, column "
        f"{place[1]}: red {red}, green {green}, blue {blue}, bias {bias}; together **{whole}**, one number of the "
        "token. Nothing of the token is “the red part”."
    )


def guess_even() -> None:
    guess.ask(said.even())


def _filters(here: Here, pictures: str) -> bytes:
    from playground.lessons import patches
    from playground.pictures.images import displayed

    vit = models.load(here.wish.model)
    find = patches.principal_filters if pictures == "components" else patches.strongest_filters
    with queue.turn():
        found = find(vit, here.picture.image)
    n, rows, columns = found.answers.shape
    learned = f"{n} of the {vit.config.width} learned filters"
    caption = f"The first {n} principal components" if pictures == "components" else learned
    header = {
        "id": f"{here.picture.id} {here.wish.model} {pictures}",
        "patch": found.filters.shape[-1],
        "grid": (rows, columns),
        "size": found.size,
        "titles": found.titles,
        "caption": caption,
    }
    arrays = {
        "pictures": patches.as_pictures(found.filters).numpy(),
        "answers": found.answers.half().numpy(),
        "image": as_jpeg(displayed(here.picture.image, found.size)),
    }
    return pack(header, arrays)
