"""How weights are drawn over a photograph, on the screen, in figures and in interactive files. microscope/core/light.js
has the same arithmetic; tests/figures/test_light.py compares the two. Heat: a larger weight is more opaque, and goes
from red through orange to gold. The colour is lighter than the darkened photograph beneath it and keeps its light and
dark: lightness rises with the weight everywhere, and objects stay recognisable."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

TONES_BENEATH = (0.0, 0.58)  # the photograph's darkest and brightest tone under the heat
COLOUR_KEPT = 0.9  # share of the photograph's colour that is left under the heat
TONE_COUNT, STEP_COUNT = 64, 256  # numbers of rows and columns of `table`: the photograph's tones, the weights' steps
TOP_LIGHTNESS = (0.54, 0.99)  # OKLab's L of the brightest weight, over black and over white
FAINTEST_LIGHTNESS = 0.4  # lightness of the faintest colour: from 0, the photograph's tone, to 1, the brightest colour
BARE_TONE = int(0.6 * TONE_COUNT)  # the tone of the heat's colours where no photograph lies beneath
HUES = (20, 55, 95)  # degrees, for the faintest, a middle and the strongest weight: red, orange, gold
HUES_AGAINST = (285, 255, 220)  # degrees, for values below zero: violet, blue, sky; as light as HUES
# Hatching of values below zero, for prints in grey: lines per patch, a line's share of the period, its share of colour
HATCH = (4, 0.3, 0.3)
MIN_PERIOD = 4  # pixels from line to line
CHROMAS = (0.17, 0.20, 0.17)
LARGEST_OPACITY = 0.85  # opacity of the strongest colour
OPACITY_POWER = 1.6  # above 1: opacity rises fast at first, so that faint weights are visible too
GAMMA = 0.8  # below 1: faint weights are lifted a little
CLIPPED_SHARE = 0.008  # share of the cells whose values may exceed the exposure
PEAK_FACTOR = 0.2  # the exposure is at least this × the largest value, so that a dominant patch stands out
MEAN_FACTOR = 2  # the exposure is at least this × the mean, so that an even row shows no pattern
EVEN_SHARE = 0.95  # a row whose 2^entropy is at least this share of all tokens is called even
LUMA_WEIGHTS = np.array([0.299, 0.587, 0.114])


def exposure(values: np.ndarray) -> float:
    """The colour scale's top: larger values are drawn no brighter. Few cells exceed it; it is at least twice the mean.
    `values` are those of several pictures together if these are to be compared."""
    values = np.sort(values, axis=None)[::-1].astype(np.float64)
    top = max(values[int(values.size * CLIPPED_SHARE)], PEAK_FACTOR * values[0], MEAN_FACTOR * values.mean())
    return _as_written(float(top)) or 1.0


def _as_written(value: float) -> float:
    """Rounds up to two significant digits. So the legend gives the exposure exactly, and it is the same on the screen
    and in a figure, although JavaScript's and Python's sums differ in the last digits."""
    if not value > 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit - 1e-6) * unit


def is_even(entropy_bits: float, tokens: int) -> bool:
    return 2**entropy_bits >= EVEN_SHARE * tokens


def shares(values: np.ndarray, ceiling: float) -> np.ndarray:
    """The brightness of each cell: 0 … 1."""
    return np.clip(values / ceiling, 0, 1) ** GAMMA


def heat(photo: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The photograph under heat. photo: (height, width, 3), 0 … 255; share: (height, width), −1 … 1"""
    steps = (np.abs(share) * (STEP_COUNT - 1) + 0.5).astype(int)
    opacity, colours = opacities()[steps][..., None], table()[tones(photo), steps]
    if (share < 0).any():
        colours = np.where((share < 0)[..., None], table(HUES_AGAINST)[tones(photo), steps], colours)
    return (faded_photo(photo, TONES_BENEATH, COLOUR_KEPT) * (1 - opacity) + colours * opacity + 0.5).astype(np.uint8)


