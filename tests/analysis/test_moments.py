"""The browser and Python find the same best moments of a picture; Python finds a planted moment."""

import best_moments as moments
import numpy as np
import pytest
from twins import MAKE_PACK, in_javascript, invented_pass, softmax

CASES = [(0, (9, 13), ("cls",)), (1, (14, 8), ("cls", "reg0", "reg1")), (2, (7, 7), ()), (3, (20, 21), ("reg0",))]


def search(random_pass: dict):
    q, k, prefix = random_pass["q"], random_pass["k"], tuple(random_pass["shape"]["prefix"])
    grid = random_pass["shape"]["rows"], random_pass["shape"]["columns"]

    def rows(layer, head, tokens):
        return softmax(q[layer, head][tokens].astype(float) @ k[layer, head].astype(float).T * random_pass["scale"])

    keys = k[2].transpose(1, 0, 2).reshape(len(k[2][0]), -1)
    return moments.moments(rows, [2, 3], q.shape[1], moments.directions(keys, len(prefix)), prefix, grid), grid


@pytest.mark.parametrize(("seed", "grid", "prefix"), CASES)
def test_the_browser_finds_the_same_moments(seed, grid, prefix):
    random_pass = invented_pass(seed, grid, prefix)
    python_moments, _ = search(random_pass)
    browser_moments, slices, heads = in_javascript(
        ["kinds", "moments"],
        MAKE_PACK + "const search = moments.searchMoments(pack, kinds.keysOf(pack, 2));"
        "let slices = 0, step; do { step = search.next(); slices++; } while (!step.done);"
        "const scene = step.value, first = scene.moments[0];"
        "return [scene.moments, slices, moments.headsFor(scene, first.patches[0])];",
        random_pass,
    )
    assert [(m["layer"], m["head"], m["patches"]) for m in browser_moments] == [
        (m.layer, m.head, list(m.patches)) for m in python_moments
    ]
    np.testing.assert_allclose([m["tells"] for m in browser_moments], [m.tells for m in python_moments], atol=1e-4)
    assert slices > len(python_moments), "it gives way after each head"
    assert len(heads) == len(python_moments), "no head is passed over"
    assert heads[0]["tells"] == pytest.approx(browser_moments[0]["tells"][0])
    assert [heads[0][key] for key in ("layer", "head")] == [browser_moments[0][key] for key in ("layer", "head")]


def test_two_far_parts_that_look_at_each_other_are_found():
    """In one head, two equal parts of a plain picture attend to each other; other heads are uniform."""
    grid, columns, dim = (12, 16), 16, 8
    random = np.random.default_rng(5)
    tokens = 1 + 12 * 16
    eyes = [1 + r * columns + c for r in (5, 6) for c in (3, 4, 11, 12)]
    random_pass = invented_pass(0, grid, ("cls",), heads=3, dim=dim)
    random_pass["q"], random_pass["k"] = (random.normal(0, 0.05, (4, 3, tokens, dim)).astype(np.float32) for _ in "qk")
    random_pass["k"][:, :, eyes, 0] += 6
    random_pass["k"][:, :, 1, 1] += 9  # all queries attend to this patch, in each head but one
    random_pass["q"][:, :, :, 1] += 9
    random_pass["q"][3, 1, :, 1] = 0
    random_pass["q"][3, 1, eyes, 0] += 6
    best_moments, _ = search(random_pass)
    best_moment = best_moments[0]
    assert (best_moment.layer, best_moment.head) == (3, 1)
    assert 1 + best_moment.patches[0] in eyes
    assert best_moment.tells[0] > 3 * best_moments[1].tells[0]
    assert best_moment.tells[0] > moments.STRIKING_SCORE


GRID = (12, 16)


def squares_mask(*squares: tuple[int, int], size: int = 2) -> np.ndarray:
    """A boolean array (patches,), true in squares of `size` × `size` patches with these upper left corners."""
    picture = np.zeros(GRID, bool)
    for row, column in squares:
        picture[row : row + size, column : column + size] = True
    return picture.ravel()


