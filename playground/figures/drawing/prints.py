"""Draws the values of a map over a photograph, as heat or as light (see light.py), in the pixels of the drawn
photograph. Also holds the colours of paper and ink. matplotlib is not needed here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from playground.figures.drawing import light, naming
from playground.figures.drawing.maps import Domain, Map, neighbourhood, shares
from playground.figures.drawing.spec import Spec

if TYPE_CHECKING:
    from playground.tracing import Trace


# The colours of paper and ink.


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

PALE_TONES = (48, 0.4)  # the photograph beneath small maps: its darkest tone, the share of its contrast that is left
FIELD_CLARITY = 0.55  # share of the photograph that shows where a stack of convolutions reaches
PART_COLOURS = ("#332288", "#88CCEE", "#DDCC77", "#CC6677", "#999933", "#882255")  # as in microscope/core
PART_TINT = 0.5  # opacity of PART_COLOURS over the photograph
BAR_CELL = 48  # pixels: the bar is hatched like a patch of this height
BAR_GREY = 127  # a middle grey, ground of the heat's colour bar
LIT_GOLD = (236, 190, 96)  # ground of the light's colour bar: bright and colourful, so that fading shows


def is_lit(spec: Spec) -> bool:
    """Whether the map is drawn as light. Values that are no shares of a whole are always drawn as heat."""
    return spec.draw == "light" and spec.shares_a_whole


def photo_with_map(photo: Image.Image, grid: np.ndarray, spec: Spec, domain: Domain) -> Image.Image:
    """The photograph with its patches' numbers as heat or light."""
    pixels = np.asarray(photo)
    if spec.mask:
        is_inside = to_pixels(densest(grid, spec), photo.size)
        return Image.fromarray(np.where(is_inside[..., None], pixels, paper_colour(spec)))
    if is_lit(spec):
        drawn_pixels = light.light(
            pixels, to_smooth_pixels(light.lit(shares(grid, domain), densest(grid, spec)), photo.size)
        )
    else:
        values = to_smooth_pixels(grid, photo.size) if spec.smooth else to_pixels(grid, photo.size)
        share = shares(values, domain)
        if domain.signed:
            share = light.hatched_share(share, photo.height / grid.shape[0])
            drawn_pixels = light.heat(
                {"photo": pixels, "grey": grey(pixels)}.get(spec.over, np.full_like(pixels, BAR_GREY)), share
            )
        else:
            drawn_pixels = photo_with_heat(pixels, share, spec.over)
    return Image.fromarray(drawn_pixels)


def densest(grid: np.ndarray, spec: Spec) -> np.ndarray:
    """The patches inside the outline, a mask: (rows, columns)."""
    return light.densest(grid, spec.mass or light.MASS)


def outline(grid: np.ndarray, spec: Spec) -> list[np.ndarray]:
    """The outline of the patches that `densest` returns."""
    return light.contours(densest(grid, spec))


def has_outline(spec: Spec) -> bool:
    return is_lit(spec) or spec.mass is not None


def paper_colour(spec: Spec) -> np.ndarray:
    return np.array([int(THEMES[spec.theme].paper[i : i + 2], 16) for i in (1, 3, 5)], np.uint8)


def photo_with_heat(photo: np.ndarray, share: np.ndarray, over: str) -> np.ndarray:
    """The heat over the photograph in its colours, over the photograph in grey, or over nothing."""
    if over == "none":
        return bare_heat(share)
    return light.heat(photo if over == "photo" else grey(photo), share)


def photo_with_parts(photo: Image.Image, parts: np.ndarray) -> Image.Image:
    """The photograph with a colour for each part, and white lines between parts."""
    pixels = np.asarray(photo)
    inks = np.array([[int(ink[i : i + 2], 16) for i in (1, 3, 5)] for ink in PART_COLOURS], float)
    pixel_parts = to_pixels(parts, photo.size)  # (height, width) part of each pixel
    tinted_pixels = (1 - PART_TINT) * light.heat(pixels, np.zeros(pixels.shape[:2])) + PART_TINT * inks[pixel_parts]
    line_width = max(1, round(photo.size[0] / 400))
    is_edge = np.zeros(pixel_parts.shape, bool)
    for shift in range(1, line_width + 1):
        is_edge[shift:] |= pixel_parts[shift:] != pixel_parts[:-shift]
        is_edge[:, shift:] |= pixel_parts[:, shift:] != pixel_parts[:, :-shift]
    return Image.fromarray(np.where(is_edge[..., None], 245, tinted_pixels + 0.5).astype(np.uint8))


