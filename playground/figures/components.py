"""Features as colours: their first three principal components as red, green and blue, or the parts that they cut
pictures into.

The screen has the same arithmetic in microscope/core/features.js and microscope/core/matching.js."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from playground.analysis import fingerprints
from playground.figures.maps import Map
from playground.figures.prints import PART_COLOURS

if TYPE_CHECKING:
    from playground.tracing import Trace

ENDS = (2, 98)  # percentiles: where a colour is dark and where it is bright


def patches(seen: Trace, layer: int) -> np.ndarray:
    """(patches, width): each at length 1, so that a few long ones don't decide everything."""
    x = seen.features(layer)[len(seen.prefix) :].numpy().astype(np.float64)
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)


def colours(pictures: list[np.ndarray]) -> tuple[list[np.ndarray], float]:
    """((patches, 3) bytes of each picture, the share of the variance that three directions hold). Several pictures
    together: the same part has the same colour in all of them."""
    every = np.concatenate(pictures)
    centred = every - every.mean(0)
    _, strengths, directions = np.linalg.svd(centred, full_matrices=False)
    signs = [np.sign(d[np.abs(d).argmax()]) for d in directions[:3]]  # a direction has none of its own
    along = centred @ (directions[:3].T * signs)  # (patches, 3)
    low, high = (np.percentile(along, end, axis=0, method=m) for end, m in zip(ENDS, ("lower", "higher"), strict=True))
    shares = np.clip((along - low) / np.maximum(high - low, 1e-12), 0, 1)
    ends = np.cumsum([len(one) for one in pictures])[:-1]
    held = (strengths[:3] ** 2).sum() / max((strengths**2).sum(), 1e-12)
    return np.split((shares * 255 + 0.5).astype(np.uint8), ends), float(held)


def _together(asked: list[tuple[Trace, int]]) -> list[list[int]]:
    """The places of those that are of the same layer of the same model."""
    found: dict[tuple, list[int]] = {}
    for place, (seen, layer) in enumerate(asked):
        found.setdefault((fingerprints.of_weights(seen.vit), layer), []).append(place)
    return list(found.values())


def parts(asked: list[tuple[Trace, int]]) -> list[Map]:
    """One map for each trace and layer that is asked for; those of the same layer of the same model are cut together,
    so that the same part has the same number in all of them."""
    from playground.tracing import parts_of

    found: dict[int, Map] = {}
    for places in _together(asked):
        cut = parts_of([asked[place][0] for place in places], len(PART_COLOURS), asked[places[0]][1])
        for place, its in zip(places, cut, strict=True):
            grid = its.numpy()
            found[place] = Map(grid.astype(np.float32), (), None, parts=grid)
    return [found[place] for place in range(len(asked))]


def maps(asked: list[tuple[Trace, int]]) -> list[Map]:
    """One map for each trace and layer that is asked for. Those of the same layer of the same model share their
    components, so that equal colours mean the same in all of them."""
    found: dict[int, Map] = {}
    for places in _together(asked):
        drawn, held = colours([patches(*asked[place]) for place in places])
        for place, one in zip(places, drawn, strict=True):
            grid = asked[place][0].grid
            found[place] = Map(np.zeros(grid, np.float32), (), None, one.reshape(*grid, 3), held)
    return [found[place] for place in range(len(asked))]


TOGETHER = {"components": maps, "parts": parts}  # what each way to look makes of all panels at once
