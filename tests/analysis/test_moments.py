"""The best moment of a picture: the browser's and Python's are the same, and it is where it was planted."""

import numpy as np
import pytest
from twins import PACK, a_pass, in_javascript, softmax

from playground.analysis import moments

CASES = [(0, (9, 13), ("cls",)), (1, (14, 8), ("cls", "reg0", "reg1")), (2, (7, 7), ()), (3, (20, 21), ("reg0",))]


def searched(made: dict):
    q, k, prefix = made["q"], made["k"], tuple(made["shape"]["prefix"])
    grid = made["shape"]["rows"], made["shape"]["columns"]

    def rows(layer, head, tokens):
        return softmax(q[layer, head][tokens].astype(float) @ k[layer, head].astype(float).T * made["scale"])

    keys = k[2].transpose(1, 0, 2).reshape(len(k[2][0]), -1)
    return moments.moments(rows, [2, 3], q.shape[1], moments.directions(keys, len(prefix)), prefix, grid), grid


def surprises(found: list[moments.Moment], grid: tuple[int, int], most: int = 8) -> list[tuple[int, int, int]]:
    """(layer, head, patch) of the most telling rows, two of a head at most and all of different places."""
    rows = sorted(
        ((tell, m.layer, m.head, patch) for m in found for tell, patch in zip(m.tells, m.patches, strict=True)),
        key=lambda row: -row[0],
    )
    taken: list[tuple[int, int, int]] = []
    for tell, layer, head, patch in rows:
        others = np.array([other for _, _, other in taken], int)
        near = moments.apart(np.array([patch]), others, grid[1]) <= moments.APART * max(grid)
        crowded = sum((layer, head) == before[:2] for before in taken) >= 2
        if tell > 0 and not near.any() and not crowded and len(taken) < most:
            taken.append((layer, head, patch))
    return taken


@pytest.mark.parametrize(("seed", "grid", "prefix"), CASES)
def test_the_browser_finds_the_same_moments(seed, grid, prefix):
    made = a_pass(seed, grid, prefix)
    ours, _ = searched(made)
    theirs, rows, slices, best = in_javascript(
        ["kinds", "moments"],
        PACK + "const search = moments.searchMoments(pack, kinds.keysOf(pack, 2));"
        "let slices = 0, step; do { step = search.next(); slices++; } while (!step.done);"
        "const scene = step.value, first = scene.moments[0];"
        "return [scene.moments, moments.surprisesOf(scene), slices, moments.bestHeadFor(scene, first.patches[0])];",
        made,
    )
    assert [(m["layer"], m["head"], m["patches"]) for m in theirs] == [(m.layer, m.head, list(m.patches)) for m in ours]
    np.testing.assert_allclose([m["tells"] for m in theirs], [m.tells for m in ours], atol=1e-4)
    np.testing.assert_allclose([m["score"] for m in theirs], [m.score for m in ours], atol=1e-4)
    assert [(s["layer"], s["head"], s["patch"]) for s in rows] == surprises(ours, grid)
    assert slices > len(ours), "it gives way after each head"
    assert best["tells"] >= theirs[0]["tells"][0] - 1e-6, "no head is passed over"


def test_two_far_parts_that_look_at_each_other_are_found():
    """A head in which two equal parts of a plain picture ask for each other; in the others all ask alike."""
    grid, wide, dim = (12, 16), 16, 8
    random = np.random.default_rng(5)
    tokens = 1 + 12 * 16
    eyes = [1 + r * wide + c for r in (5, 6) for c in (3, 4, 11, 12)]
    made = a_pass(0, grid, ("cls",), heads=3, dim=dim)
    made["q"], made["k"] = (random.normal(0, 0.05, (4, 3, tokens, dim)).astype(np.float32) for _ in "qk")
    made["k"][:, :, eyes, 0] += 6
    made["k"][:, :, 1, 1] += 9  # a patch that everybody looks at, in each head but one
    made["q"][:, :, :, 1] += 9
    made["q"][3, 1, :, 1] = 0
    made["q"][3, 1, eyes, 0] += 6
    found, _ = searched(made)
    best = found[0]
    assert (best.layer, best.head) == (3, 1)
    assert 1 + best.patches[0] in eyes
    assert best.score > 3 * found[1].score


def test_surprises_are_of_different_places_and_two_of_a_head_at_most():
    made = a_pass(3, (20, 21), ("reg0",))
    found, grid = searched(made)
    taken = surprises(found, grid)
    assert 3 <= len(taken) <= 8
    places = np.array([patch for *_, patch in taken])
    between = moments.apart(places, places, grid[1]) + 99 * np.eye(len(taken))
    assert between.min() > 0.1 * max(grid)
    heads = [tuple(row[:2]) for row in taken]
    assert max(heads.count(head) for head in heads) <= 2


def test_a_traced_sample_has_a_moment():
    from playground import load, trace

    seen = trace(load("bundled", device="cpu"), "flock")
    found = moments.best_moments(seen)
    assert len(found) == seen.heads * (seen.layers - seen.layers // 2)
    assert found == sorted(found, key=lambda m: -m.score)
    assert all(0 <= patch < seen.grid[0] * seen.grid[1] for m in found for patch in m.patches)
