"""The stored pictures and texts of each layout, in tests/figures/kept/, with which tests compare new ones.

PYTHONPATH=. python tests/figures/keeping.py             # rewrites the stored pictures and texts: check the diff
PYTHONPATH=. python tests/figures/keeping.py wall heads  # only those pictures
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from playground import figures
from playground.figures import files, layouts
from playground.figures.drawing.naming import published_spec
from playground.figures.drawing.sheet import Drawing
from playground.figures.drawing.spec import Spec
from playground.figures.files import pixels
from playground.figures.request import from_files

KEPT_FOLDER = Path(__file__).parent / "kept"
TEXTS_FILE = KEPT_FOLDER / "texts.json"
MEADOW = Spec(image="meadow", model="bundled", layer=4, head=0, query=(7, 5), purpose="page", dpi=48)
GRID_SPEC = replace(MEADOW, layout="grid", query=None)
PICTURE_SPECS = {  # name of a stored picture -> the figure
    "head": MEADOW,
    "head-column": replace(MEADOW, direction="column"),
    "head-light": replace(MEADOW, draw="light", theme="dark"),
    "head-score": replace(MEADOW, what="score"),
    "head-mean": replace(MEADOW, head="mean", mass=0.6),
    "queries": replace(MEADOW, other_queries="2,11-12,3", mass=0.5),
    "convolution": replace(MEADOW, layout="convolution", purpose="slide", dpi=40),
    "heads": replace(MEADOW, layout="heads"),
    "heads-own": replace(MEADOW, layout="heads", colours="own"),
    "wall": replace(MEADOW, layout="wall", purpose="slide", dpi=60),
    "scale": replace(MEADOW, layout="scale"),
    "scale-whole": replace(MEADOW, layout="scale", whole=True),
    "compare-pictures": replace(MEADOW, layout="compare", other_image="portrait"),
    "compare-similarity": replace(MEADOW, layout="compare", other_image="flock", what="similarity"),
    "compare-models": replace(MEADOW, layout="compare", other_model="untrained"),
    "change": replace(MEADOW, layout="change", other_model="untrained"),
    "grid": replace(GRID_SPEC, rows="layers:1,4", columns="heads:0-3", query=(7, 5)),
    "grid-pictures": replace(GRID_SPEC, rows="pictures:meadow,portrait", columns="layers:1,5"),
    "components": replace(MEADOW, layout="components"),
    "parts": replace(MEADOW, what="parts"),
    "relevance": replace(MEADOW, what="relevance"),
    "relevance-label": replace(MEADOW, what="relevance", label="landscape"),
    "atlas": replace(MEADOW, layout="atlas"),
    "curves": Spec(layout="curves", purpose="page", dpi=48),
}
WAYS = ("weight", "value", "score", "similarity", "rollout", "relevance", "label", "norm", "components", "parts")
TEXT_SPECS = {  # name of an entry in texts.json -> the figure whose texts it holds: each way to look, and each layout
    **PICTURE_SPECS,
    **{f"head {what}": replace(MEADOW, what=what) for what in WAYS},
    **{f"head {what} of a column": replace(MEADOW, what=what, direction="column") for what in ("weight", "value")},
    **{f"head {what} in a paper": replace(MEADOW, what=what, words="paper") for what in ("weight", "similarity")},
    **{f"heads {what}": replace(MEADOW, layout="heads", what=what) for what in ("value", "score")},
    "class token": replace(MEADOW, query="cls"),
    "without the scale": replace(MEADOW, scale="off"),
    "whole pass without the scale": replace(MEADOW, scale="off", whole=True),
    "cut": replace(MEADOW, cut="7,5>3,2"),
    "label plant": replace(MEADOW, what="label", label="plant"),
    "masked": replace(MEADOW, mass=0.4, mask=True),
}


@cache
def draw_arguments_of(spec: Spec) -> tuple:
    """The arguments of `figures.draw` after the spec."""
    if spec.layout == "curves":
        return (), {}
    trace, image, draw_arguments = from_files(spec)
    return (trace, image), draw_arguments


@cache
def figure_of(spec: Spec) -> Drawing:
    first_arguments, draw_arguments = draw_arguments_of(spec)
    return figures.draw(spec, *first_arguments, **draw_arguments)


def picture_of(spec: Spec) -> Image.Image:
    return pixels(figure_of(spec)).convert("RGB")


def texts_of(spec: Spec) -> dict[str, object]:
    """All texts of the figure: on the sheet, its caption, its title, its file's metadata."""
    first_arguments, draw_arguments = draw_arguments_of(spec)
    drawing = figure_of(spec)
    sheet_texts = [text.get_text() for text in drawing.texts if text.get_text()]
    caption = files.caption_words(spec, *first_arguments, **draw_arguments)
    facts = {key: text for key, text in drawing.facts.items() if "sha256" not in text and key != "made by"}
    return {
        "sheet": sheet_texts,
        "caption": caption,
        "title": layouts.of(spec).title(published_spec(drawing.spec)),
        "facts": facts,
    }


def differing_dots(kept_picture: Image.Image, drawn_picture: Image.Image) -> np.ndarray:
    """A boolean (height, width) array: where the two pictures differ by more than 16 of 255."""
    assert kept_picture.size == drawn_picture.size, (
        f"the kept picture has {kept_picture.size} dots, the drawn one {drawn_picture.size}"
    )
    return np.abs(np.asarray(kept_picture, int) - np.asarray(drawn_picture, int)).max(-1) > 16


def has_wrong_cell(differs: np.ndarray, side: int = 3) -> bool:
    """Whether all dots of some `side` × `side` square differ, as they do if a patch has another colour."""
    sums = np.pad(differs.astype(int), ((1, 0), (1, 0))).cumsum(0).cumsum(1)
    squares = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
    return bool((squares == side * side).any())


def write(names: list[str]) -> None:
    KEPT_FOLDER.mkdir(exist_ok=True)
    for name in names or PICTURE_SPECS:
        picture_of(PICTURE_SPECS[name]).save(KEPT_FOLDER / f"{name}.webp", lossless=True, method=6)
    texts_by_name = {name: texts_of(spec) for name, spec in TEXT_SPECS.items()}
    TEXTS_FILE.write_text(json.dumps(texts_by_name, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1:])
