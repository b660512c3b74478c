"""How weights become light on a photograph: the numbers that the screen, figures and living files share.

The same lines stand in microscope/core/light.js; tests/figures/test_light.py compares the two.

Heat: the photograph, a little darker and paler, and laid over it warm colours, from red through orange to gold, the
more opaque the larger the weight. At every place the colour is lighter than what lies beneath and has the picture's own
light and dark in it: lightness rises with the weight everywhere, and what is attended to can still be recognised.
Light: the photograph in full colour where it is attended to, dim and drained elsewhere, and smooth lines around the
fewest patches that hold at least 60 % of what all patches get.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

BENEATH = (0.0, 0.79)  # what the photograph's darkest and brightest tones become under the heat
KEPT = 0.7  # of its colour, there
TONES, STEPS = 64, 256  # of the table: tones beneath, and shares of the exposure
TOPS = (0.54, 0.99)  # OKLab's L of the brightest weight, over black and over white
LIFTED = 0.4  # the faintest colour is lighter than the tone beneath by this part of the way to the top
HUES = (20, 55, 95)  # degrees, from the faintest to the strongest: red, orange, gold
AGAINST = (285, 255, 220)  # the same below zero: violet, blue, sky; as light as their counterparts
HATCH = (
    4,
    0.3,
    0.3,
)  # hatching of negative cells, so that grey print shows them: lines per cell, their width, the share of colour left
MIN_PERIOD = 4  # pixels from line to line
CHROMAS = (0.17, 0.20, 0.17)
OPAQUE = 0.94  # of the strongest colour; the rest is the photograph
OPACITY_POWER = 2.3  # faint weights are seen, too
GAMMA = 0.8  # below 1: faint weights are lifted a little
BRIGHTEST = 0.008  # this share of the cells may be brighter than the exposure can show
PEAK = 0.2  # of the largest value: full brightness begins no lower, so that a dominant patch stands out
FLOOR = 2  # times the mean: an even row is not stretched into a pattern
EVEN = 0.95  # a row that listens to this share of all tokens, as 2^entropy counts them, is called even
MASS = 0.6  # of what all patches get: so much at least lies within the lines
DIM, DRAINED = (0.0, 0.56), 0.35  # of the light: where nothing is attended to; how much of the colour stays there
LIT = 0.8  # of the light: what lies within the lines is at least so near to the photograph
EASED = 0.5  # of a line: so near its corners come to the mean of them and their neighbours
LUMA = np.array([0.299, 0.587, 0.114])


def exposure(values: np.ndarray) -> float:
    """The value at which a picture is brightest: that of its brightest cells, or twice the mean where all are alike.
    Of several pictures together, where they are to be compared."""
    values = np.sort(values, axis=None)[::-1].astype(np.float64)
    return _as_written(float(max(values[int(values.size * BRIGHTEST)], PEAK * values[0], FLOOR * values.mean()))) or 1.0


def _as_written(value: float) -> float:
    """Up to two digits: the number that the legend says is the one that is meant, on the screen and in a figure
    whose last digits differ."""
    if not value > 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit - 1e-6) * unit


def is_even(entropy_bits: float, tokens: int) -> bool:
    return 2**entropy_bits >= EVEN * tokens


def shares(values: np.ndarray, ceiling: float) -> np.ndarray:
    """0 … 1: how bright each cell is."""
    return np.clip(values / ceiling, 0, 1) ** GAMMA


# Heat -----------------------------------------------------------------------------------------------------------------


def heat(photo: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(height, width, 3) of 0 … 255 and (height, width) of −1 … 1 -> (height, width, 3): the picture under the heat."""
    step = (np.abs(share) * (STEPS - 1) + 0.5).astype(int)
    opaque, colours = opacities()[step][..., None], table()[tones(photo), step]
    if (share < 0).any():
        colours = np.where((share < 0)[..., None], table(AGAINST)[tones(photo), step], colours)
    return (faded(photo, BENEATH, KEPT) * (1 - opaque) + colours * opaque + 0.5).astype(np.uint8)


def hatched(share: np.ndarray, cell: float) -> np.ndarray:
    """(height, width): what is below zero with slanting lines in which the photograph is seen: colours of one lightness
    are one grey. `cell` is a patch's height in pixels."""
    (lines, wide, kept), (rows, columns) = HATCH, np.indices(share.shape)
    period = max(MIN_PERIOD, cell / lines)
    inside = (rows + columns) % period < wide * period
    return np.where((share < 0) & inside, kept * share, share)


