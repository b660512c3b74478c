"""What kind of row this is: one word for what a patch listens to, by a rule.

A row is compared with three things: with what the head's other patches listen to (the crowd), with what is near, and
with what resembles the patch in the features of a late layer. The app's lines are those of
microscope/core/kinds.js; these are a second hand on the same rule. analysis/test_row_kinds.py compares the two, and
holds the rule to rows that were labelled by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from playground.analysis.moments import ALIKE, component, directions, late_keys, reach, spread
from playground.tracing import Trace, softmax_rows

CROWD = 48  # patches, evenly spread, whose rows are the crowd's
KINDS = ("thing", "far", "near", "place", "sink", "noise", "even")
EARLY = 1 / 3  # of the layers
THEIRS = 0.5  # of the largest patch's weight: so much the crowd gives it, too, where it is the crowd's
FLAT, FAINT = 4, 10  # times the mean: the largest patch of a row that is even, and of one that is noise


@dataclass(frozen=True)
class Crowd:
    """What some patches of a head listen to on average: each token, and each place relative to them."""

    tokens: np.ndarray  # (tokens,)
    offsets: np.ndarray  # (2 rows − 1, 2 columns − 1): the patch itself in the middle


@dataclass(frozen=True)
class Facts:
    """Shares of a row, from 0 to 1."""

    breadth: float  # 2^entropy / tokens
    shared: float  # what it has in common with the crowd's mean
    peak: float  # on the token that the crowd listens to most
    crowd_peak: float  # what the crowd gives that token
    near: float  # of what the patches get: on the neighbourhood, the patch itself included
    place: float  # of what the patches get: what it has in common with the crowd's mean by relative place
    alike: float  # of what the patches beyond the neighbourhood get: on those that resemble this one
    area: float  # how many of these patches do
    fits: frozenset[str]  # what of this the largest patch bears out: the sentence beside names that patch


def look(seen: Trace, layer: int, head: int, query: tuple[int, int]) -> tuple[str | None, Facts]:
    """The kind of this row, None where no rule knows it; and what that follows from."""
    front, patch = len(seen.prefix), query[0] * seen.grid[1] + query[1]
    toward = directions(late_keys(seen), front)
    q, k = (x[head].cpu().float() for x in seen.record[layer][:2])
    asking = spread(seen.grid, CROWD)
    crowd = crowd_of(softmax_rows(q[front + asking], k, seen.scale).numpy(), asking, front, seen.grid)
    row = seen.row(layer, head, query).numpy()
    facts = facts_of(row, patch, crowd, toward @ toward[patch], front, seen.grid)
    return kind_of(facts, early=layer < EARLY * seen.layers), facts


def crowd_of(rows: np.ndarray, asking: np.ndarray, prefix: int, grid: tuple[int, int]) -> Crowd:
    """Of the rows (asking, tokens) of these patches."""
    high, wide = grid
    given, asked = np.zeros((2, 2 * high - 1, 2 * wide - 1))
    for row, patch in zip(rows, asking, strict=True):
        down, right = high - 1 - patch // wide, wide - 1 - patch % wide
        window = slice(down, down + high), slice(right, right + wide)
        given[window] += row[prefix:].reshape(grid)
        asked[window] += 1
    return Crowd(rows.mean(0), given / np.maximum(asked, 1))


def facts_of(
    row: np.ndarray, patch: int, crowd: Crowd, likeness: np.ndarray, prefix: int, grid: tuple[int, int]
) -> Facts:
    """`row`: (tokens,); `likeness`: (patches,), the cosine of this patch's direction with every patch's."""
    high, wide = grid
    patches, told = row[prefix:], row[row > 0]
    all_of_them = max(float(patches.sum()), 1e-12)
    most = int(crowd.tokens.argmax())
    down, right = np.divmod(np.arange(high * wide), wide)
    apart = np.maximum(abs(down - patch // wide), abs(right - patch % wide))
    near, resembles = apart <= reach(grid), likeness >= ALIKE
    outside = max(float(patches[~near].sum()), 1e-12)
    alike = ~near & resembles
    same = component(resembles & (patches >= all_of_them / len(patches)), patch, grid)
    expected = crowd.offsets[
        high - 1 - patch // wide : 2 * high - 1 - patch // wide, wide - 1 - patch % wide : 2 * wide - 1 - patch % wide
    ].ravel()
    share, usual = patches / all_of_them, expected / max(float(expected.sum()), 1e-12)
    best = int(patches.argmax())
    borne_out = {
        "near": near[best],
        "thing": same[best],
        "far": alike[best] and not same[best],
        "place": usual[best] >= THEIRS * share[best],
        "peak": row.argmax() == most,
        "shared": crowd.tokens[prefix + best] >= THEIRS * patches[best],
        "even": patches[best] <= FLAT / len(row),
        "noise": patches[best] <= FAINT / len(row),
    }
    return Facts(
        breadth=float(2 ** -(told * np.log2(told)).sum() / len(row)),
        shared=float(np.minimum(row, crowd.tokens).sum()),
        peak=float(row[most]),
        crowd_peak=float(crowd.tokens[most]),
        near=float(patches[near].sum()) / all_of_them,
        place=float(np.minimum(share, usual).sum()),
        alike=float(patches[alike].sum()) / outside,
        area=float(alike.sum()) / max(1, int((~near).sum())),
        fits=frozenset(name for name, is_so in borne_out.items() if is_so),
    )


def kind_of(facts: Facts, early: bool) -> str | None:
    """The rule, from what is plainest to what is least so; None where it knows no kind. Whatever it says, the largest
    patch bears out."""
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
    return "noise" if early and "noise" in fits else None
