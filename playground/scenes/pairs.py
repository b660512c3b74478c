"""Boards as in the game of pairs: every sign lies on two fields of different colours, anywhere on the board.

The question to every field is the colour of its twin, the other field with the same sign. Neither the field itself nor
its place says anything about that: the answer stands in one other field alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

SIGNS = "♠♣♥★●▲■☂☀☎♞♪⚓⚑✈✿❄☺⚡✚♛♟✉▼"  # each board shows some of them
COLOURS = ("#C0392B", "#C58A00", "#3C8D40", "#1F8A99", "#4A5FC1", "#A2459E")
SIDE = 6  # fields along a side
FINE = 96  # pixels of a field for people; for the model, `patch`


@dataclass(frozen=True)
class Boards:
    """B boards of F fields."""

    images: np.ndarray  # (B, H, W, 3) uint8
    twin: np.ndarray  # (B, F): the number of the field with the same sign
    wanted: np.ndarray  # (B, F): the colour of that field


def boards(random: np.random.Generator, count: int, patch: int) -> Boards:
    """`patch` pixels along a side of each field."""
    fields, kinds = SIDE * SIDE, len(COLOURS)
    sign, twin, colour = np.empty((3, count, fields), np.int64)
    for board in range(count):
        place = random.permutation(fields).reshape(-1, 2)  # (pairs, 2)
        sign[board, place] = random.permutation(len(SIGNS))[: len(place), None]
        twin[board, place] = place[:, ::-1]
        colour[board, place[:, 0]] = first = random.integers(kinds, size=len(place))
        colour[board, place[:, 1]] = (first + random.integers(1, kinds, size=len(place))) % kinds
    tiles = _tiles(patch)[sign, colour].reshape(count, SIDE, SIDE, patch, patch, 3)
    images = tiles.transpose(0, 1, 3, 2, 4, 5).reshape(count, SIDE * patch, SIDE * patch, 3)
    return Boards(images, twin, np.take_along_axis(colour, twin, 1))


@cache
def _tiles(patch: int) -> np.ndarray:
    """Every sign on every colour: (signs, colours, patch, patch, 3) uint8."""
    paper = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in COLOURS], np.float32)
    ink = np.stack([np.asarray(_sign(sign, patch), np.float32) / 255 for sign in SIGNS])[:, None, :, :, None]
    return (ink * 255 + (1 - ink) * paper[:, None, None]).round().astype(np.uint8)


def _sign(sign: str, patch: int) -> Image.Image:
    """White on black, four fifths as large as its field."""
    file = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    left, top, right, bottom = ImageFont.truetype(file, FINE).getbbox(sign)
    font = ImageFont.truetype(file, 0.8 * FINE * FINE / max(right - left, bottom - top))
    field = Image.new("L", (FINE, FINE))
    left, top, right, bottom = font.getbbox(sign)
    at = ((FINE - left - right) / 2, (FINE - top - bottom) / 2)
    ImageDraw.Draw(field).text(at, sign, font=font, fill=255)
    return field.resize((patch, patch), Image.Resampling.BOX)
