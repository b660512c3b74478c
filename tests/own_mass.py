"""How much of each attention row falls on the query's own object: an independent check of training/evaluate.py."""

import numpy as np

from workshop.scenes.generate import FEWEST_PATCHES


def own_mass(rows: np.ndarray, objects: np.ndarray) -> np.ndarray:
    """(patches on objects,): for each such patch, the share of its row that falls on its own object."""
    objects = objects.ravel()
    sizes = np.bincount(objects)
    queries = np.flatnonzero((objects > 0) & (sizes[objects] >= FEWEST_PATCHES))
    is_own_object = objects[queries, None] == objects[None]
    return (rows[queries] * is_own_object).sum(1)
