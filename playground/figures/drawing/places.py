"""The places of a row: connected groups of lit patches, each with the share of the row that it sums to. The same as
microscope/core/places.js; tests/figures/test_places.py compares the two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playground.figures.drawing.light import exposure
from playground.samples import Part

LIT_SHARE = 0.2  # a patch is lit from this share of the exposure on, so that a place is what is seen
MOST_TOLD = 3  # a sentence tells at most this many places
MOSTLY = 0.5  # the told places hold at least this share together
LARGE_PLACE = 0.5  # share of the picture: what is larger is no place
NEIGHBOUR_SHARE = 0.07  # radius of what is near the asking patch, as a share of the longer side


def places(row: np.ndarray) -> list[dict[str, Any]]:
    """The places of a row (rows, columns), the largest share first."""
    unvisited, found = row >= LIT_SHARE * exposure(row), []
    for start in np.flatnonzero(unvisited):
        if not unvisited.flat[start]:
            continue
        unvisited.flat[start] = False
        patches = [int(start)]
        for patch in patches:
            r, c = divmod(patch, row.shape[1])
            top, left = max(0, r - 1), max(0, c - 1)
            for down, right in np.argwhere(unvisited[top : r + 2, left : c + 2]):
                unvisited[top + down, left + right] = False
                patches.append(int((top + down) * row.shape[1] + left + right))
        shares = row.flat[patches]
        brightest, area = patches[int(np.argmax(shares))], len(patches) / row.size
        found.append({"patches": patches, "share": float(shares.sum()), "area": area, "brightest": brightest})
    return sorted(found, key=lambda place: -place["share"])


def told(row: np.ndarray, mark: int, parts: Sequence[Part] = ()) -> dict[str, Any]:
    """What is told of a row; see core/places.js. mark: the asking patch, or -1."""
    found = places(row)
    near = near_patches(mark, row.shape)
    others = [part for part in parts if not part.holds(mark, row.shape)]
    for place in found:
        own = mark in place["patches"]
        near_share = float(row.flat[[patch for patch in place["patches"] if patch in near]].sum())
        place |= {"own": own, "near": own and 2 * near_share >= place["share"], "part": None}
        for part in () if own else (part for part in others if part.holds(place["brightest"], row.shape)):
            box_share = float(row.flat[[patch for patch in range(row.size) if part.holds(patch, row.shape)]].sum())
            if box_share >= place["share"]:
                place |= {"part": {"kind": part.kind, "box": part.box}, "share": box_share}
                break
    lit = sum(len(place["patches"]) for place in found)
    found.sort(key=lambda place: -place["share"])  # a named place has the sum over its box
    distinct: list[dict[str, Any]] = []
    for place in found:
        if place["part"] is None or place["part"] not in [other["part"] for other in distinct]:
            distinct.append(place)
    shown: list[dict[str, Any]] = []
    for place in distinct[:MOST_TOLD]:
        if place["area"] > LARGE_PLACE:
            break
        shown.append(place)
        if sum(one["share"] for one in shown) >= MOSTLY:
            kind = "several" if len(shown) > 1 else "own" if place["own"] else "one"
            return {"kind": kind, "places": shown}
    return {"kind": "spread", "places": found[:1], "lit": lit}


def near_patches(mark: int, shape: tuple[int, ...]) -> set[int]:
    """The patches near `mark`, as neighbourRadius in core/kinds.js has it."""
    if mark < 0:
        return set()
    (row, column), radius = divmod(mark, shape[1]), max(1, round(NEIGHBOUR_SHARE * max(shape)))
    top, left = max(0, row - radius), max(0, column - radius)
    numbers = np.arange(shape[0] * shape[1]).reshape(shape)
    return set(numbers[top : row + radius + 1, left : column + radius + 1].ravel().tolist())
