"""A page's Export: the same figures and numbers as the command `figure` makes, of what the page shows."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from playground.errors import PlaygroundError
from playground.serving import asker, kept, models, queue, traces
from playground.serving.session import Session
from playground.serving.traces import Wish
from playground.ui import components
from playground.ui.messages import Downloading, plain
from playground.ui.navigation import words_now

PICTURES = {"png": "PNG", "svg": "SVG", "pdf": "PDF"}
KINDS = PICTURES | {"html": "interactive", "webp": "in motion", "numbers": "numbers"}
NUMBERS = {"npz": "NumPy (.npz)", "csv": "CSV", "json": "JSON"}
MIMES = {
    "png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf", "html": "text/html", "webp": "image/webp",
    "npz": "application/octet-stream", "csv": "text/csv", "json": "application/json",
}  # fmt: skip
SWEEPS = {"layers": "through the layers", "scale": "the scale taken away"}
log = logging.getLogger("playground")
REST = ("locked", "grid")  # of the view: a drawn figure has none of them, an interactive one has
PREVIEW, SHOWN = 480, 320  # pixels, and how wide they stand in the panel: the choices beneath stay in sight
PACKS = {"float16": "16 bits", "int8": "8 bits, half as large"}
BACKGROUNDS = {"light": "light", "dark": "dark", "transparent": "transparent"}


def exporter(here: Session, layout: str | None = None) -> None:
    """On the microscope's page everything that there is; on a lesson's, its own `layout`."""
    state = st.session_state
    with st.popover("Export", icon=":material/ios_share:", width="stretch", key="exporting", on_change="rerun"):
        if state.get("exporting"):  # matplotlib is imported for those who ask
            try:
                _choices(here, layout)
            except PlaygroundError as error:
                st.info(str(error), icon=":material/info:")


def _choices(here: Session, layout: str | None) -> None:
    kinds = _kinds(here, layout)
    kind = st.segmented_control("As", kinds, default="png", format_func=KINDS.get, key="kind", required=True)
    if kind == "numbers":
        kind = st.segmented_control("File", NUMBERS, default="npz", format_func=NUMBERS.get, key="table", required=True)
        spec, made = _numbers(here, kind, layout)
    else:
        spec, made = _html(here) if kind == "html" else _figure(here, kind, layout)
    name = f"{Path(spec.image).stem or 'figure'}-{spec.layout if kind != 'html' else 'alive'}.{kind}"
    st.download_button(
        f"Download {plain(name)}", for_them(kind, made), name, MIMES[kind],
        on_click="ignore", width="stretch", type="primary", icon=":material/download:",
    )  # fmt: skip
    from playground.figures import command

    st.caption("The command that makes it again, and the link to this view:")
    st.code(command(spec, name), language="bash", wrap_lines=True)
    st.code(f"{st.context.url or ''}?{urlencode(words_now())}", language=None, wrap_lines=True)


def for_them(kind: str, made: Callable[[], bytes]) -> Callable[[], bytes]:
    """A file is made in a thread where no page runs; it waits its turn there as the person who looks at this page."""
    person = Downloading()

    def work() -> bytes:
        began = time.perf_counter()
        with asker.working_for(person):
            file = made()
        log.info("file kind=%s ms=%.0f", kind, (time.perf_counter() - began) * 1e3)
        return file

    return work


def _kinds(here: Session, layout: str | None) -> list[str]:
    """The kinds of file that can hold what is shown. A lesson's chart is a picture."""
    from playground.figures import html

    kinds = list(KINDS)
    if layout is not None:
        return [*PICTURES, "numbers"]
    try:
        html.check(description(here, "head"))
    except PlaygroundError:
        kinds = [kind for kind in kinds if kind != "html"]
    if st.session_state.get("kind") not in kinds:
        st.session_state.pop("kind", None)
    return kinds


def _figure(here: Session, kind: str, layout: str | None) -> tuple:
    """(the description, what makes the bytes): as the person chooses."""
    from playground.figures.spec import PURPOSES

    above = st.container()  # where it is in sight while one chooses
    layout = layout or _layout(here)
    words = {name: purpose.words for name, purpose in PURPOSES.items()}
    purpose = st.selectbox("For", words, format_func=words.get, key="purpose")
    background = st.segmented_control("Background", BACKGROUNDS, default="light", key="background", required=True)
    caption, footer = st.columns(2)
    look = {
        "purpose": purpose,
        "theme": "dark" if background == "dark" else "light",
        "transparent": background == "transparent",
        "caption": caption.toggle("caption", True, key="caption"),
        "footer": footer.toggle("where it comes from", key="footer"),
    }
    if kind == "webp":
        from playground.figures.animation import moves

        sweeps = [name for name in SWEEPS if moves(description(here, layout), name)]
        if st.session_state.get("sweep") not in sweeps:
            st.session_state.pop("sweep", None)
        look["sweep"] = st.segmented_control(
            "Moving", sweeps, default="layers", format_func=SWEEPS.get, key="sweep", required=True
        )
    spec = description(here, layout, **look)
    with above:
        _preview(here, spec)
    return spec, lambda: picture(here, spec, kind)


def _preview(here: Session, spec) -> None:
    """The figure itself with few dots; of what moves, how it begins."""
    small = replace(spec, sweep=None, footer=False, dpi=max(10, round(PREVIEW / spec.made_for.width)))
    components.picture(_kept(here, ("preview", small), lambda: picture(here, small, "png")), "png", width=SHOWN)


def _kept(here: Session, what: tuple, make: Callable):
    """What was made of the same before: a page runs again whenever it is clicked. Where one of two pictures is the
    person's own, so is what was made of both."""
    both = [(here.picture, here.wish)] if here.other is None else [(here.picture, here.wish), here.other]
    of = tuple((picture.id, wish) for picture, wish in both)
    picture, wish = min(both, key=lambda pair: pair[0].sample)
    return kept.about(picture, wish, here.worked, (*what, of), make)


