"""Where a patch lies: how alike the vectors of two places are."""

from __future__ import annotations

import streamlit as st

from playground.lessons.words.patches import TEXT
from playground.pack import pack, unpack
from playground.serving import models
from playground.serving.here import Here
from playground.ui import lesson
from playground.ui.lessons.drawings import drawing, with_header
from playground.ui.navigation import tell_settings

state = st.session_state
WORDS = TEXT.steps["positions"].said
TABLES = {"learned": "This model’s", "sinusoidal": "Sinusoidal", "rotary": "Turned (2-D RoPE)"}


@st.fragment
def positions(here: Here) -> None:
    st.segmented_control("Positions", list(TABLES), format_func=TABLES.get, key="table", required=True)
    blob = here.kept(("places", state.table), lambda: placed(here, state.table))
    header = unpack(blob)[0]
    if header["kind"] != "none":
        drawing("positions", "lessons/patches.css", with_header(blob, place=state.place), ("place",))
    else:
        tell_settings("positions")
    lesson.say(told(header))
    done = {"sinusoidal": True, "rotary": "rotary"}  # the last is tempting
    lesson.exercises(TEXT.steps["positions"], {"patches_sines": done.get(state.table, False)})


def told(header: dict) -> str:
    kind, start = header["kind"], header.get("start")
    began = "" if start is None else WORDS["began"].format(cosine=start)
    return WORDS[kind].format(**(_only_the_way(header["grid"]) if kind == "turned" else {})) + began


def _only_the_way(grid: tuple[int, int]) -> dict[str, float]:
    from playground.lessons import patches

    return dict(zip(("turned", "added"), patches.turned_scores(tuple(grid)), strict=True))


def placed(here: Here, table: str) -> bytes:
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
