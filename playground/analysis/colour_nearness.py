"""Weights patches by colour and place alone, without a network: a baseline for heads of attention.

    weight ∝ exp(−Δcolour² / 2a² − Δplace² / 2b²), without the patch itself

Patches of one thing mostly have one colour and lie together, so this filter puts most of its weight on the right thing.
Only where a head does better has the head learned something.
"""

from __future__ import annotations

from itertools import product

import numpy as np

# Colours are red, green and blue from 0 to 1; places are shares of the picture's longer side.
COLOUR_WIDTHS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.18, 0.27, 0.4, np.inf)  # a; infinite: colours do not count
PLACE_WIDTHS = (0.03, 0.04, 0.05, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6, np.inf)  # b; infinite: places do not count
# Candidates for (a, b); one is chosen on pictures that are not used for measurements
SETTINGS = tuple(product(COLOUR_WIDTHS, PLACE_WIDTHS))


def mean_colours(image: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """(H, W, 3) uint8 -> (rows, columns, 3) from 0 to 1. The grid's sides divide the image's."""
    (rows, columns), (height, width) = grid, image.shape[:2]
    cells = image.reshape(rows, height // rows, columns, width // columns, 3)
    return cells.mean((1, 3)) / 255


def differences(colours: np.ndarray, queries: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The squared differences of colour and of place from the patches `queries`, by default all, to all patches: two
    arrays (queries, patches). colours: (rows, columns, 3)"""
    rows, columns = colours.shape[:2]
    places = np.moveaxis(np.indices((rows, columns)), 0, -1).reshape(-1, 2) / max(rows, columns)
    query_index = slice(None) if queries is None else queries
    point_sets = (points.astype(np.float32) for points in (colours.reshape(-1, 3), places))
    by_colour, by_place = (((points[query_index, None] - points) ** 2).sum(-1) for points in point_sets)
    return by_colour, by_place


def weights(by_colour: np.ndarray, by_place: np.ndarray, a: float, b: float) -> np.ndarray:
    """The filter's weights from these squared differences: (queries, patches). Each row sums to 1."""
    scores = -by_colour / (2 * a**2) - by_place / (2 * b**2)
    scores[by_place == 0] = -np.inf  # the patch itself
    exponentials = np.exp(scores - scores.max(1, keepdims=True))
    return exponentials / exponentials.sum(1, keepdims=True)


# The widths a and b that the microscope uses. Of all SETTINGS, this pair has the largest sum of two scores, each
# divided by its maximum: the score on drawn things (40 held-out scenes, without the eight neighbours), and the score on
# the pairs of benchmarks/eyes.py.
WIDTHS = (0.03, 0.08)


def row_of(colours: np.ndarray, patch: int) -> np.ndarray:
    """The filter's row of weights for one query: (patches,). colours: (rows, columns, 3)"""
    return weights(*differences(colours, np.array([patch])), *WIDTHS)[0]