def grey(photo: np.ndarray) -> np.ndarray:
    return np.repeat((photo @ light.LUMA_WEIGHTS + 0.5).astype(np.uint8)[..., None], 3, axis=-1)


def bare_heat(share: np.ndarray) -> np.ndarray:
    return light.bare_heat()[(share * (light.STEP_COUNT - 1) + 0.5).astype(int)]


# Several patches in one picture ---------------------------------------------------------------------------------------

# A colour, a symbol and a dash pattern for each query in turn; symbols and dashes tell queries apart in grey prints
INKS = ("#F0E442", "#5BD1D7", "#FF8A80", "#B39DFF", "#8FE388", "#FFFFFF")
SYMBOLS = ("circle", "square", "triangle-left", "diamond", "star", "hexagon")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (2, 1)), (0, (8, 2)))


def photo_with_queries(photo: Image.Image, grids: list[np.ndarray], domain: Domain) -> Image.Image:
    """The maps of several queries in one picture: each patch has the mixed colours of the queries that attend to it, as
    strong as the largest of their shares."""
    pixels = np.asarray(photo)
    query_shares = np.stack([to_pixels(shares(grid, domain), photo.size) for grid in grids])  # (queries, height, width)
    inks = np.array([[int(ink[i : i + 2], 16) for i in (1, 3, 5)] for ink in INKS[: len(grids)]], float)
    mixed_colours = np.tensordot(query_shares, inks, (0, 0)) / np.maximum(query_shares.sum(0), 1e-9)[..., None]
    strength = 0.85 * query_shares.max(0)[..., None]
    ground = light.heat(pixels, np.zeros(pixels.shape[:2]))
    return Image.fromarray((ground * (1 - strength) + mixed_colours * strength + 0.5).astype(np.uint8))


def thumbnail(photo: Image.Image, grid: np.ndarray, spec: Spec, domain: Domain) -> Image.Image:
    """Like `photo_with_map`, on a pale photograph with one pixel for each patch."""
    rows, columns = grid.shape
    return photo_with_map(pale(photo.resize((columns, rows), Image.Resampling.BOX)), grid, spec, domain)


def pale(photo: Image.Image) -> Image.Image:
    """The photograph with little contrast: even in grey, bright weights are lighter than all patches that are not
    attended to."""
    return photo.convert("RGB").point(lambda tone: PALE_TONES[0] + PALE_TONES[1] * tone)


