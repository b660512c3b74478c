"""Matches of pictures equal those of a loop; parts are the nearest, and found where planted."""

import numpy as np
import pytest
import torch

from playground import load, matching, trace
from playground.tracing import Trace

RANDOM = np.random.default_rng(0)
BLOBS = RANDOM.normal(0, 1, (4, 9))


def features(count: int, blobs: np.ndarray = BLOBS) -> np.ndarray:
    return (blobs[RANDOM.integers(0, len(blobs), count)] + RANDOM.normal(0, 0.25, (count, 9))).astype(np.float32)


def cosine(a, b) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / (sum(x * x for x in a) * sum(y * y for y in b)) ** 0.5


def test_matches_equal_those_of_a_loop():
    first_features, second_features = features(40), features(55)
    matches = matching.matches(matching.unit_vectors(first_features), matching.unit_vectors(second_features))
    expected = []
    for i in range(40):
        best_match = max(range(55), key=lambda j: cosine(first_features[i], second_features[j]))
        match_back = max(range(40), key=lambda x: cosine(first_features[x], second_features[best_match]))
        expected.append(best_match if match_back == i else -1)
    assert matches.tolist() == expected
    assert 0 < (matches >= 0).sum() < 40


def sums_with_neighbours(values: np.ndarray) -> np.ndarray:
    """Unit vectors: for each patch, the sum of its and its neighbours' directions, in a grid of ten columns."""
    units, sums = matching.unit_vectors(values), []
    for patch in range(len(values)):
        neighbours = [j for j in range(len(values)) if max(abs(j // 10 - patch // 10), abs(j % 10 - patch % 10)) <= 1]
        sums.append(sum(units[j] for j in neighbours))
    return matching.unit_vectors(np.stack(sums))


@pytest.mark.parametrize("k", [1, 4, 6])
def test_each_patch_is_in_the_nearest_part(k):
    first_features, second_features = features(70), features(30)
    vectors = np.concatenate([sums_with_neighbours(first_features), sums_with_neighbours(second_features)])
    parts = np.concatenate(
        matching.parts_of(
            [(matching.unit_vectors(first_features), (7, 10)), (matching.unit_vectors(second_features), (3, 10))], k
        )
    )
    sizes = np.bincount(parts, minlength=k)
    assert sizes.tolist() == sorted(sizes, reverse=True)
    means = [vectors[parts == number].sum(0) for number in range(k) if (parts == number).any()]
    for vector, number in zip(vectors, parts, strict=True):
        assert max(range(len(means)), key=lambda i: cosine(vector, means[i])) == number


def test_parts_find_the_groups_that_were_planted():
    directions = np.eye(9)[:3] * 4
    numbers = np.repeat([0, 1, 2], [30, 20, 10])
    vectors = matching.unit_vectors(directions[numbers] + RANDOM.normal(0, 0.3, (60, 9)))
    assert (matching.parts(vectors, 3) == numbers).all()


@pytest.fixture(scope="module")
def trace_pair() -> tuple[Trace, Trace]:
    vit = load("bundled", device="cpu")
    return trace(vit, "meadow"), trace(vit, "portrait")


def test_a_match_is_a_patch_of_the_other_picture_or_none(trace_pair):
    first_seen, second_seen = trace_pair
    places = first_seen.match(second_seen).flatten(0, 1)
    has_match = (places >= 0).all(-1)
    assert torch.equal(has_match, (places >= 0).any(-1))
    assert 0 < has_match.sum() < len(places)
    matches_back = second_seen.match(first_seen)
    for patch in has_match.nonzero()[:, 0].tolist():
        row, column = places[patch].tolist()
        assert matches_back[row, column].tolist() == list(divmod(patch, first_seen.grid[1]))


def test_parts_have_their_picture_s_grid_and_two_pictures_share_parts(trace_pair):
    first_seen, second_seen = trace_pair
    parts_alone = first_seen.parts(4)
    assert parts_alone.shape == first_seen.grid
    assert set(parts_alone.flatten().tolist()) == {0, 1, 2, 3}
    shared_parts = first_seen.parts(4, second_seen)
    assert [part.shape for part in shared_parts] == [first_seen.grid, second_seen.grid]
    assert torch.equal(first_seen.parts(4, first_seen)[0], first_seen.parts(4, first_seen)[1])
