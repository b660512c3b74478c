"""Draws contact sheets of all layouts of figures, in all sizes and for pictures of all shapes.

python benchmarks/layouts.py             writes build/layouts/LAYOUT-slides.png, -wide.png and -narrow.png
python benchmarks/layouts.py heads grid  only these layouts; --grey: as printed without colours

tests/figures/test_layouts.py tests that no words overlap or are too small. Whether a layout looks good, a person must
judge by these sheets.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from PIL import Image, ImageOps

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import playground  # noqa: E402
from playground import figures  # noqa: E402
from playground.figures import Spec  # noqa: E402
from playground.figures.files import pixels  # noqa: E402
from playground.figures.layouts import LAYOUTS  # noqa: E402
from playground.samples import SAMPLES  # noqa: E402

OUT = ROOT / "build" / "layouts"
ASPECTS = {  # (width, height) -> the name of the picture's file
    (1, 1): "cat.png",
    (3, 2): "a very long name of a photograph that was taken on a beach 2024-08-13.jpg",
    (16, 9): "кошка Ünïcödé.jpg",
    (2, 3): "猫.png",
}
SIZES = {
    "slides": ({"purpose": "slide"}, {"purpose": "half"}, {"purpose": "beamer"}),
    "wide": ({"purpose": "page"}, {"purpose": "neurips"}, {"purpose": "nature-wide"}),
    "narrow": ({"purpose": "column"}, {"purpose": "cvpr"}, {"purpose": "nature"}, {"width": 2.4}),
}
LETTER_PIXELS = 12  # pixels of the letters' height, the least that can be read on the sheet
GAP = 14  # pixels between figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layouts", nargs="*", default=list(LAYOUTS))
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--grey", action="store_true")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    vit = playground.load(options.model)
    traces = {aspect: playground.trace(vit, picture(aspect)) for aspect in ASPECTS}
    for layout in options.layouts:
        for group, sizes in SIZES.items():
            lines = [[draw_figure(layout, size, traces, aspect) for size in sizes] for aspect in ASPECTS]
            page = sheet(lines)
            path = OUT / f"{layout}-{group}.png"
            (ImageOps.grayscale(page) if options.grey else page).save(path)
            print(path)


def picture(aspect: tuple[int, int]) -> Image.Image:
    """A drawing, cropped to this aspect."""
    return ImageOps.fit(playground.open_image(SAMPLES[0].path), (120 * aspect[0], 120 * aspect[1]))


def draw_figure(layout: str, size: dict, traces: dict, aspect: tuple[int, int]) -> Image.Image:
    seen, name = traces[aspect], ASPECTS[aspect]
    spec = Spec(image=name, model=seen.model, layer=4, head=2, layout=layout, footer=True, letters=True, **size)
    spec = replace(spec, dpi=round(72 * LETTER_PIXELS / spec.made_for.font))
    draw_arguments = {}
    if layout == "compare":
        spec, draw_arguments = (
            replace(spec, other_image="dog.png"),
            {"other": traces[2, 3], "other_image": picture((2, 3))},
        )
    if layout == "grid":
        spec = replace(spec, rows="layers:1,3,5", columns="heads:0-2,mean")
    return pixels(figures.draw(spec, seen, picture(aspect), **draw_arguments)).convert("RGB")


def sheet(lines: list[list[Image.Image]]) -> Image.Image:
    """The figures on a grey sheet, so that their edges show."""
    width = max(sum(tile.width + GAP for tile in line) for line in lines) + GAP
    height = sum(max(tile.height for tile in line) + GAP for line in lines) + GAP
    sheet_image, y = Image.new("RGB", (width, height), "#8a8a8a"), GAP
    for line in lines:
        x = GAP
        for tile in line:
            sheet_image.paste(tile, (x, y))
            x += tile.width + GAP
        y += max(tile.height for tile in line) + GAP
    return sheet_image


if __name__ == "__main__":
    main()
