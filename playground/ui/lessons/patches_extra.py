"""Tokens that are no patches."""

from __future__ import annotations

import streamlit as st

from playground.lessons.questions import Photo
from playground.lessons.words import patches as said
from playground.models.names import plain_name
from playground.serving import models, traces
from playground.serving.here import Here
from playground.ui import guess, lesson
from playground.ui.lessons import beside
from playground.ui.lessons.drawings import photo


def extra_tokens(here: Here) -> None:
    """The class token and registers of this model, with their count."""
    c = models.load(here.wish.model).config
    rows, columns = (side // c.patch_size for side in c.image_size)
    step = said.TEXT.steps["extra"]
    patches, front = rows * columns, len(c.prefix)
    if not front:
        lesson.say(step.said["none"])
        return
    words, name = step.said, plain_name(here.wish.model)
    lines = [
        f"| {sum(token.startswith(kind) for token in c.prefix)} | {words[kind]} | {words['learned']} |"
        for kind in ("cls", "dist", "reg")
        if any(token.startswith(kind) for token in c.prefix)
    ]
    lines.append(f"| {rows} × {columns} = {patches:,} | patches | {words['patches']} |")
    head = "| tokens | what they are | where their first numbers come from |\n|---|---|---|"
    _guess(here, c, name)
    lesson.say(words["native"], model=name)
    st.markdown("\n".join([head, *lines, f"| **{patches + front:,}** | **all** | |"]))
    lesson.say(step.after, all=patches + front, cells=(patches + front) ** 2, fewer=patches**2)


def _guess(here: Here, c, name: str) -> None:
    high, wide = traces.size(here.picture, here.wish)
    grid = (high // c.patch_size, wide // c.patch_size)
    front, words = said.front(c.prefix), f"{grid[0] * grid[1] + len(c.prefix):,} tokens"
    second = here.kept("all tokens", lambda: beside.tokens(here.picture.jpeg, grid, front, words))
    shown = Photo(photo(here.picture.jpeg), grid, wide / high, lines=True, beside=second)
    guess.ask(said.extra(name, front, shown))
