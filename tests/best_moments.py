"""Searches for a picture's best moment, the head and the three patches with the most telling rows. The browser has the
same arithmetic in microscope/core/moments.js; tests/analysis/test_moments.py compares the two.

A row is telling if four conditions hold. Its brightest patches lie together, far from the query, and resemble the query
without being in one region with it. The query lies in a small region, such as an eye, a wheel or a window, not on an
outline or a wall. Other patches don't look at the same place. Both places belong to the picture's subject, not to the
background. The search tries patches of the subject that resemble a far patch of the subject, in every head of the upper
half of the layers, since lower heads look at textures. A moment whose score is at least STRIKING_SCORE is called
striking.

The row of the filter by colour and nearness (analysis/colour_nearness.py) is not subtracted, because this filter gives
little to far patches. On 34 photographs the subtraction made as many choices worse as better.

`benchmarks/striking.py` counts how many moments people found striking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from playground.tracing import Trace, softmax_rows

# A patch's partners are the patches that resemble it. Distances are shares of the longer side of the grid of patches.
BESIDE_DISTANCE = 0.03  # a partner at a smaller distance does not count
FAR_DISTANCE = 0.25  # a partner at this distance or more counts in full
SUBJECT_SIZE = 400  # number of patches searched for partners: those that belong most to the picture's subject
QUERY_COUNT = 24  # number of queries whose rows are compared; every query has a far partner
REGION_COSINE = 0.4  # the cosine from which a patch belongs to the query's region
LARGE_REGION_SHARE = 0.3  # a region with this share of the picture counts half
LEAST_LIKENESS = 0.45  # the least cosine of the query and the brightest patch of a telling row
PLAIN_FACTOR = 0.1  # factor for a row whose brightest patch is near the query or does not resemble it
ISLAND_RADIUS = 2  # the radius in patches, around the most telling patch, in which telling weights are summed
CROWD_SIZE = 8  # number of evenly spread patches whose mean row stands for all patches
ALIKE_COSINE = 0.35  # the cosine from which a patch resembles another
NEAR_RADIUS = 0.07  # the radius of a patch's neighbourhood
FRAME_WIDTH = 0.08  # the width of the picture's frame, as a share of each side: patches in the frame count half
LEAST_DISTANCE = 0.1  # the least distance between two of the three patches
MOST_CLASS_WEIGHT = 4  # larger weights of the class token are reduced to this multiple of the mean weight
STRIKING_SCORE = 0.044  # the least score of a moment that is called striking

Rows = Callable[[int, int, np.ndarray], np.ndarray]  # (layer, head, query tokens) -> weights (queries, tokens)


@dataclass(frozen=True)
class Moment:
    layer: int
    head: int
    patches: tuple[int, ...]  # the queries, the most telling first
    tells: tuple[float, ...]  # the scores of the rows of these queries


@dataclass(frozen=True)
class Scene:
    """Facts about a picture that don't depend on a head."""

    grid: tuple[int, int]
    first_patch: int  # number of prefix tokens
    directions: np.ndarray  # (patches, width): see `directions`
    subject: np.ndarray  # (patches,): cubes of ranks, from 0 for the background to 1 for the picture's subject

    def farness(self, patches: np.ndarray, partners: np.ndarray) -> np.ndarray:
        """(patches, partners): a factor for the distance of each partner from each patch, 0 for near to 1 for far."""
        distances = patch_distances(patches, partners, self.grid[1]) / max(self.grid)
        return np.clip((distances - BESIDE_DISTANCE) / (FAR_DISTANCE - BESIDE_DISTANCE), 0, 1)