def _numbers(here: Session, kind: str, layout: str | None) -> tuple:
    """(the description, what makes the bytes): of everything that the figure with this layout shows."""
    spec = description(here, layout or _layout(here))
    return spec, lambda: numbers(here, spec, kind)


def _layout(here: Session) -> str:
    from playground.figures.spec import LAYOUTS

    layouts = [name for name in LAYOUTS if name != "grid" and (name != "compare" or here.other is not None)]
    beside = "compare" if here.other is not None and here.view.get("beside") == "compare" else "convolution"
    return st.selectbox("Showing", layouts, layouts.index(beside), format_func=LAYOUTS.get, key="layout")


def _html(here: Session) -> tuple:
    from playground.figures import html

    choices = ("this layer", "all layers")
    held = st.segmented_control("Holding", choices, default="this layer", key="holding", required=True)
    pack = st.segmented_control("Numbers", PACKS, default="float16", format_func=PACKS.get, key="pack", required=True)
    spec = replace(
        interactive(here, all_layers=held == "all layers"),
        pack=pack,
        theme="dark" if st.context.theme.type == "dark" else "light",  # "light" is as the reader has it
    )

    def made() -> bytes:
        seen, _ = _traces(here, spec)
        with queue.turn():  # matplotlib draws its still picture, for one person at a time
            return html.page(spec, seen, here.picture.image).encode()

    def measured() -> tuple[int, str]:
        seen, _ = _traces(here, spec)
        with queue.turn():
            return html.size(spec, seen, here.picture.image), html.lost_by(spec, seen)

    size, lost = _kept(here, ("alive", spec), measured)
    said = f"One file of {size / 1e6:.2f} MB that works from a disk, offline: hover, lock, heads, the √d_k switch."
    st.caption(f"{said} With {lost}." if lost else said)
    return spec, made


def interactive(here: Session, all_layers: bool):
    """The description of an interactive figure."""
    spec = description(here, "head")
    spec = replace(spec, view=urlencode({key: here.view[key] for key in REST if key in here.view}))
    if all_layers:
        return replace(spec, layers="all")
    return replace(spec, layer=spec.settled(_traces(here, spec)[0]).layer)


def description(here: Session, layout: str, **look):
    """What the microscope shows, as the description of a figure."""
    from playground.figures import Spec
    from playground.figures.command_line import read_query

    on_microscope = st.session_state.get("page", "microscope") == "microscope"
    view, shown = here.view if on_microscope else {}, {}
    if "ceiling" in view and view["ceiling"] != "auto":
        shown["ceiling"] = float(view["ceiling"])
    if layout == "compare" and here.other is not None:
        picture, wish = here.other
        shown["other_image"] = None if picture.id == here.picture.id else picture.name
        shown["other_model"] = None if wish.model == here.wish.model else wish.model
    usual = here.wish.detail == 1 and here.wish.model != models.REAL  # what the command takes if no size is named
    return Spec(
        image="" if layout == "curves" else here.picture.name,
        layout=layout,
        model=here.wish.model,
        size=None if usual else traces.size(here.picture, here.wish),
        layer=int(view["layer"]) if "layer" in view else None,
        head=int(view.get("head", 0)),
        query=read_query(view.get("query")),
        scale=view.get("scale", "on"),
        whole=view.get("pass") == "whole" and (layout == "scale" or view.get("scale", "on") != "on"),
        what=view.get("what", "weight"),
        direction=view.get("direction", "row"),
        kernel=int(view.get("k", 3)),
        depth=view.get("depth", "follow"),
        draw=view.get("draw", "heat"),
        colours="own" if layout == "compare" else view.get("colours", "shared"),  # as on the screen: each its own
        log=view.get("log") == "true",
        smooth=view.get("smooth") == "true",
        **shown,
        **look,
    )


def picture(here: Session, spec, kind: str) -> bytes:
    from playground import figures
    from playground.figures import files

    seen, beside = _traces(here, spec)
    image = None if spec.layout == "curves" else here.picture.image
    with queue.turns() as give_way:
        if spec.sweep:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / f"sweep.{kind}"
                figures.animate(file, spec, seen, image, lambda steps: _giving_way(steps, give_way), **beside)
                return file.read_bytes()
        drawing = figures.draw(spec, seen, image, **beside) if seen else figures.draw(spec)
        makers: dict[str, Callable] = {"png": files.png, "svg": files.svg, "pdf": files.pdf}
        return makers[kind](drawing)


def _giving_way(steps: Iterable, give_way: Callable[[], None]) -> Iterator:
    for step in steps:
        give_way()
        yield step


def numbers(here: Session, spec, kind: str) -> bytes:
    from playground.figures.numbers import contents

    seen, beside = _traces(here, spec)
    with queue.turn():
        return contents(f".{kind}", spec, seen, None if spec.layout == "curves" else here.picture.image, **beside)


def _traces(here: Session, spec) -> tuple:
    """(the trace, what a figure takes beside it): made once, and kept in the server's caches."""
    from playground.figures import request

    if spec.layout == "curves":
        return None, {}

    def run(other: bool, size: tuple[int, int] | None, scale: str):
        picture, wish = here.other if other else (here.picture, here.wish)
        details = models.details(wish.model)
        detail = next((d for d in details if traces.size(picture, Wish(wish.model, d)) == size), 1)
        number = {"on": None, "off": 1.0}[scale] if scale in ("on", "off") else float(scale)
        return traces.trace(picture, Wish(wish.model, detail, number), here.own)

    return request.traces(spec, here.picture.image, here.other and here.other[0].image, run)
