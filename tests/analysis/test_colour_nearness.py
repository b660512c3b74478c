"""The filter by colour and nearness, which needs no network, against loops written by hand."""

import math

import numpy as np
import pytest
from twins import in_javascript, overlap_with_filter

from playground.analysis.colour_nearness import SETTINGS, WIDTHS, differences, mean_colours, row_of, weights

IMAGE = np.random.default_rng(0).integers(0, 256, (6, 8, 3), np.uint8)  # 3 × 4 patches of 2 × 2 pixels
GRID = (3, 4)


def by_hand(a: float, b: float) -> np.ndarray:
    colours, places = [], []
    for row in range(3):
        for column in range(4):
            pixels = [IMAGE[2 * row + y, 2 * column + x] / 255 for y in range(2) for x in range(2)]
            colours.append(sum(pixels) / 4)
            places.append((row / 4, column / 4))
    expected = np.zeros((12, 12))
    for i in range(12):
        for j in range(12):
            if i != j:
                colour_square = sum((colours[i][c] - colours[j][c]) ** 2 for c in range(3))
                place_square = sum((places[i][c] - places[j][c]) ** 2 for c in range(2))
                expected[i, j] = math.exp(-colour_square / (2 * a * a) - place_square / (2 * b * b))
        expected[i] /= sum(expected[i])
    return expected


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.4), (0.12, math.inf), (math.inf, 0.27), (math.inf, math.inf)])
def test_the_filter_equals_a_loop_written_by_hand(a, b):
    rows = weights(*differences(mean_colours(IMAGE, GRID)), a, b)
    np.testing.assert_allclose(rows, by_hand(a, b), atol=1e-5)


def test_the_browser_s_filter_equals_python_s():
    colours = mean_colours(IMAGE, GRID)
    head = np.random.default_rng(1).dirichlet(np.ones(12))
    rgba = np.dstack([IMAGE, np.full(IMAGE.shape[:2], 255, np.uint8)])
    their_rows, their_colours, overlap = in_javascript(
        ["kinds"],
        "const colours = kinds.meanColours(given.pixels, 8, 6, 3, 4);"
        "const rows = Array.from({ length: 12 }, (_, patch) =>"
        "  [...kinds.nearnessInto(new Float32Array(12), 0, colours, 3, 4, patch)]);"
        "return [rows, [...colours], kinds.overlapWithFilter(given.head, 0, rows[7], 7)];",
        {"pixels": rgba.ravel(), "head": head},
    )
    np.testing.assert_allclose(np.reshape(their_colours, (3, 4, 3)), colours, atol=1e-6)
    our_rows = np.stack([row_of(colours, patch) for patch in range(12)])
    np.testing.assert_allclose(their_rows, our_rows, atol=1e-5)
    np.testing.assert_allclose(our_rows, weights(*differences(colours), *WIDTHS), atol=1e-6)
    other_weights = head * (np.arange(12) != 7)
    by_hand = sum(min(a / other_weights.sum(), b) for a, b in zip(other_weights, our_rows[7], strict=True))
    assert overlap_with_filter(head, our_rows[7], 7) == pytest.approx(by_hand)
    assert overlap == pytest.approx(by_hand, abs=1e-5)
    assert WIDTHS in SETTINGS