def best_moments(trace: Trace) -> list[Moment]:
    """The moment of each head of the upper half, the best first."""

    def rows(layer: int, head: int, tokens: np.ndarray) -> np.ndarray:
        q, k = (x[head].cpu().float() for x in trace.record[layer][:2])
        return softmax_rows(q[tokens], k, trace.scale).numpy()

    layers = [layer for layer in sorted(trace.record) if layer >= trace.layers // 2]
    patch_directions = directions(late_keys(trace), len(trace.prefix))
    return moments(rows, layers, trace.heads, patch_directions, trace.prefix, trace.grid)


def moments(
    rows: Rows,
    layers: list[int],
    heads: int,
    patch_directions: np.ndarray,
    prefix: tuple[str, ...],
    grid: tuple[int, int],
) -> list[Moment]:
    has_class = prefix[:1] == ("cls",)
    first_patch = len(prefix)
    class_rows = [
        rows(layer, head, np.array([0]))[0, first_patch:] for layer in layers for head in range(heads) if has_class
    ]
    scene = Scene(grid, first_patch, patch_directions, subject(patch_directions, grid, class_rows) ** 3)
    queries, crowd_tokens = twins(scene), first_patch + lattice_patches(grid, CROWD_SIZE)
    cosines = patch_directions[queries] @ patch_directions.T
    factors = telling_factors(scene, queries, cosines)
    head_moments = []
    for layer in layers:
        for head in range(heads):
            mean_row = rows(layer, head, crowd_tokens)[:, first_patch:].mean(0)
            weights = rows(layer, head, first_patch + queries)[:, first_patch:]
            excess = np.maximum(0, weights - 3 * mean_row) * factors
            scores = np.array(
                [telling_score(*row, grid) for row in zip(excess, weights, cosines, queries, strict=True)]
            )
            head_moments.append(_moment(layer, head, queries, excess, scores, grid))
    return sorted(head_moments, key=lambda moment: -moment.tells[0])


def late_keys(trace: Trace) -> np.ndarray:
    """The keys of all heads in a late layer as features: (tokens, width). The browser has these keys too, so it can
    compute the same without a request."""
    return trace.record[trace.upper_layer].k.cpu().float().transpose(0, 1).flatten(1).numpy()


def lattice_patches(grid: tuple[int, int], most_patches: int) -> np.ndarray:
    """The numbers of the patches on a regular lattice of about `most_patches` patches."""
    rows, columns = grid
    step = max(1, int((rows * columns / most_patches) ** 0.5))
    down, across = (np.arange(step // 2, side, step) for side in grid)
    return (down[:, None] * columns + across).ravel()


def neighbourhood_radius(grid: tuple[int, int]) -> int:
    return max(1, round(NEAR_RADIUS * max(grid)))


def component(is_chosen: np.ndarray, patch: int, grid: tuple[int, int]) -> np.ndarray:
    """(patches,) bool: `patch` itself, and the chosen patches that are connected with it over common sides."""
    row_count, column_count = grid
    is_reached = np.zeros(row_count * column_count, bool)
    is_reached[patch] = True
    open_patches = [patch]
    while open_patches:
        current_patch = open_patches.pop()
        row, column = divmod(current_patch, column_count)
        for neighbour, is_inside in (
            (current_patch - column_count, row > 0),
            (current_patch + column_count, row < row_count - 1),
            (current_patch - 1, column > 0),
            (current_patch + 1, column < column_count - 1),
        ):
            if is_inside and is_chosen[neighbour] and not is_reached[neighbour]:
                is_reached[neighbour] = True
                open_patches.append(neighbour)
    return is_reached


def directions(features: np.ndarray, first_patch: int) -> np.ndarray:
    """Each patch's features minus the mean patch's, at length 1: (tokens, width) -> (patches, width)."""
    unit_features = _at_length_one(features[first_patch:].astype(np.float32))
    return _at_length_one(unit_features - unit_features.mean(0))


def _at_length_one(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def subject(patch_directions: np.ndarray, grid: tuple[int, int], class_rows: list[np.ndarray]) -> np.ndarray:
    """How much each patch belongs to the picture's subject, as ranks. A patch ranks high if the class token gives the
    patch much weight (`class_rows`: a row for each head), and if the patch does not resemble the picture's edge."""
    row_count, column_count = grid
    down, right = np.divmod(np.arange(row_count * column_count), column_count)
    down, right = np.minimum(down, row_count - 1 - down), np.minimum(right, column_count - 1 - right)
    is_edge = (down == 0) | (right == 0)
    subject_ranks = ranks(smooth(-(patch_directions @ patch_directions[is_edge].mean(0)), grid))
    if class_rows:
        most_weight = MOST_CLASS_WEIGHT / len(patch_directions)
        class_attention = sum(np.minimum(row / max(row.sum(), 1e-12), most_weight) for row in class_rows)
        subject_ranks = ranks(subject_ranks + ranks(smooth(class_attention, grid)))
    return subject_ranks * np.where(np.minimum(down / row_count, right / column_count) < FRAME_WIDTH, 0.5, 1)


def smooth(values: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """The sum over each patch's 3 × 3 neighbourhood."""
    padded_values = np.pad(values.reshape(grid), 1, mode="edge")
    return sum(padded_values[i : i + grid[0], j : j + grid[1]] for i in range(3) for j in range(3)).ravel()


def ranks(values: np.ndarray) -> np.ndarray:
    """Each value's rank, from 0 for the smallest to 1 for the largest; of equal values the first has the lower rank."""
    return values.argsort(kind="stable").argsort(kind="stable") / max(1, len(values) - 1)


def patch_distances(patches: np.ndarray, partners: np.ndarray, column_count: int) -> np.ndarray:
    """(patches, partners): the distance in rows or in columns, whichever is larger."""
    down, right = (
        abs(operation(patches, column_count)[:, None] - operation(partners, column_count))
        for operation in (np.floor_divide, np.mod)
    )
    return np.maximum(down, right)


def twins(scene: Scene) -> np.ndarray:
    """Patches of the subject that resemble a far patch of the subject."""
    candidates = np.argsort(-scene.subject, kind="stable")[:SUBJECT_SIZE]
    cosines = np.maximum(scene.directions[candidates] @ scene.directions[candidates].T, 0)
    priority = (cosines**3 * scene.farness(candidates, candidates) * scene.subject[candidates]).max(1) * scene.subject[
        candidates
    ]
    distances = patch_distances(candidates, candidates, scene.grid[1])
    twin_patches = []
    for _ in range(min(QUERY_COUNT, len(candidates))):
        best_index = int(priority.argmax())
        twin_patches.append(candidates[best_index])
        priority[distances[best_index] <= 1] *= 0.8
        priority[best_index] = -1
    return np.array(twin_patches)


def telling_factors(scene: Scene, queries: np.ndarray, query_cosines: np.ndarray) -> np.ndarray:
    """(queries, patches): for each query and patch, the factor with which the query's weight on the patch counts."""
    region_factors = []
    for patch, cosines in zip(queries, query_cosines, strict=True):
        region = np.flatnonzero(component(cosines >= REGION_COSINE, patch, scene.grid))
        radius = max(1, patch_distances(np.array([patch]), region, scene.grid[1]).max())
        # small for an outline, which fills little of its bounding square
        filled_share = min(1, len(region) / radius**2)
        region_factors.append(filled_share**0.5 / (1 + ((cosines >= REGION_COSINE).mean() / LARGE_REGION_SHARE) ** 2))
    farness = scene.farness(queries, np.arange(len(scene.subject)))
    place_factors = scene.subject * (scene.subject[queries] * region_factors)[:, None]
    return np.maximum(query_cosines, 0) ** 3 * farness * place_factors


def telling_score(
    excess: np.ndarray, weights: np.ndarray, cosines: np.ndarray, patch: int, grid: tuple[int, int]
) -> float:
    """The score of a row. The score grows with the sum of `excess` (the row's telling weights), and with this sum in a
    small window around the peak. The score is small if the row's largest weight is not telling. excess, weights,
    cosines: (patches,)"""
    if not excess.sum() > 0:
        return 0.0
    brightest_patch, peak_patch = int(weights.argmax()), int(excess.argmax())
    island_weight = excess[
        patch_distances(np.array([peak_patch]), np.arange(len(excess)), grid[1])[0] <= ISLAND_RADIUS
    ].sum()
    region = component((cosines >= ALIKE_COSINE) & (weights >= weights.mean()), patch, grid)
    distance = patch_distances(np.array([patch]), np.array([brightest_patch]), grid[1]).item()
    is_telling = (
        cosines[brightest_patch] >= LEAST_LIKENESS
        and distance > neighbourhood_radius(grid)
        and not region[brightest_patch]
        and not region[peak_patch]
    )
    return float(
        (island_weight * excess.sum()) ** 0.5
        * weights[peak_patch]
        / weights[brightest_patch]
        * (1 if is_telling else PLAIN_FACTOR)
    )


def _moment(
    layer: int, head: int, queries: np.ndarray, excess: np.ndarray, scores: np.ndarray, grid: tuple[int, int]
) -> Moment:
    """The three queries with the most telling rows. Neither the queries nor the peaks of their rows are close
    together."""
    peaks = excess.argmax(1)
    remaining_scores: np.ndarray = scores.copy()
    chosen_indices: list[int] = []
    while len(chosen_indices) < 3:
        best_index = int(remaining_scores.argmax())
        chosen_indices.append(best_index)
        for places in (queries, peaks):
            remaining_scores[
                patch_distances(places[[best_index]], places, grid[1])[0] <= LEAST_DISTANCE * max(grid)
            ] *= 0.3
        remaining_scores[chosen_indices] = -1
    return Moment(
        layer, head, tuple(int(queries[i]) for i in chosen_indices), tuple(float(scores[i]) for i in chosen_indices)
    )
