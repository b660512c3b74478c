"""The kind of an attention row: one word for what a patch attends to, by a rule.

The rule measures three shares of a row: what the row has in common with the mean row of other patches (the crowd), what
falls on near patches, and what falls on patches whose features in a late layer resemble the query's. The app uses
microscope/core/kinds.js; this is an independent implementation. analysis/test_row_kinds.py compares the two, and
compares the rule with rows labelled by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from best_moments import (
    ALIKE_COSINE,
    component,
    directions,
    late_keys,
    lattice_patches,
    neighbourhood_radius,
)

from playground.tracing import Trace, softmax_rows

CROWD_SIZE = 48  # number of evenly spread patches whose rows are averaged
KINDS = ("thing", "far", "near", "place", "sink", "noise", "even")
EARLY_SHARE = 1 / 3  # layers in this first share of the depth count as early
CROWD_SHARE = 0.5  # the crowd explains a row's largest weight if its own mean weight there is this share of it or more
EVEN_PEAK, NOISY_PEAK = 4, 10  # most that a patch may get in an even row and in a noisy one, as multiples of the mean


@dataclass(frozen=True)
class Crowd:
    """The mean row of some query patches of a head, by token and by position relative to the query."""

    tokens: np.ndarray  # (tokens,)
    offsets: np.ndarray  # (2 rows − 1, 2 columns − 1), with the query in the middle


@dataclass(frozen=True)
class Facts:
    """Measures of a row, from 0 to 1, by which `kind_of` decides."""

    breadth: float  # 2^entropy / tokens
    shared: float  # overlap with the crowd's mean row
    peak: float  # weight on the token that gets most from the crowd
    crowd_peak: float  # the crowd's mean weight on that token
    near: float  # share of the patches' weight on the neighbourhood, the patch itself included
    place: float  # overlap of the patches' weights with the crowd's mean by relative position
    alike: float  # share of the weight beyond the neighbourhood on patches that resemble this one
    area: float  # share of the patches beyond the neighbourhood that resemble this one
    fits: frozenset[str]  # names of the measures that agree with the row's largest patch


def kind_and_facts(trace: Trace, layer: int, head: int, query: tuple[int, int]) -> tuple[str | None, Facts]:
    """(the kind of this row, or None if no rule applies; the facts that decide the kind)"""
    prefix_count, patch = len(trace.prefix), query[0] * trace.grid[1] + query[1]
    late_directions = directions(late_keys(trace), prefix_count)
    q, k = (x[head].cpu().float() for x in trace.record[layer][:2])
    query_patches = lattice_patches(trace.grid, CROWD_SIZE)
    crowd = crowd_of(
        softmax_rows(q[prefix_count + query_patches], k, trace.scale).numpy(), query_patches, prefix_count, trace.grid
    )
    row = trace.row(layer, head, query).numpy()
    facts = facts_of(row, patch, crowd, late_directions @ late_directions[patch], prefix_count, trace.grid)
    return kind_of(facts, is_early=layer < EARLY_SHARE * trace.layers), facts


def crowd_of(rows: np.ndarray, query_patches: np.ndarray, prefix_count: int, grid: tuple[int, int]) -> Crowd:
    """The mean of `rows`, (queries, tokens), the rows of these query patches."""
    rows_count, columns_count = grid
    weight_sums, query_counts = np.zeros((2, 2 * rows_count - 1, 2 * columns_count - 1))
    for row, patch in zip(rows, query_patches, strict=True):
        first_row, first_column = rows_count - 1 - patch // columns_count, columns_count - 1 - patch % columns_count
        window = slice(first_row, first_row + rows_count), slice(first_column, first_column + columns_count)
        weight_sums[window] += row[prefix_count:].reshape(grid)
        query_counts[window] += 1
    return Crowd(rows.mean(0), weight_sums / np.maximum(query_counts, 1))


def facts_of(
    row: np.ndarray, patch: int, crowd: Crowd, likeness: np.ndarray, prefix_count: int, grid: tuple[int, int]
) -> Facts:
    """`row` is (tokens,). `likeness` is (patches,): the cosine between this patch's direction and every patch's."""
    rows_count, columns_count = grid
    patches, positive_weights = row[prefix_count:], row[row > 0]
    patches_total = max(float(patches.sum()), 1e-12)
    crowd_favourite = int(crowd.tokens.argmax())
    patch_rows, patch_columns = np.divmod(np.arange(rows_count * columns_count), columns_count)
    distance = np.maximum(abs(patch_rows - patch // columns_count), abs(patch_columns - patch % columns_count))
    is_near, is_alike = distance <= neighbourhood_radius(grid), likeness >= ALIKE_COSINE
    far_total = max(float(patches[~is_near].sum()), 1e-12)
    is_alike_and_far = ~is_near & is_alike
    own_part = component(is_alike & (patches >= patches_total / len(patches)), patch, grid)
    usual_row = crowd.offsets[
        rows_count - 1 - patch // columns_count : 2 * rows_count - 1 - patch // columns_count,
        columns_count - 1 - patch % columns_count : 2 * columns_count - 1 - patch % columns_count,
    ].ravel()
    patch_shares, usual_shares = patches / patches_total, usual_row / max(float(usual_row.sum()), 1e-12)
    largest_patch = int(patches.argmax())
    agreements = {
        "near": is_near[largest_patch],
        "thing": own_part[largest_patch],
        "far": is_alike_and_far[largest_patch] and not own_part[largest_patch],
        "place": usual_shares[largest_patch] >= CROWD_SHARE * patch_shares[largest_patch],
        "peak": row.argmax() == crowd_favourite,
        "shared": crowd.tokens[prefix_count + largest_patch] >= CROWD_SHARE * patches[largest_patch],
        "even": patches[largest_patch] <= EVEN_PEAK / len(row),
        "noise": patches[largest_patch] <= NOISY_PEAK / len(row),
    }
    return Facts(
        breadth=float(2 ** -(positive_weights * np.log2(positive_weights)).sum() / len(row)),
        shared=float(np.minimum(row, crowd.tokens).sum()),
        peak=float(row[crowd_favourite]),
        crowd_peak=float(crowd.tokens[crowd_favourite]),
        near=float(patches[is_near].sum()) / patches_total,
        place=float(np.minimum(patch_shares, usual_shares).sum()),
        alike=float(patches[is_alike_and_far].sum()) / far_total,
        area=float(is_alike_and_far.sum()) / max(1, int((~is_near).sum())),
        fits=frozenset(name for name, agrees in agreements.items() if agrees),
    )


def kind_of(facts: Facts, is_early: bool) -> str | None:
    """The kind by the first rule that applies; None if no rule applies. A rule applies only if the row's largest patch
    fits the kind."""
    fits = facts.fits
    if facts.breadth >= 0.8 and "even" in fits:
        return "even"
    if facts.peak >= 0.3 and facts.crowd_peak >= 0.2 and "peak" in fits:
        return "sink"
    if facts.shared >= 0.6 and facts.breadth < 0.4 and "shared" in fits:
        return "sink"
    if facts.near >= (0.2 if facts.place >= 0.7 else 0.5) and "near" in fits:
        return "near"
    if facts.place >= 0.7 and "place" in fits:
        return "place"
    if facts.alike >= 0.4 and facts.alike >= 1.5 * facts.area and fits & {"thing", "far"}:
        return "thing" if "thing" in fits else "far"
    if facts.near >= 0.25 and "near" in fits:
        return "near"
    return "noise" if is_early and "noise" in fits else None
