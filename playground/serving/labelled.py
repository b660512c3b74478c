"""Labelled pictures to choose from by number: CIFAR-10's files, in the folder that PLAYGROUND_CIFAR names."""

from __future__ import annotations

import io
import os
from pathlib import Path

import streamlit as st
from PIL import Image

from playground.errors import PlaygroundError
from playground.serving.engine import SHOWN_SIDE, Picture
from playground.serving.session import Session

KEY = "labelled"
TINY = 64  # pixels: a smaller picture is enlarged for the eye, each pixel a square; the model gets it as it is


def folder() -> Path | None:
    named = os.environ.get("PLAYGROUND_CIFAR", "").strip()
    return Path(named) if named else None


def picture(number: int) -> Picture:
    """The picture of that number, called "CIFAR-10 no. 17: frog". PlaygroundError says what the folder should hold."""
    from playground.training import datasets

    image, label = datasets.browse(folder(), number)
    image.thumbnail((2 * SHOWN_SIDE, 2 * SHOWN_SIDE))
    name = "CIFAR-10" if image.size == (datasets.SIDE, datasets.SIDE) else folder().name
    return Picture(f"{name} no. {number}: {label}", False, _shown(image), image)


def _shown(image: Image.Image) -> bytes:
    factor = SHOWN_SIDE // 2 // max(image.size)
    if max(image.size) < TINY:
        image = image.resize((image.width * factor, image.height * factor), Image.Resampling.NEAREST)
    else:
        image = image.copy()
        image.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=92, subsampling=0)
    return out.getvalue()


def chooser(here: Session, attempt) -> None:
    """Nothing where no folder is named."""
    if folder() is None:
        return
    from playground.training import datasets

    try:
        last = datasets.count(folder()) - 1
    except PlaygroundError as error:
        st.caption(str(error))
        return

    def choose() -> None:
        if (number := st.session_state[KEY]) is not None:
            attempt(lambda: here.show(picture(number)))

    st.number_input(
        f"or one of CIFAR-10, 0 to {last:,}", 0, last, None, 1, key=KEY, on_change=choose, placeholder="its number"
    )
    if not here.picture.sample and " no. " in here.picture.name:
        st.caption(here.picture.name)
