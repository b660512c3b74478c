"""Numbers on a photograph, pixel by pixel, at the size at which it is drawn: as heat or as light (see light.py)."""

from __future__ import annotations

import matplotlib
import numpy as np
from PIL import Image

from playground.figures import light
from playground.figures.maps import Domain, neighbourhood, shares
from playground.figures.spec import SIGNED, Spec

FIELD = 0.55  # of the photograph's own colour comes through where a stack of convolutions reaches
LIT_GOLD = (236, 190, 96)  # what the bar of the light is shown on: bright and colourful, so that both can fade


def is_lit(spec: Spec) -> bool:
    """Scores and cosines have no share that could be lit, and the wall's pictures are too small for it: they are
    always heat, as on the screen."""
    return spec.draw == "light" and spec.what not in SIGNED and spec.layout != "wall"


def printed(photo: Image.Image, grid: np.ndarray, spec: Spec, span: Domain) -> Image.Image:
    """The photograph with the numbers of its patches on it."""
    if is_lit(spec):
        share, chosen = (spread(cells, photo.size) for cells in (shares(grid, span), light.densest(grid)))
        return Image.fromarray(light.light(np.asarray(photo), share, chosen))
    values = softened(grid, photo.size) if spec.smooth else spread(grid, photo.size)
    return Image.fromarray(light.heat(np.asarray(photo), shares(values, span)))


def thumbnail(photo: Image.Image, grid: np.ndarray, spec: Spec, span: Domain) -> Image.Image:
    """The same at one pixel a patch."""
    rows, columns = grid.shape
    return printed(photo.resize((columns, rows), Image.Resampling.BOX), grid, spec, span)


def spread(grid: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """(rows, columns) -> (height, width): each pixel has its patch's number. `size` is (width, height)."""
    down, across = (
        ((np.arange(n) + 0.5) * cells / n).astype(int) for n, cells in zip(size[::-1], grid.shape, strict=True)
    )
    return grid[np.ix_(down, across)]


def softened(grid: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """The same, interpolated between the middles of the patches."""
    return np.asarray(Image.fromarray(grid.astype(np.float32)).resize(size, Image.Resampling.BILINEAR))


def read_by_convolution(
    photo: Image.Image, grid: tuple[int, int], patch: tuple[int, int], kernel: int, depth: int
) -> Image.Image:
    """What a convolution reads, in full colour; faintly lit what a stack of `depth` of them reaches; the rest in soft
    grey."""
    clear = np.asarray(photo)
    lit = np.zeros(grid)
    for row, column in neighbourhood(*patch, grid, depth * (kernel - 1) + 1):
        lit[row, column] = FIELD
    for row, column in neighbourhood(*patch, grid, kernel):
        lit[row, column] = 1
    lit = spread(lit, photo.size)[..., None]
    soft = light.heat(clear, np.zeros(clear.shape[:2]))
    return Image.fromarray((soft * (1 - lit) + clear * lit + 0.5).astype(np.uint8))


# Without a photograph -------------------------------------------------------------------------------------------------


def bare(grid: np.ndarray, span: Domain) -> Image.Image:
    """In magma, as the head atlas on the screen."""
    return Image.fromarray(matplotlib.colormaps["magma"](np.clip(grid / span.high, 0, 1), bytes=True)[..., :3])


def bar(spec: Spec, span: Domain) -> Image.Image:
    """256 colours from the smallest to the largest value, as they are drawn: the heat over a middle grey, the light on
    a bright colour."""
    places = np.linspace(0, 1, 256)[None]
    if spec.layout == "atlas":
        return bare(places, Domain(0, 1, ""))
    share = places if span.log else light.shares(places, 1)
    if is_lit(spec):
        gold = np.full((1, 256, 3), LIT_GOLD, np.uint8)
        return Image.fromarray(light.light(gold, share, np.zeros((1, 256), bool)))
    return Image.fromarray(light.heat(np.full((1, 256, 3), 127, np.uint8), share))
