"""Draws the attention of a model during training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from matplotlib import colormaps
from PIL import Image, ImageDraw

from playground.tracing import Query, Trace, trace
from playground.vit import VisionTransformer

MAP_SIDE, GAP = 84, 4  # pixels: the longer side of a map, the gap between maps


def attention_wall(vit: VisionTransformer, image: Image.Image, query: Query) -> Image.Image:
    """The picture with the query outlined, and beside it the query's attention: one row of maps for each layer, one map
    for each head, all on one scale: the brightest is twenty times an even weight."""
    model_trace = trace(vit, image)
    rows = torch.stack(
        [model_trace.rows(layer, query) for layer in range(model_trace.layers)]
    )  # (layers, heads, tokens)
    maps = _magma(model_trace.on_grid(rows) * model_trace.tokens / 20)  # (layers, heads, rows, columns, 3)
    map_height, map_width = _size(model_trace)
    height = model_trace.layers * (map_height + GAP) - GAP
    left_picture = _outlined(image, model_trace, query, height)
    sheet = Image.new("RGB", (left_picture.width + GAP + model_trace.heads * (map_width + GAP), height), "white")
    sheet.paste(left_picture, (0, 0))
    for layer, head in np.ndindex(model_trace.layers, model_trace.heads):
        map_ = Image.fromarray(maps[layer, head]).resize((map_width, map_height), Image.Resampling.NEAREST)
        sheet.paste(map_, (left_picture.width + GAP + head * (map_width + GAP), layer * (map_height + GAP)))
    return sheet


def _magma(weights: torch.Tensor) -> np.ndarray:
    return colormaps["magma"](weights.clamp(0, 1).numpy(), bytes=True)[..., :3]


def _size(model_trace: Trace) -> tuple[int, int]:
    """(height, width) of a map, in whole pixels per patch."""
    rows, columns = model_trace.grid
    cell = max(1, MAP_SIDE // max(rows, columns))
    return rows * cell, columns * cell


def _outlined(image: Image.Image, model_trace: Trace, query: Query, height: int) -> Image.Image:
    rows, columns = model_trace.grid
    cell = height / rows
    picture = image.convert("RGB").resize((round(cell * columns), height), Image.Resampling.BICUBIC)
    patch = model_trace.token(query) - len(model_trace.prefix)
    if patch >= 0:
        y, x = divmod(patch, columns)
        box = [round(cell * n) for n in (x, y, x + 1, y + 1)]
        pen = ImageDraw.Draw(picture)
        pen.rectangle([box[0] - 3, box[1] - 3, box[2] + 3, box[3] + 3], outline="black", width=3)
        pen.rectangle([box[0] - 1, box[1] - 1, box[2] + 1, box[3] + 1], outline="white", width=2)
    return picture


def write(picture: Image.Image, file: Path) -> None:
    """Replaces the file atomically: an image viewer may be reading it."""
    new_file = file.with_name(f"{file.stem}.new{file.suffix}")
    picture.save(new_file)
    new_file.replace(file)
