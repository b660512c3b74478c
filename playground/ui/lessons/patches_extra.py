"""Tokens that are no patches."""

from __future__ import annotations

import streamlit as st

from playground.lessons.questions import Photo
from playground.lessons.words import patches as said
from playground.models.names import plain_name
from playground.serving import models, traces
from playground.ui import guess
from playground.ui.here import Here
from playground.ui.lessons.drawings import photo


def extra_tokens(here: Here) -> None:
    """The class token and registers of this model, with their count."""
    c = models.load(here.wish.model).config
    rows, columns = (side // c.patch_size for side in c.image_size)
    patches, front = rows * columns, len(c.prefix)
    if not front:
        st.markdown("This model has patches only: no class token, no registers.")
        return
    words = {
        "cls": "class token: what the last layer makes of it stands for the whole picture",
        "dist": "distillation token, which another network taught",
        "reg": "registers: room to keep what belongs to no place",
    }
    lines = [
        f"| {sum(name.startswith(key) for name in c.prefix)} | {text} | learned, the same for every picture |"
        for key, text in words.items()
        if any(name.startswith(key) for name in c.prefix)
    ]
    name = plain_name(here.wish.model)
    _guess(here, c, name)
    st.markdown(
        f"At the size that it was trained on, {name} has:\n\n"
        "| tokens | what they are | where their first numbers come from |\n|---|---|---|\n"
        + "\n".join(lines)
        + f"\n| {rows} × {columns} = {patches:,} | patches | the picture, and their positions |"
        + f"\n| **{patches + front:,}** | **all** | |\n\n"
        f"Attention treats them alike: all {patches + front:,} have queries, keys and values, so the table of weights "
        f"has {(patches + front) ** 2:,} cells instead of {patches**2:,}. (A ViT of 14 × 14 = 196 patches has "
        "197 tokens with a class token, and 201 with 4 registers more.)"
    )


def _guess(here: Here, c, name: str) -> None:
    high, wide = traces.size(here.picture, here.wish)
    grid = (high // c.patch_size, wide // c.patch_size)
    names = {"cls": "CLS", "dist": "DIST"}
    front = tuple(names.get(token, token.replace("reg", "R")) for token in c.prefix)
    shown = Photo(photo(here.picture.jpeg), grid, wide / high, lines=True, front=front)
    guess.ask(said.extra(name, front, shown))