def faded(photo: np.ndarray, ends: tuple[float, float], kept: float) -> np.ndarray:
    """0 … 255: the photograph with this darkest and brightest tone, and so much of its colour."""
    photo = np.asarray(photo, np.float64)
    grey = (photo @ LUMA)[..., None]
    return 255 * ends[0] + (ends[1] - ends[0]) * (grey + kept * (photo - grey))


def tones(photo: np.ndarray) -> np.ndarray:
    """(height, width) of 0 … 63: the photograph's grey, as the table counts them."""
    luma = (np.asarray(photo, np.float64) @ LUMA) / 255
    return (luma * (TONES - 1) + 0.5).astype(int)


@cache
def opacities() -> np.ndarray:
    """(steps,) of 0 … 1: how opaque the colour of each share is."""
    t = np.arange(STEPS) / (STEPS - 1)
    return OPAQUE * (1 - (1 - t) ** OPACITY_POWER)


@cache
def table(hues: tuple[float, ...] = HUES) -> np.ndarray:
    """(tones, steps, 3) of 0 … 255: the colour that is laid over each tone."""
    grey = np.arange(TONES)[:, None] / (TONES - 1)
    base = _lightness(BENEATH[0] + (BENEATH[1] - BENEATH[0]) * grey)
    top = TOPS[0] + (TOPS[1] - TOPS[0]) * _lightness(grey)
    t = np.arange(STEPS) / (STEPS - 1)
    lightness = base + (top - base) * (LIFTED + (1 - LIFTED) * t)
    hue = np.deg2rad(np.interp(t, (0, 0.5, 1), hues))
    wished = np.interp(t, (0, 0.5, 1), CHROMAS)
    low, high = np.zeros_like(lightness), np.broadcast_to(wished, lightness.shape)
    fits = _inside(_from_oklab(lightness, high, hue))
    for _ in range(12):  # the largest chroma that a screen can show there
        middle = (low + high) / 2
        inside = _inside(_from_oklab(lightness, middle, hue))
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    chroma = np.where(fits, wished, low)
    return (_encoded(_from_oklab(lightness, chroma, hue)) * 255 + 0.5).astype(np.uint8)


def _lightness(grey: np.ndarray) -> np.ndarray:
    """OKLab's L of a grey."""
    return np.cbrt(_linear(grey))


def _from_oklab(lightness, chroma, hue) -> np.ndarray:
    """(…, 3) linear red, green and blue (Björn Ottosson, 2020)."""
    a, b = chroma * np.cos(hue), chroma * np.sin(hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return np.stack(
        [
            4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
            -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
            -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
        ],
        axis=-1,
    )


def _inside(linear: np.ndarray) -> np.ndarray:
    return (linear.min(-1) >= -1e-4) & (linear.max(-1) <= 1 + 1e-4)


def _linear(x: np.ndarray) -> np.ndarray:
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def _encoded(x: np.ndarray) -> np.ndarray:
    x = np.clip(x, 0, 1)
    return np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)


# Light ----------------------------------------------------------------------------------------------------------------


def light(photo: np.ndarray, lit: np.ndarray) -> np.ndarray:
    """(height, width, 3) of 0 … 255, and (height, width) of 0 … 1: how much of its own light each pixel has."""
    lit = lit[..., None]
    return (faded(photo, DIM, DRAINED) * (1 - lit) + np.asarray(photo, np.float64) * lit + 0.5).astype(np.uint8)


