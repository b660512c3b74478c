"""How weights become light on a photograph: the numbers that the screen, figures and living files share.

The same lines stand in microscope/core/light.js; tests/figures/test_light.py compares the two.

Heat: the photograph in soft grey, and above it colours that go from that grey through red and orange to cream. They are
made in OKLab, whose L is lightness as the eye sees it: L rises with the weight at every place, whatever lies beneath.
Light: the photograph in full colour where it is attended to, dim and drained elsewhere, and an outline around the set
of patches that holds 60 % of what the patches get.
"""

from __future__ import annotations

from functools import cache

import numpy as np

BLACK, WHITE = 0.25, 0.75  # what the photograph's darkest and brightest tones become under the heat
TONES, STEPS = 64, 256  # of the table: greys beneath, and shares of the exposure
TOP = 0.97  # OKLab's L of the brightest weight
CHROMA = 0.22
HUES = (-20, 100)  # degrees, from the faintest to the strongest: red, orange, yellow
GAMMA = 0.8  # below 1: faint weights are lifted a little
BRIGHTEST = 0.008  # this share of the cells may be brighter than the exposure can show
PEAK = 0.2  # of the largest value: where one patch has nearly all, the others are not as bright
FLOOR = 2  # times the mean: an even row is not stretched into a pattern
EVEN = 0.95  # a row that listens to this share of all tokens, as 2^entropy counts them, is called even
MASS = 0.6
DIM, DRAINED = (0.06, 0.56), 0.3  # of the light: where nothing is attended to; how much of the colour stays there
LIT = 0.8  # of the light: what belongs to the set of 60 % is at least so near to the photograph
LUMA = np.array([0.299, 0.587, 0.114])


def exposure(values: np.ndarray) -> float:
    """The value at which a picture is brightest: that of its brightest cells, or twice the mean where all are alike.
    Of several pictures together, where they are to be compared."""
    values = np.sort(values, axis=None)[::-1].astype(np.float64)
    return float(max(values[int(values.size * BRIGHTEST)], PEAK * values[0], FLOOR * values.mean())) or 1.0


def is_even(entropy_bits: float, tokens: int) -> bool:
    return 2**entropy_bits >= EVEN * tokens


def shares(values: np.ndarray, ceiling: float) -> np.ndarray:
    """0 … 1: how bright each cell is."""
    return np.clip(values / ceiling, 0, 1) ** GAMMA


# Heat -----------------------------------------------------------------------------------------------------------------


def heat(photo: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(height, width, 3) of 0 … 255 and (height, width) of 0 … 1 -> (height, width, 3): the picture under the heat."""
    return table()[tones(photo), (share * (STEPS - 1) + 0.5).astype(int)]


def tones(photo: np.ndarray) -> np.ndarray:
    """(height, width) of 0 … 63: the photograph's grey, as the table counts them."""
    luma = (np.asarray(photo, np.float64) @ LUMA) / 255
    return (luma * (TONES - 1) + 0.5).astype(int)


@cache
def table() -> np.ndarray:
    """(tones, steps, 3) of 0 … 255."""
    grey = BLACK + (WHITE - BLACK) * np.arange(TONES) / (TONES - 1)
    base = np.cbrt(_linear(grey))[:, None]  # a grey's L in OKLab
    t = np.arange(STEPS) / (STEPS - 1)
    lightness = base + (TOP - base) * t
    hue = np.deg2rad(HUES[0] + (HUES[1] - HUES[0]) * t)
    wished = CHROMA * (1 - (1 - t) ** 2.2) * (1 - 0.55 * t**2)  # soon colourful, and cream at the end
    low, high = np.zeros_like(lightness), np.broadcast_to(wished, lightness.shape)
    fits = _inside(_from_oklab(lightness, high, hue))
    for _ in range(12):  # the largest chroma that a screen can show there
        middle = (low + high) / 2
        inside = _inside(_from_oklab(lightness, middle, hue))
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    chroma = np.where(fits, wished, low)
    return (_encoded(_from_oklab(lightness, chroma, hue)) * 255 + 0.5).astype(np.uint8)


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


def light(photo: np.ndarray, share: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """(height, width, 3) of 0 … 255, (height, width) of 0 … 1, and which pixels lie in the densest set."""
    photo = np.asarray(photo, np.float64) / 255
    grey = (photo @ LUMA)[..., None]
    dim = DIM[0] + DIM[1] * (grey + DRAINED * (photo - grey))
    lit = np.maximum(np.sqrt(share), LIT * chosen)[..., None]
    return ((dim * (1 - lit) + photo * lit) * 255 + 0.5).astype(np.uint8)


def densest(grid: np.ndarray, mass: float = MASS) -> np.ndarray:
    """(rows, columns) of true and false: the fewest patches that hold this share of what all patches get."""
    order = np.argsort(-grid, axis=None, kind="stable")
    reached = np.cumsum(grid.ravel()[order].astype(np.float64))
    chosen = np.zeros(grid.size, bool)
    chosen[order[: np.searchsorted(reached, mass * reached[-1]) + 1]] = True
    return chosen.reshape(grid.shape)


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