def to_pixels(grid: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Gives each pixel its patch's number: (rows, columns) -> (height, width). size: (width, height)"""
    down, across = (
        ((np.arange(n) + 0.5) * cells / n).astype(int) for n, cells in zip(size[::-1], grid.shape, strict=True)
    )
    return grid[np.ix_(down, across)]


def to_smooth_pixels(grid: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Like `to_pixels`, but interpolated between the centres of patches."""
    return np.asarray(Image.fromarray(grid.astype(np.float32)).resize(size, Image.Resampling.BILINEAR))


def read_by_convolution(
    photo: Image.Image, grid: tuple[int, int], patch: tuple[int, int], kernel: int, depth: int
) -> Image.Image:
    """The photograph: in full colour where one convolution reads, dimmed where a stack of `depth` convolutions reaches,
    paler elsewhere."""
    pixels = np.asarray(photo)
    clarity = np.zeros(grid)
    for row, column in neighbourhood(*patch, grid, depth * (kernel - 1) + 1):
        clarity[row, column] = FIELD_CLARITY
    for row, column in neighbourhood(*patch, grid, kernel):
        clarity[row, column] = 1
    clarity = to_pixels(clarity, photo.size)[..., None]
    ground = light.heat(pixels, np.zeros(pixels.shape[:2]))
    return Image.fromarray((ground * (1 - clarity) + pixels * clarity + 0.5).astype(np.uint8))


# Without a photograph -------------------------------------------------------------------------------------------------


def bare_map(grid: np.ndarray, domain: Domain) -> Image.Image:
    """The map in the heat's colours over black, like the head atlas on the screen."""
    return Image.fromarray(bare_heat(light.shares(grid, domain.high)))


def bar(spec: Spec, domain: Domain) -> Image.Image:
    """The colour bar, from the smallest to the largest value: heat over a middle grey, light on a bright colour."""
    if domain.signed:
        share = np.tile(shares(np.linspace(-domain.high, domain.high, 512), domain), (24, 1))
        return Image.fromarray(
            light.heat(np.full((24, 512, 3), BAR_GREY, np.uint8), light.hatched_share(share, BAR_CELL))
        )
    positions = np.linspace(0, 1, 256)[None]
    if domain.bare:
        return bare_map(positions, Domain(0, 1, ""))
    share = positions if domain.log else light.shares(positions, 1)
    if is_lit(spec):
        gold = np.full((1, 256, 3), LIT_GOLD, np.uint8)
        return Image.fromarray(light.light(gold, light.lit(share, np.zeros((1, 256), bool))))
    return Image.fromarray(photo_with_heat(np.full((1, 256, 3), BAR_GREY, np.uint8), share, spec.over))


# Features as colours: either their first three principal components are red, green and blue, or each part, a cluster
# of patches, has one colour.
#
# microscope/core/features.js has the same arithmetic for the screen.

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
    low, high = (
        np.percentile(projections, end, axis=0, method=method)
        for end, method in zip(END_PERCENTILES, ("lower", "higher"), strict=True)
    )
    shares = np.clip((projections - low) / np.maximum(high - low, 1e-12), 0, 1)
    boundaries = np.cumsum([len(vectors) for vectors in pictures])[:-1]
    variance_share = (singular_values[:3] ** 2).sum() / max((singular_values**2).sum(), 1e-12)
    return np.split((shares * 255 + 0.5).astype(np.uint8), boundaries), float(variance_share)


def _grouped_indices(layers: list[tuple[Trace, int]]) -> list[list[int]]:
    """The indices of `layers`, grouped by model and layer."""
    groups: dict[tuple, list[int]] = {}
    for index, (trace, layer) in enumerate(layers):
        groups.setdefault((naming.hash_of_weights(trace.vit), layer), []).append(index)
    return list(groups.values())


def parts(layers: list[tuple[Trace, int]]) -> list[Map]:
    """A map of parts for each trace and layer. Maps of the same layer of the same model are clustered together, so
    that a part has the same number in all of them."""
    from playground.tracing import parts_of

    by_index: dict[int, Map] = {}
    for group in _grouped_indices(layers):
        parts_by_trace = parts_of([layers[index][0] for index in group], len(PART_COLOURS), layers[group[0]][1])
        for index, numbers in zip(group, parts_by_trace, strict=True):
            grid = numbers.numpy()
            by_index[index] = Map(grid.astype(np.float32), (), None, parts=grid)
    return [by_index[index] for index in range(len(layers))]


def colour_maps(layers: list[tuple[Trace, int]]) -> list[Map]:
    """A map of colours for each trace and layer. Maps of the same layer of the same model share their components, so
    that equal colours mean similar features in all of them."""
    by_index: dict[int, Map] = {}
    for group in _grouped_indices(layers):
        colour_arrays, share = component_colours([unit_features(*layers[index]) for index in group])
        for index, colour_bytes in zip(group, colour_arrays, strict=True):
            grid = layers[index][0].grid
            by_index[index] = Map(np.zeros(grid, np.float32), (), None, colour_bytes.reshape(*grid, 3), share)
    return [by_index[index] for index in range(len(layers))]


COMPUTED_TOGETHER = {
    "components": colour_maps,
    "parts": parts,
}  # ways to look whose maps are computed for all panels at once