def lit(share: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """0 … 1 of each patch, of how bright it is and whether it lies in the densest set."""
    return np.maximum(np.sqrt(share), LIT * chosen)


def densest(grid: np.ndarray, mass: float = MASS) -> np.ndarray:
    """(rows, columns) of true and false: the fewest patches that hold this share of what all patches get, the largest
    first. What is negative gets nothing."""
    values = np.maximum(grid.ravel(), 0).astype(np.float64)
    order = np.argsort(-values, kind="stable")
    reached = np.cumsum(values[order])
    chosen = np.zeros(grid.size, bool)
    if reached[-1] > 0:
        chosen[order[: np.searchsorted(reached, mass * reached[-1]) + 1]] = True
    return chosen.reshape(grid.shape)


def contours(chosen: np.ndarray) -> list[np.ndarray]:
    """Smooth closed lines around the chosen cells, each (points, 2) of row and column. The curve that is drawn is
    quadratic: a point is what it bends to, between the middles to its neighbours. Just the chosen cells have their
    middle within it."""
    return [_smoothed(path) for path in outlines(chosen)]


def _smoothed(path: list[tuple[int, int]]) -> np.ndarray:
    """Every corner on the way, nearer to the mean of it and its neighbours: on stairs all the way there, which makes
    them slopes; elsewhere a part of it, which keeps islands of one or two cells visible and thin ends round."""
    ends = np.array(path, float)
    points = np.concatenate([
        start + np.arange(length)[:, None] * (end - start) / length
        for start, end in zip(ends, np.roll(ends, -1, 0), strict=True)
        for length in [int(np.abs(end - start).max())]
    ])  # fmt: skip
    before, after = points - np.roll(points, 1, 0), np.roll(points, -1, 0) - points
    turns = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    stairs = np.minimum(turns * np.roll(turns, 1), turns * np.roll(turns, -1)) < 0  # left, then right
    return points + (np.where(stairs, 1, EASED) / 4)[:, None] * (after - before)


def share_within(lines: list[np.ndarray], grid: np.ndarray) -> float:
    """The share of what all patches get that those have whose middle lies within the lines."""
    values = np.maximum(grid, 0).astype(np.float64)
    return float(values[within(lines, grid.shape)].sum() / (values.sum() or 1))


def within(lines: list[np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """(rows, columns) of true and false: the cells whose middle lies within the curves. Along a row of middles, each
    crossing of a curve leads into it or out of it."""
    rows, columns = shape
    crossings = np.zeros((rows, columns + 1), int)
    for points in lines:
        y0, x0 = _curve(points).T
        y1, x1 = np.roll(y0, -1), np.roll(x0, -1)
        row = np.ceil(np.minimum(y0, y1) - 0.5).astype(int)  # no piece is so long that it crosses two of them
        crosses = row + 0.5 < np.maximum(y0, y1)
        y0, x0, y1, x1, row = (each[crosses] for each in (y0, x0, y1, x1, row))
        x = x0 + (row + 0.5 - y0) / (y1 - y0) * (x1 - x0)
        np.add.at(crossings, (row, np.ceil(x - 0.5).astype(int)), 1)
    return np.cumsum(crossings[:, :-1], axis=1) % 2 == 1


def _curve(points: np.ndarray) -> np.ndarray:
    """The curve as straight pieces: each bend's beginning and its middle."""
    before, after = (points + np.roll(points, 1, 0)) / 2, (points + np.roll(points, -1, 0)) / 2
    return np.stack([before, (before + 2 * points + after) / 4], axis=1).reshape(-1, 2)


def outlines(chosen: np.ndarray) -> list[list[tuple[int, int]]]:
    """The edges around the chosen cells as closed paths of corners (row, column), the chosen cells on the right. Cells
    that touch at a corner only have paths of their own."""
    rows, columns = chosen.shape
    at = np.pad(chosen, 1)
    edges: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for r in range(rows):
        for c in range(columns):
            if not chosen[r, c]:
                continue
            for missing, start, end in (
                (not at[r, c + 1], (r, c), (r, c + 1)),  # above
                (not at[r + 1, c + 2], (r, c + 1), (r + 1, c + 1)),  # right of it
                (not at[r + 2, c + 1], (r + 1, c + 1), (r + 1, c)),  # below
                (not at[r + 1, c], (r + 1, c), (r, c)),  # left of it
            ):
                if missing:
                    edges.setdefault(start, []).append(end)
    paths = []
    while edges:
        start = next(iter(edges))
        path, here, before = [start], start, None
        while True:
            ends = edges[here]
            turn = 0
            if len(ends) > 1 and before is not None:  # two paths cross here: turn right, back to the same cell
                heading = (here[0] - before[0], here[1] - before[1])
                right = (here[0] + heading[1], here[1] - heading[0])
                turn = ends.index(right)
            following = ends.pop(turn)
            if not ends:
                del edges[here]
            if following == start:
                break
            path.append(following)
            before, here = here, following
        paths.append(_corners(path))
    return paths


def _corners(path: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without the points in the middle of straight edges."""
    kept = []
    for i, point in enumerate(path):
        before, after = path[i - 1], path[(i + 1) % len(path)]
        if (point[0] - before[0], point[1] - before[1]) != (after[0] - point[0], after[1] - point[1]):
            kept.append(point)
    return kept
