"""Lists the scripts that draw what a lesson shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from playground.serving import scripts

HOST = "lessons/host.js"  # the player of lessons


@dataclass(frozen=True)
class Script:
    file: str  # a script in microscope/
    box: str  # class and data- attribute of the element into which the script draws
    styles: tuple[str, ...]  # style sheets in microscope/
    look: str = ""  # another class of the element, for styles of a single lesson
    mounts: str = ""  # the name of the function that mounts the drawing, if the file has several drawings


def _styles(name: str) -> tuple[str, ...]:
    return "lessons/base.css", f"lessons/{name}.css"


def _drawing_script(file: str, look: str, mounts: str = "", styles: str = "drawings") -> Script:
    return Script(f"lessons/{file}.js", "drawing", _styles(styles), look, mounts)


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
    "crossed": _drawing_script("crossed", ""),
    "windows": _drawing_script("windows", ""),
    "case": _drawing_script("case", "cost"),
    "reel": _drawing_script("reel", "", styles="reel"),
    "atlas": _drawing_script("heads", "atlas", "atlas", "heads"),
    "board": _drawing_script("heads", "board", "board", "heads"),
    "steps": _drawing_script("steps", "walk", styles="listings"),
    "read": Script("drawing/listing.js", "read", _styles("listings"), mounts="sourceRead"),
    "softmaxbars": _drawing_script("softmaxbars", "softmax"),
    "guess": Script("lessons/guess.js", "guess", _styles("questions")),
    "exercise": Script("lessons/exercise.js", "exercise", _styles("questions"), mounts="exercise"),
    "overview": Script("lessons/exercise.js", "overview", _styles("questions"), mounts="overview"),
}
scripts.offer(HOST)
for _script in SCRIPTS.values():
    scripts.offer(_script.file, *_script.styles, mounts=_script.mounts)


def lesson_kit(addresses: Mapping[str, str], host: str) -> dict:
    """What the browser needs to play lessons. `addresses`: of each script in SCRIPTS; `host`: of HOST."""
    records = {
        name: {"script": address, "box": SCRIPTS[name].box, "look": SCRIPTS[name].look}
        for name, address in addresses.items()
    }
    return {"scripts": records, "host": host}
