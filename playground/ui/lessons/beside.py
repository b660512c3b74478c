"""Second pictures, beside the photograph on which something is asked."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from playground.lessons.questions import Beside
from playground.serving.pictures import as_jpeg, data_url
from playground.ui.lessons.drawings import lit

SIDE = 480  # pixels
REACH = 2  # patches around the one that asks
INK = "#0072b2"


def around(jpeg: bytes, grid: tuple[int, int], spot: tuple[int, int], words: str) -> Beside:
    made = enlarged(jpeg, grid, spot)
    return Beside(data_url(as_jpeg(made)), words, made.width / made.height)


def enlarged(jpeg: bytes, grid: tuple[int, int], spot: tuple[int, int]) -> Image.Image:
    """A patch and those around it; the patch outlined."""
    image = Image.open(io.BytesIO(jpeg)).convert("RGB")
    high, wide = image.height / grid[0], image.width / grid[1]
    row, column = (min(max(at, REACH), max(REACH, n - 1 - REACH)) for at, n in zip(spot, grid, strict=True))
    first, across = (row - REACH, column - REACH), 2 * REACH + 1
    box = (first[1] * wide, first[0] * high, (first[1] + across) * wide, (first[0] + across) * high)
    made = image.crop(tuple(round(edge) for edge in box)).resize((SIDE, round(SIDE * high / wide)))
    corner = [(spot[1] - first[1]) * made.width / across, (spot[0] - first[0]) * made.height / across]
    outline = [*corner, corner[0] + made.width / across, corner[1] + made.height / across]
    pen = ImageDraw.Draw(made)
    pen.rectangle(outline, outline="black", width=6)
    pen.rectangle([edge + 2 * (1 if i < 2 else -1) for i, edge in enumerate(outline)], outline="white", width=2)
    return made


def pixels(patch: np.ndarray, words: str) -> Beside:
    """(P, P, 3), a square for each pixel."""
    times = max(1, SIDE // len(patch))
    made = Image.fromarray(patch.repeat(times, 0).repeat(times, 1))
    return Beside(data_url(_file(made, "PNG"), "png"), words, 1.0)


def tokens(jpeg: bytes, grid: tuple[int, int], front: tuple[str, ...], words: str) -> Beside:
    """All tokens: those that are no patches, then the patches, each for itself."""
    photograph = Image.open(io.BytesIO(jpeg)).convert("RGB")
    rows, columns = grid
    cell = max(8, 2 * SIDE // max(grid))
    gap, strip = max(1, cell // 8), 2 * SIDE // 10
    made = Image.new("RGBA", (columns * cell, strip + rows * cell))
    pen, font = ImageDraw.Draw(made), ImageFont.load_default(size=strip // 4)
    for n, name in enumerate(front):
        box = [n * strip, 0, n * strip + strip - 8, strip - 16]
        pen.rectangle(box, fill="white", outline=INK, width=3)
        pen.text(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2), name, fill="black", font=font, anchor="mm")
    small = photograph.resize((columns * (cell - gap), rows * (cell - gap)))
    for row in range(rows):
        for column in range(columns):
            left, top = column * (cell - gap), row * (cell - gap)
            one = small.crop((left, top, left + cell - gap, top + cell - gap))
            made.paste(one, (column * cell, strip + row * cell))
    return Beside(data_url(_file(made, "WEBP", quality=82), "webp"), words, made.width / made.height)


def row(image: Image.Image, shares, spot: tuple[int, int] | None, words: str, most: float | None = None) -> Beside:
    """Another row of weights on the same picture."""
    return Beside(data_url(lit(image, shares, spot, most)), words, image.width / image.height)


def only(image: Image.Image, grid: tuple[int, int], spots: list[tuple[int, int]], words: str) -> Beside:
    """The picture, of which these patches alone are bright."""
    dark = image.convert("RGB").point(lambda shade: shade // 5)
    high, wide = image.height / grid[0], image.width / grid[1]
    for at, across in spots:
        box = tuple(round(edge) for edge in (across * wide, at * high, (across + 1) * wide, (at + 1) * high))
        dark.paste(image.crop(box), box[:2])
    return Beside(data_url(as_jpeg(dark)), words, image.width / image.height)


def _file(image: Image.Image, kind: str, **options: int) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()