def bare_heat() -> np.ndarray:
    """The heat where no photograph lies beneath, over black, for maps and tables: (steps, 3) bytes."""
    return (table()[BARE_TONE] * opacities()[:, None] + 0.5).astype(np.uint8)


def hatched_share(share: np.ndarray, cell: float) -> np.ndarray:
    """Fades values below zero in slanting lines, in which the photograph shows through. Without this hatching a grey
    print could not tell the signs apart. share: (height, width); cell: a patch's height in pixels"""
    (lines, line_width, share_kept), (rows, columns) = HATCH, np.indices(share.shape)
    period = max(MIN_PERIOD, cell / lines)
    is_line = (rows + columns) % period < line_width * period
    return np.where((share < 0) & is_line, share_kept * share, share)


def faded_photo(photo: np.ndarray, tone_range: tuple[float, float], share_kept: float) -> np.ndarray:
    """The photograph with `tone_range` as its darkest and brightest tone and `share_kept` of its colour: 0 … 255."""
    photo = np.asarray(photo, np.float64)
    grey = (photo @ LUMA_WEIGHTS)[..., None]
    return 255 * tone_range[0] + (tone_range[1] - tone_range[0]) * (grey + share_kept * (photo - grey))


def tones(photo: np.ndarray) -> np.ndarray:
    """The photograph's grey as an index into the table: (height, width), 0 … TONES − 1."""
    luma = (np.asarray(photo, np.float64) @ LUMA_WEIGHTS) / 255
    return (luma * (TONE_COUNT - 1) + 0.5).astype(int)


@cache
def opacities() -> np.ndarray:
    """How opaque the colour of each step is: (steps,), 0 … 1."""
    t = np.arange(STEP_COUNT) / (STEP_COUNT - 1)
    return LARGEST_OPACITY * (1 - (1 - t) ** OPACITY_POWER)


@cache
def table(hues: tuple[float, ...] = HUES) -> np.ndarray:
    """The colour of each step over each tone of the photograph: (tones, steps, 3), 0 … 255."""
    grey = np.arange(TONE_COUNT)[:, None] / (TONE_COUNT - 1)
    base = _lightness(TONES_BENEATH[0] + (TONES_BENEATH[1] - TONES_BENEATH[0]) * grey)
    top = TOP_LIGHTNESS[0] + (TOP_LIGHTNESS[1] - TOP_LIGHTNESS[0]) * _lightness(grey)
    t = np.arange(STEP_COUNT) / (STEP_COUNT - 1)
    lightness = base + (top - base) * (FAINTEST_LIGHTNESS + (1 - FAINTEST_LIGHTNESS) * t)
    hue = np.deg2rad(np.interp(t, (0, 0.5, 1), hues))
    wanted_chroma = np.interp(t, (0, 0.5, 1), CHROMAS)
    low, high = np.zeros_like(lightness), np.broadcast_to(wanted_chroma, lightness.shape)
    in_gamut = _in_gamut(_from_oklab(lightness, high, hue))
    for _ in range(12):  # bisection for the largest chroma that a screen can show
        middle = (low + high) / 2
        in_gamut_there = _in_gamut(_from_oklab(lightness, middle, hue))
        low, high = np.where(in_gamut_there, middle, low), np.where(in_gamut_there, high, middle)
    chroma = np.where(in_gamut, wanted_chroma, low)
    return (_srgb(_from_oklab(lightness, chroma, hue)) * 255 + 0.5).astype(np.uint8)


def _lightness(grey: np.ndarray) -> np.ndarray:
    """OKLab's L of a grey."""
    return np.cbrt(_linear(grey))


def _from_oklab(lightness: np.ndarray, chroma: np.ndarray, hue: np.ndarray) -> np.ndarray:
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


def _in_gamut(linear: np.ndarray) -> np.ndarray:
    return (linear.min(-1) >= -1e-4) & (linear.max(-1) <= 1 + 1e-4)


def _linear(x: np.ndarray) -> np.ndarray:
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def _srgb(x: np.ndarray) -> np.ndarray:
    x = np.clip(x, 0, 1)
    return np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)
