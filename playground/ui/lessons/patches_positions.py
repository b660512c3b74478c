"""Where a patch lies: how alike the vectors of two places are."""

from __future__ import annotations

import streamlit as st

from playground.lessons.words import patches as said
from playground.pack import pack, unpack
from playground.serving import models
from playground.ui import guess, lesson
from playground.ui.here import Here
from playground.ui.lessons.drawings import drawing, with_header
from playground.ui.navigation import write_address

state = st.session_state
KINDS = {
    "learned": "This model has a vector for every place of the pictures that it was trained on; for another grid "
    "they are "
    "interpolated. All were **learned**: training changed them, as it did all other parameters.",
    "random": "This model has a vector for every place. Nothing was learned yet: they are random.",
    "rotary": "This model has **no table**: it turns queries and keys by angles that grow with row and column. The "
    "table shows the sines and cosines of these angles.",
    "sinusoidal": "**Sines and cosines** of falling frequency, by the formula; nothing is learned. Counted along the "
    "rows of the picture, the patch below is as far away as the row is long.",
    "turned": "**Nothing is added.** Half of a head’s numbers are turned by angles of the row, half by angles of the "
    "column (rotary positions in two dimensions, RoPE). The map: the mean cosine of the angles between two places, "
    "which is what a query says to an equal key there.",
    "none": "This model is told nothing about places.",
}


@st.fragment
def positions(here: Here) -> None:
    titles = {"learned": "This model’s", "sinusoidal": "Sinusoidal", "rotary": "Turned (2-D RoPE)"}
    st.segmented_control("Positions", list(titles), format_func=titles.get, key="table", required=True)
    write_address()
    blob = here.kept(("places", state.table), lambda: _places(here, state.table))
    header = unpack(blob)[0]
    kind, start = header["kind"], header.get("start")
    began = (
        ""
        if start is None
        else f" They did not begin as noise, but as sines and cosines of row and column; the cosine between a vector "
        f"of today and its beginning is {start:.2f} on average."
    )
    if kind != "none":
        drawing("positions", "lessons/patches.css", with_header(blob, place=state.place), ("place",))
    st.markdown(KINDS[kind] + began + (_only_the_way(header["grid"]) if kind == "turned" else ""))
    lesson.exercises(said.TEXT.steps["positions"], {"patches_sines": state.table == "sinusoidal"})


def _only_the_way(grid: tuple[int, int]) -> str:
    from playground.lessons import patches

    turned, added = patches.turned_scores(tuple(grid))
    return (
        " Two queries and keys that are turned have a score that depends only on the *way* from one place to the other:"
        f" 2 rows down and 3 columns right, from wherever on this grid, one q·k differs by at most {turned:.0e}. With "
        f"vectors that are *added*, random ones here, it differs by up to {added:.0f}."
    )


def guess_below() -> None:
    guess.ask(said.below())


def _places(here: Here, table: str) -> bytes:
    from playground.lessons import patches

    vit = models.load(here.wish.model)
    grid = vit.native_grid
    found = patches.place_vectors(vit, grid, table)
    if found is None:
        return pack({"kind": "none"}, {})
    places, kind = found
    if kind == "learned" and vit.random_weights:
        kind = "random"
    header = {
        "id": f"{here.wish.model} {table} {grid}", "grid": grid, "width": places.shape[1], "kind": kind,
        "start": like_the_start(places, grid) if kind == "learned" and here.wish.model == "bundled" else None,
    }  # fmt: skip
    return pack(header, {"places": places.half().numpy()})


def like_the_start(places, grid: tuple[int, int]) -> float | None:
    """How much the bundled model's positions, (patches, D), are still what its recipe began with; None if that was
    noise."""
    from torch.nn.functional import cosine_similarity

    from playground.training.recipe import Emergent, waves

    if not Emergent().waves:
        return None
    return float(cosine_similarity(places, waves(*grid, places.shape[1])).mean())