def row_score(row: np.ndarray, cosines: np.ndarray, patch: int) -> float:
    """The score of a row whose weights are multiplied by their patches' similarity to the query."""
    return moments.telling_score(row * cosines, row, cosines, patch, GRID)


def row_on(is_bright: np.ndarray) -> np.ndarray:
    return np.where(is_bright, 1.0, 0.001) / np.where(is_bright, 1.0, 0.001).sum()


def test_a_row_is_telling_if_its_brightest_patches_are_far_alike_and_another_object():
    near_square, far_square = squares_mask((5, 2)), squares_mask((5, 12))
    patch = int(near_square.argmax())
    cosines = np.where(near_square | far_square, 0.9, 0.05)
    far_score = row_score(row_on(far_square), cosines, patch)
    bridge = np.zeros(GRID, bool)
    bridge[5:7, 2:14] = True  # the patches between are bright and similar too: one object
    object_score = row_score(row_on(bridge.ravel()), np.where(bridge.ravel(), 0.9, 0.05), patch)
    unlike_score = row_score(row_on(far_square), np.where(near_square, 0.9, 0.3), patch)
    near_score = row_score(row_on(squares_mask((5, 2), size=3)), cosines, patch)
    assert far_score > 5 * max(object_score, unlike_score, near_score), (
        far_score,
        object_score,
        unlike_score,
        near_score,
    )


def test_weight_on_one_island_scores_more_than_the_same_weight_strewn_about():
    near_square, far_square = squares_mask((5, 2)), squares_mask((5, 12))
    strewn_patches = squares_mask((0, 9), (3, 14), (9, 9), (11, 15), size=1)
    cosines = np.where(near_square | far_square | strewn_patches, 0.9, 0.05)
    patch = int(near_square.argmax())
    assert row_score(row_on(far_square), cosines, patch) > 1.5 * row_score(row_on(strewn_patches), cosines, patch)


def scene_of(kinds: list[np.ndarray]) -> moments.Scene:
    """A scene in which patches of each kind share a direction; the other patches have random directions."""
    random = np.random.default_rng(1)
    toward = random.normal(0, 1, (GRID[0] * GRID[1], 64))
    for kind, members in enumerate(kinds):
        toward[members] = 0.2 * toward[members] + 8 * np.eye(64)[kind]
    toward /= np.linalg.norm(toward, axis=1, keepdims=True)
    return moments.Scene(GRID, 0, toward, np.ones(len(toward)))


def test_queries_have_a_twin_and_small_parts_get_larger_factors_than_an_outline_or_a_wall():
    eyes, line, wall = squares_mask((2, 3), (2, 11)), np.zeros(GRID, bool), np.zeros(GRID, bool)
    line[5, 1:15] = True
    wall[7:12] = True
    lone_part = squares_mask((0, 7))
    scene = scene_of([eyes, line.ravel(), wall.ravel(), lone_part])
    twin_patches = moments.twins(scene)
    assert not lone_part[twin_patches].any(), "who has no twin does not ask"
    queries = np.array([int(part.argmax()) for part in (eyes, line.ravel(), wall.ravel())])
    factors = moments.telling_factors(scene, queries, scene.directions[queries] @ scene.directions.T)
    eye_factor, line_factor, wall_factor = factors.max(1)
    assert eye_factor > 1.5 * max(line_factor, wall_factor), factors.max(1)


def test_farness_rises_from_0_beside_the_patch_to_1_at_a_quarter_of_the_picture():
    scene = scene_of([])
    farness = scene.farness(np.array([16 * 6]), 16 * 6 + np.array([0, 2, 3, 4, 9]))[0]
    assert farness[0] == 0
    assert 0 < farness[1] < farness[2] < farness[3] == farness[4] == 1


def test_a_traced_sample_has_a_moment():
    from playground import load, trace

    model_trace = trace(load("bundled", device="cpu"), "flock")
    found_moments = moments.best_moments(model_trace)
    assert len(found_moments) == model_trace.heads * (model_trace.layers - model_trace.layers // 2)
    assert found_moments == sorted(found_moments, key=lambda m: -m.tells[0])
    assert all(0 <= patch < model_trace.grid[0] * model_trace.grid[1] for m in found_moments for patch in m.patches)
