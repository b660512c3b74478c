"""Lessons of the playground without a server: those of whose drawings JavaScript makes all numbers."""

from __future__ import annotations

from playground.figures.bundle import bundle, stylesheet
from playground.serving.site_files import Folder
from playground.ui.lessons import by_hand

DRAWN = {  # page: [(the step, its drawing, the settings that it shows)]
    "by_hand": [("arrows", "arrows", ("arrows",)), ("masks", "masks", ("arrows", "mask"))],
}
STEPS = {"by_hand": by_hand.STEPS}
SETTINGS = {"by_hand": by_hand.SETTINGS}
MORE = {"arrows": {"start": by_hand.SETTINGS["arrows"].default, "still": False}}


def write(folder: Folder) -> dict[str, list[dict]]:
    """{page: its drawings, one below the other}, as shell/sitelessons.js shows them."""
    return {page: [_drawing(folder, page, *drawn) for drawn in all_drawn] for page, all_drawn in DRAWN.items()}


def _drawing(folder: Folder, page: str, step: str, name: str, settings: tuple[str, ...]) -> dict:
    return {
        "title": STEPS[page][step].rpartition(" · ")[2],
        "script": folder.put(f"{name}.js", bundle(f"lessons/{name}.js").encode()),
        "styles": folder.put(f"{page}.css", stylesheet("drawing/drawing.css", f"lessons/{page}.css").encode()),
        "settings": {setting: SETTINGS[page][setting].default for setting in settings},
        "data": MORE.get(name, {}),
    }
