"""Mounts our scripts as Streamlit components: a message to the browser carries the address of a script, never the
script. Also lists the scripts that lessons mount, with their styles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import streamlit as st

from playground.figures.bundle import LENS_STYLES
from playground.pictures.jpegs import data_url
from playground.serving import scripts


@dataclass(frozen=True)
class Script:
    file: str  # a script in microscope/
    box: str  # class and data- attribute of the element into which the script draws
    styles: str  # a style sheet in microscope/
    look: str = ""  # another class of the element, for styles of a single lesson
    mounts: str = ""  # the name of the function that mounts the drawing, if the file has several drawings
    settles: bool = False  # whether the script keeps the settings that it has reported until the next message

    @property
    def html(self) -> str:
        return f'<div class="{" ".join(filter(None, (self.box, self.look)))}" data-{self.box}></div>'


def _drawing_script(file: str, look: str, mounts: str = "") -> Script:
    return Script(f"lessons/{file}.js", "drawing", "lessons/drawings.css", look, mounts)


LISTING_STYLES, HEAD_STYLES, QUESTION_STYLES = "lessons/listings.css", "lessons/heads.css", "lessons/questions.css"
SCRIPTS = {
    "arrows": _drawing_script("arrows", "by-hand"),
    "friends": _drawing_script("friends", "by-hand"),
    "masks": _drawing_script("nine", "by-hand", "masks"),
    "received": _drawing_script("nine", "by-hand", "received"),
    "carried": _drawing_script("mixture", "mixture", "carried"),
    "scores": _drawing_script("mixture", "mixture", "scores"),
    "patches": _drawing_script("patches", "patches"),
    "filters": _drawing_script("filters", "patches"),
    "positions": _drawing_script("positions", "patches", "positions"),
    "shuffle": _drawing_script("positions", "patches", "shuffle"),
    "push": _drawing_script("push", "push"),
    "case": _drawing_script("case", "cost"),
    "reel": Script("lessons/reel.js", "drawing", "lessons/reel.css", settles=True),
    "atlas": Script("lessons/heads.js", "atlas", HEAD_STYLES, mounts="atlas"),
    "board": Script("lessons/heads.js", "board", HEAD_STYLES, mounts="board"),
    "steps": Script("lessons/steps.js", "walk", LISTING_STYLES),
    "read": Script("drawing/listing.js", "read", LISTING_STYLES, mounts="sourceRead"),
    "softmaxbars": Script("lessons/softmaxbars.js", "softmax", LISTING_STYLES),
    "guess": Script("lessons/guess.js", "guess", QUESTION_STYLES),
    "exercise": Script("lessons/exercise.js", "exercise", QUESTION_STYLES, mounts="exercise"),
    "overview": Script("lessons/exercise.js", "overview", QUESTION_STYLES, mounts="overview"),
}


# The script that Streamlit sends for each component: it imports our script by its address. The app may be served below
# a folder, so this address is relative to the address of the script that the page itself loads (toolbar.py).
STUB = """
const ROOT = document.querySelector("script[data-toolbar]").src.split("api/app/")[0];
export default async (args) => {
  const place = args.parentElement;
  const call = (place.__calls = (place.__calls ?? 0) + 1);
  const { default: mount, styles } = await import(new URL("ADDRESS", ROOT).href);
  if (call !== place.__calls) return; // a later call has come first, with what is so now
  if (styles && !place.querySelector("style[data-ours]")) {
    const style = document.createElement("style");
    style.dataset.ours = "";
    style.textContent = styles;
    place.prepend(style);
  }
  return mount(args);
};
"""


@cache
def component(name: str, script: str, *styles: str, box: str = "", mounts: str = "", shadow: bool = True):
    """Returns a function that mounts `script` on a page, in the element `box` or `<div class="name" data-name>`."""
    mount = st.components.v2.component(
        f"attention_{name}", html=(box or f'<div class="{name}" data-{name}></div>') + "\n",
        js=STUB.replace("ADDRESS", scripts.address(script, *styles, mounts=mounts)), isolate_styles=shadow,
    )  # fmt: skip

    def mount_on_page(key: str, **options):
        return mount(key=key, **{k: while_there(key, v) if k.startswith("on_") else v for k, v in options.items()})

    return mount_on_page


def lesson_component(name: str):
    """Mounts a script of SCRIPTS."""
    script = SCRIPTS[name]
    return component(name, script.file, script.styles, box=script.html, mounts=script.mounts)


SHELL_STYLES = (
    "see/see.css", "story/story.css", "classroom/classroom.css", "shell/stage.css",
    "shell/toolbar.css",
)  # fmt: skip
APP_SCRIPT = "shell/app.js"
APP_STYLES = (*LENS_STYLES, *SHELL_STYLES)
SHARED_PAGE_FILES = ("shell/shared.js", *LENS_STYLES, "see/see.css", "shell/shared.css")  # for pages that people share
for _files in ((APP_SCRIPT, *APP_STYLES), SHARED_PAGE_FILES):
    scripts.offer(*_files)
for _script in SCRIPTS.values():
    scripts.offer(_script.file, _script.styles, mounts=_script.mounts)


def app_component(name: str):
    """A component of the app's own script, which holds the choice: the toolbar, the stage, a lesson's settings."""
    return component(name, APP_SCRIPT, *APP_STYLES)


def stage() -> None:
    """Mounts the microscope, which fetches its numbers over HTTP."""
    app_component("stage")(key="stage", data={"n": 0})


def while_there(key: str, listen: Callable[[], object]) -> Callable[[], None]:
    """A callback for the component `key` that does nothing once the component's page was left: Streamlit has then
    forgotten the component, but still calls the callback."""

    def listen_if_there() -> None:
        if key in st.session_state:
            listen()

    return listen_if_there


def spot(value: object, layers: int, heads: int) -> tuple[int, int] | None:
    """(layer, head) from a drawing's message, unchecked input from a browser; None if there is no such head."""
    value = as_dict(value)
    layer, head = value.get("layer"), value.get("head")
    if type(layer) is int and type(head) is int and 0 <= layer < layers and 0 <= head < heads:
        return layer, head
    return None


def as_dict(value: object) -> dict:
    """A drawing's message if it is an object; else an empty dict."""
    return value if isinstance(value, dict) else {}


def picture(data: bytes, kind: str = "jpeg", **look) -> None:
    """Shows an image as a data URL. Streamlit would serve the image at an address only until something else is shown,
    so a browser might fetch it too late."""
    st.image(data_url(data, kind), **look)
