"""The browser finds a planted moment: two parts of a picture that look at each other."""

import numpy as np
import pytest
from twins import MAKE_PACK, in_javascript, invented_pass

GRID, LEFT, RIGHT, BESIDE = (12, 16), 3, 11, 6  # the columns at which parts of 2 × 2 patches begin


def searched(second_column: int) -> tuple[list[dict], list[dict], list[int], float]:
    """The moments that the browser finds, its heads for the best one's patch, the planted patches, and the score from
    which a moment is striking. In one head two equal parts of a plain picture attend to each other; others are even."""
    random, dim = np.random.default_rng(5), 8
    patches = [row * GRID[1] + column + c for row in (5, 6) for column in (LEFT, second_column) for c in (0, 1)]
    eyes, tokens = [1 + patch for patch in patches], 1 + GRID[0] * GRID[1]
    random_pass = invented_pass(0, GRID, ("cls",), heads=3, dim=dim)
    random_pass["q"], random_pass["k"] = (random.normal(0, 0.05, (4, 3, tokens, dim)).astype(np.float32) for _ in "qk")
    random_pass["k"][:, :, eyes, 0] += 6
    random_pass["k"][:, :, 1, 1] += 9  # all queries attend to this patch, in each head but one
    random_pass["q"][:, :, :, 1] += 9
    random_pass["q"][3, 1, :, 1] = 0
    random_pass["q"][3, 1, eyes, 0] += 6
    found, heads, striking = in_javascript(
        ["kinds", "moments"],
        MAKE_PACK + "const search = moments.searchMoments(pack, kinds.keysOf(pack, 2));"
        "let step; do step = search.next(); while (!step.done);"
        "const scene = step.value, heads = moments.headsFor(scene, scene.moments[0].patches[0]);"
        "return [scene.moments, heads, moments.STRIKING_SCORE];",
        random_pass,
    )
    return found, heads, patches, striking


def test_two_far_parts_that_look_at_each_other_are_found():
    found, heads, patches, striking = searched(RIGHT)
    best, second = found[:2]
    assert (best["layer"], best["head"]) == (3, 1)
    assert best["patches"][0] in patches
    assert best["tells"][0] > max(3 * second["tells"][0], striking)
    assert [heads[0][key] for key in ("layer", "head")] == [3, 1]
    assert heads[0]["tells"] == pytest.approx(best["tells"][0])
    assert len(heads) == len(found) == 2 * 3, "a head of the upper half was passed over"


def test_two_parts_beside_each_other_are_no_striking_moment():
    found, _, _, striking = searched(BESIDE - 1)
    assert found[0]["tells"][0] < striking, found[0]
