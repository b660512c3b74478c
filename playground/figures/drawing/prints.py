"""Draws the values of a map over a photograph (see light.py). Also holds the colours of paper and ink."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from playground.errors import PlaygroundError
from playground.figures.drawing import light, naming
from playground.figures.drawing.maps import Domain, Map, OneMap, neighbourhood, shares
from playground.figures.drawing.spec import HEAT, Spec

if TYPE_CHECKING:
    from playground.tracing import Trace


@dataclass(frozen=True)
class Theme:
    paper: str
    ink: str
    muted: str
    line: str


QUERY, KEY, CONVOLUTION = "#0072B2", "#D55E00", "#E7298A"
THEMES = {
    "light": Theme("#ffffff", "#14141a", "#5d5f69", "#d5d6db"),
    "dark": Theme("#0e1117", "#fafafa", "#a9adb8", "#3a3d47"),
}

KERNEL = 3  # side of the convolution that the layout "convolution" draws, in patches
FIELD_CLARITY = 0.55  # share of the photograph that shows where a stack of convolutions reaches
BAR_CELL = 48  # pixels: the bar is hatched like a patch of this height
BAR_GREY = 127  # a middle grey, ground of the heat's colour bar


@cache
def colour_table(name: str) -> np.ndarray:
    """The colours of one of matplotlib's colour maps: (steps, 3) bytes."""
    import matplotlib

    if name not in matplotlib.colormaps:
        raise PlaygroundError(f"There is no colour map {name!r}: take {HEAT}, grey, viridis or any of matplotlib's.")
    colour_map = matplotlib.colormaps[name]
    return (colour_map(np.linspace(0, 1, light.STEP_COUNT))[:, :3] * 255 + 0.5).astype(np.uint8)


def is_grey(spec: Spec) -> bool:
    """Whether the figure is in grey: then the photograph is, too."""
    return spec.colours != HEAT and not np.ptp(colour_table(spec.colours), axis=1).any()


def photo_of(spec: Spec, image: Image.Image) -> Image.Image:
    """The picture, in grey in a figure in grey."""
    return image.convert("L").convert("RGB") if is_grey(spec) else image.convert("RGB")


def photo_with_map(photo: Image.Image, grid: np.ndarray, spec: Spec, domain: Domain) -> Image.Image:
    """The photograph with its patches' numbers."""
    share = shares(to_pixels(grid, photo.size), domain)
    if domain.signed:
        share = light.hatched_share(share, photo.height / grid.shape[0])
    return Image.fromarray(_with_heat(np.asarray(photo), share, spec, domain))


def _with_heat(photo: np.ndarray, share: np.ndarray, spec: Spec, domain: Domain) -> np.ndarray:
    """A colour map has no photograph beneath, which would change its colours; nor have small maps, which it would
    hide."""
    if spec.colours != HEAT:
        return colour_table(spec.colours)[(np.abs(share) * (light.STEP_COUNT - 1) + 0.5).astype(int)]
    if domain.bare and not domain.signed:
        return light.bare_heat()[(share * (light.STEP_COUNT - 1) + 0.5).astype(int)]
    return light.heat(np.full_like(photo, BAR_GREY) if domain.bare else photo, share)


def to_pixels(grid: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Gives each pixel its patch's number: (rows, columns) -> (height, width). size: (width, height)"""
    down, across = (
        ((np.arange(n) + 0.5) * cells / n).astype(int) for n, cells in zip(size[::-1], grid.shape, strict=True)
    )
    return grid[np.ix_(down, across)]


def read_by_convolution(photo: Image.Image, grid: tuple[int, int], patch: tuple[int, int], depth: int) -> Image.Image:
    """The photograph: in full colour where one convolution reads, dimmed where a stack of `depth` convolutions reaches,
    paler elsewhere."""
    pixels = np.asarray(photo)
    clarity = np.zeros(grid)
    for row, column in neighbourhood(*patch, grid, depth * (KERNEL - 1) + 1):
        clarity[row, column] = FIELD_CLARITY
    for row, column in neighbourhood(*patch, grid, KERNEL):
        clarity[row, column] = 1
    clarity = to_pixels(clarity, photo.size)[..., None]
    ground = light.heat(pixels, np.zeros(pixels.shape[:2]))
    return Image.fromarray((ground * (1 - clarity) + pixels * clarity + 0.5).astype(np.uint8))


def bar(spec: Spec, domain: Domain) -> Image.Image:
    """The colour bar, from the smallest to the largest value, over a middle grey."""
    if domain.signed:
        share = np.tile(shares(np.linspace(-domain.high, domain.high, 512), domain), (24, 1))
        share = light.hatched_share(share, BAR_CELL)
    else:
        positions = np.linspace(0, 1, 256)[None]
        share = positions if domain.log else light.shares(positions, 1)
    return Image.fromarray(_with_heat(np.full((*share.shape, 3), BAR_GREY, np.uint8), share, spec, domain))


# Features as colours: their first three principal components are red, green and blue, as in core/features.js.

END_PERCENTILES = (2, 98)  # percentiles of a component that are drawn as the bytes 0 and 255


def unit_features(trace: Trace, layer: int) -> np.ndarray:
    """The patches' features, normalised to length 1, so that a few long ones don't dominate: (patches, width)."""
    x = trace.features(layer)[len(trace.prefix) :].numpy().astype(np.float64)
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)


def component_colours(pictures: list[np.ndarray]) -> tuple[list[np.ndarray], float]:
    """(for each picture its colours, (patches, 3) bytes; the share of the variance that the three directions hold). The
    pictures share their directions, so equal colours mean similar features."""
    features = np.concatenate(pictures)
    centred_features = features - features.mean(0)
    _, singular_values, directions = np.linalg.svd(centred_features, full_matrices=False)
    signs = [np.sign(d[np.abs(d).argmax()]) for d in directions[:3]]  # the sign of a direction is arbitrary
    projections = centred_features @ (directions[:3].T * signs)  # (patches, 3)
    low = np.percentile(projections, END_PERCENTILES[0], axis=0, method="lower")
    high = np.percentile(projections, END_PERCENTILES[1], axis=0, method="higher")
    shares = np.clip((projections - low) / np.maximum(high - low, 1e-12), 0, 1)
    boundaries = np.cumsum([len(vectors) for vectors in pictures])[:-1]
    variance_share = (singular_values[:3] ** 2).sum() / max((singular_values**2).sum(), 1e-12)
    return np.split((shares * 255 + 0.5).astype(np.uint8), boundaries), float(variance_share)


def maps_together(ones: list[OneMap]) -> list[Map]:
    """The colours of all panels. Panels of one layer of one model share their components, so that equal colours mean
    similar features."""
    groups: dict[tuple[str, int], list[OneMap]] = {}
    for one in ones:
        groups.setdefault((naming.hash_of_weights(one.seen._network), one.layer), []).append(one)
    by_request = {id(map_.one): map_ for group in groups.values() for map_ in colour_maps(group)}
    return [by_request[id(one)] for one in ones]


def colour_maps(group: list[OneMap]) -> list[Map]:
    colour_arrays, share = component_colours([unit_features(one.seen, one.layer) for one in group])
    return [
        Map(one, np.zeros(one.seen.grid, np.float32), colours=colours.reshape(*one.seen.grid, 3), variance_share=share)
        for one, colours in zip(group, colour_arrays, strict=True)
    ]
