"""Pictures that lessons draw: maps of weights, tables, and second pictures beside the photograph of a question."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import plotly.graph_objects as go
from PIL import Image, ImageDraw, ImageOps

from playground.figures.drawing import light
from playground.lessons.parts import KEY
from playground.lessons.questions import Beside
from playground.pictures.jpegs import as_jpeg, data_url

ENLARGED_SIDE = 480  # pixels along a side of an enlarged picture
MAP_SIDE = 360  # pixels, the longer side of a map
TINY_SIDE = 64  # pixels: a smaller picture is enlarged without smoothing


def pixels(patch: np.ndarray, words: str) -> Beside:
    """The patch with each pixel as a square. patch: (P, P, 3)"""
    scale = max(1, ENLARGED_SIDE // len(patch))
    image = Image.fromarray(patch.repeat(scale, 0).repeat(scale, 1))
    return Beside(data_url(_image_bytes(image, "PNG"), "png"), words, 1.0)


def only_patches(image: Image.Image, grid: tuple[int, int], spots: list[tuple[int, int]], words: str) -> Beside:
    """The picture, darkened except for the patches at `spots`."""
    dark_image = image.convert("RGB").point(lambda shade: shade // 5)
    patch_height, patch_width = image.height / grid[0], image.width / grid[1]
    for row, column in spots:
        left, top = round(column * patch_width), round(row * patch_height)
        right, bottom = round((column + 1) * patch_width), round((row + 1) * patch_height)
        dark_image.paste(image.crop((left, top, right, bottom)), (left, top))
    return Beside(data_url(as_jpeg(dark_image)), words, image.width / image.height)


def _image_bytes(image: Image.Image, kind: str, **options: int) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def at_map_size(image: Image.Image) -> Image.Image:
    """The picture at the size of maps; the pixels of a tiny picture become sharp squares."""
    image = image.convert("RGB")
    resampling = Image.Resampling.NEAREST if max(image.size) < TINY_SIDE else Image.Resampling.BICUBIC
    return ImageOps.contain(image, (MAP_SIDE, MAP_SIDE), resampling)


def colour_scale_end(weights: Any) -> float:
    """The end of the colour scale: the 99.9th percentile of the weights."""
    return float(np.quantile(weights.numpy(), 0.999)) or 1.0


def table_of(weights: Any) -> bytes:
    """A table of weights as a PNG, one pixel a weight."""
    shares = light.shares(weights.numpy(), colour_scale_end(weights))
    table = Image.fromarray((shares * 255).astype(np.uint8), "P")
    table.putpalette(light.bare_heat().tobytes())
    return _image_bytes(table, "PNG")


def outlined_picture(
    picture: Image.Image,
    grid: tuple[int, int],
    spot: tuple[int, int],
    key: tuple[int, int] | None = None,
    around: int = 0,
) -> bytes:
    """The picture with the query's patch (`spot`) outlined in white. A square outline in the colour of keys encloses
    `key` and `around` patches on each of its sides."""
    image = picture.convert("RGB").resize((picture.width * 2, picture.height * 2))
    patch_height, patch_width = image.height / grid[0], image.width / grid[1]
    pen = ImageDraw.Draw(image)
    for place, reach, colour in ((key, around, KEY), (spot, 0, "white")):
        if place is not None:
            (top, left), (bottom, right) = (tuple(n + side for n in place) for side in (-reach, 1 + reach))
            box = [left * patch_width, top * patch_height, right * patch_width, bottom * patch_height]
            pen.rectangle(box, outline="black", width=6)  # black rim: the line may cross pixels of its own colour
            pen.rectangle(box, outline=colour, width=4)
    return as_jpeg(image)


def webp_url(jpeg: bytes) -> str:
    """The picture as a data URL in WebP, which takes a third of the JPEG's bytes."""
    return data_url(_image_bytes(Image.open(io.BytesIO(jpeg)), "WEBP", quality=82), "webp")


def lit_picture(picture: Image.Image, row: Any, spot: tuple[int, int] | None, scale_end: float | None = None) -> bytes:
    """The picture under the heat of a row of weights, with the query's patch (`spot`) outlined in white. The colour
    scale ends at `scale_end`, by default at the largest weight."""
    rows, columns = row.shape
    shares = light.shares(row.numpy(), scale_end or float(row.max()) or 1)
    size = (picture.width * 2, picture.height * 2)
    pixel_shares = Image.fromarray(shares.astype(np.float32)).resize(size, Image.Resampling.NEAREST)
    image = Image.fromarray(light.heat(np.asarray(picture.convert("RGB").resize(size)), np.asarray(pixel_shares)))
    if spot is None:
        return as_jpeg(image)
    patch_height, patch_width = size[1] / rows, size[0] / columns
    box = [spot[1] * patch_width, spot[0] * patch_height, (spot[1] + 1) * patch_width, (spot[0] + 1) * patch_height]
    ImageDraw.Draw(image).rectangle(box, outline="white", width=3)
    return as_jpeg(image)


def two_bar_charts(
    *charts: tuple[str, list[float], str], hover: str | None = None, title: str | None = None
) -> go.Figure:
    """Two charts side by side: (name, heights of the bars, colour) of each."""
    figure = go.Figure()
    for n, (name, heights, colour) in enumerate(charts, 1):
        axes = {"xaxis": f"x{n}", "yaxis": f"y{n}"}
        figure.add_bar(y=heights, name=name, marker_color=colour, hovertemplate=hover, **axes)
    grid = {"rows": 1, "columns": 2, "pattern": "independent"}
    return figure.update_layout(grid=grid, legend={"orientation": "h", "y": 1.1}, title=title)
