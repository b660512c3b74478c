"""What the matrix looks for: its filters, and their answers on the picture."""

from __future__ import annotations

import streamlit as st

from playground.lessons.words.patches import TEXT
from playground.pack import pack
from playground.samples import start_patch
from playground.serving import models, queue
from playground.serving.here import Here
from playground.serving.pictures import as_jpeg
from playground.ui import lesson
from playground.ui.lessons.drawings import drawing, with_header

state = st.session_state
SHOWN = {"filters": "Filters", "components": "Principal components"}


@st.fragment
def filters(here: Here) -> None:
    from playground.lessons import patches

    st.segmented_control("Show", list(SHOWN), format_func=SHOWN.get, key="pictures", required=True)
    blob = here.kept(("filters", state.pictures), lambda: answered(here, state.pictures))
    grid = patches.small_grid(models.load(here.wish.model), here.picture.image)
    place = start_patch(here.picture.name, grid) if state.pictures == "filters" else None
    drawing("filters", "lessons/patches.css", with_header(blob, chosen=state.filter, place=place), ("filter",))
    if place:
        _channels(here, place)


def _channels(here: Here, place: tuple[int, int]) -> None:
    """A filter has a part for each colour, and their answers are added up."""
    from playground.lessons import patches

    vit = models.load(here.wish.model)
    number = patches.strongest(vit)[min(state.filter, vit.config.width - 1)]
    parts = patches.by_channels(vit, here.picture.image, number, place)
    red, green, blue, bias = (f"{part:.2f}".replace("-", "−") for part in parts)
    whole = f"{sum(parts):.2f}".replace("-", "−")
    lesson.say(
        TEXT.steps["filters"].after,
        number=number, row=place[0], column=place[1], red=red, green=green, blue=blue, bias=bias, whole=whole,
    )  # fmt: skip


def answered(here: Here, pictures: str) -> bytes:
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
