"""The JavaScript modules as Streamlit components; the microscope and the strip of samples, which every page knows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import streamlit as st
from PIL import Image

from playground.figures.bundle import LENS_STYLES, bundle, stylesheet
from playground.samples import Sample, samples
from playground.serving.pictures import THUMB, data_url, thumbnail
from playground.ui import streamlit_private


@cache
def component(name: str, script: str, *styles: str, box: str | None = None, shadow: bool = True):
    """What a page calls to mount `script`, which finds its place by the name: `<div class="name" data-name>`."""
    mount = st.components.v2.component(
        f"attention_{name}", html=(box or f'<div class="{name}" data-{name}></div>') + "\n", js=bundle(script),
        css="".join(map(stylesheet, styles)), isolate_styles=shadow,
    )  # fmt: skip

    def mounted(key: str, **how):
        return mount(key=key, **{k: while_there(key, v) if k.startswith("on_") else v for k, v in how.items()})

    return mounted


def while_there(key: str, listen: Callable[[], object]) -> Callable[[], None]:
    """A page that a person has just left may still say something. Streamlit has forgotten the component of this key by
    then, but not whom it told."""

    def hear() -> None:
        if key in st.session_state:
            listen()

    return hear


def lens(key: str, data: bytes, **listeners) -> None:
    """What it says is in st.session_state[key]: `view` as it stands in an address, `ask` a question to the server, and
    what the strip leaves to it."""
    component("lens", "shell/streamlit.js", *LENS_STYLES, box="<div data-lens></div>")(
        key=key, data=data, default={"view": ""}, **{f"on_{what}_change": listen for what, listen in listeners.items()}
    )


def picture(data: bytes, kind: str = "jpeg", **look) -> None:
    """Streamlit would give it an address, and forget that as soon as something else is shown: a browser that fetches it
    just then would find nothing."""
    st.image(data_url(data, kind), **look)


def strip(key: str, shown: dict, on_pick, on_photo) -> None:
    data = {"samples": _thumbs(samples()), "uploads": streamlit_private.uploads(), **shown}
    box = '<div class="strip" data-strip role="group" aria-label="Sample pictures"></div>'
    component("strip", "shell/strip.js", "shell/strip.css", box=box)(
        key=key, data=data, on_pick_change=on_pick, on_photo_change=on_photo
    )


@cache
def _thumbs(there: tuple[Sample, ...]) -> list[dict[str, str]]:
    thumbs = []
    for sample in there:
        image = Image.open(sample.path)
        image.draft("RGB", (THUMB * 2, THUMB * 2))
        thumbs.append({"name": sample.name, "title": sample.title, "hint": sample.hint, "src": thumbnail(image)})
    return thumbs
