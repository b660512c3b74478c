"""Compares two pictures by their features: matching patches, and parts that both have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

PARTS = 6  # default number of parts of a picture
ROUNDS = 50  # of k-means, at most


def unit_vectors(features: np.ndarray) -> np.ndarray:
    """(patches, width): each vector scaled to length 1."""
    vectors = features.astype(np.float32)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def matches(vectors: np.ndarray, other_vectors: np.ndarray) -> np.ndarray:
    """For each patch of the first picture, its nearest neighbour in the second if each of the two is the other's
    nearest; else −1. Both arrays hold unit vectors, (patches, width)."""
    cosines = vectors @ other_vectors.T
    nearest, nearest_back = cosines.argmax(1), cosines.argmax(0)
    return np.where(nearest_back[nearest] == np.arange(len(vectors)), nearest, -1)


def places(patch_numbers: np.ndarray, columns: int) -> np.ndarray:
    """Patch numbers (patches,) -> (patches, 2): row and column of each; (−1, −1) for −1."""
    return np.where(
        (patch_numbers >= 0)[:, None], np.stack([patch_numbers // columns, patch_numbers % columns], axis=-1), -1
    )


def with_neighbours(vectors: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """Each patch's vector summed with those of its up to eight neighbours, at length 1: (patches, width)."""
    rows, columns = grid
    padded = np.pad(vectors.reshape(rows, columns, -1), ((1, 1), (1, 1), (0, 0)))  # a frame of zeros, which add nothing
    shifted = [padded[row : row + rows, column : column + columns] for row in range(3) for column in range(3)]
    return unit_vectors(np.sum(shifted, axis=0).reshape(len(vectors), -1))


def parts(vectors: np.ndarray, k: int) -> np.ndarray:
    """The number of each point's part, 0 for the largest: unit vectors (points, width) -> (points,). k-means on the
    sphere, in which nothing is random: the first centre is the point nearest to the mean, each next one the least like
    those so far."""
    k = min(k, len(vectors))
    centres = vectors[[int((vectors @ vectors.mean(0)).argmax())]]
    while len(centres) < k:
        centres = np.vstack([centres, vectors[[int((vectors @ centres.T).max(1).argmin())]]])
    part_numbers = (vectors @ centres.T).argmax(1)
    for _ in range(ROUNDS):
        for part in range(k):
            if (part_numbers == part).any():
                centres[part] = unit_vectors(vectors[part_numbers == part].sum(0, keepdims=True))[0]
        former_numbers, part_numbers = part_numbers, (vectors @ centres.T).argmax(1)
        if (part_numbers == former_numbers).all():
            break
    order = np.argsort(-np.bincount(part_numbers, minlength=k), kind="stable")  # the largest first
    return np.argsort(order)[part_numbers]


def parts_of(pictures: Sequence[tuple[np.ndarray, tuple[int, int]]], k: int) -> list[np.ndarray]:
    """The parts of several pictures, each given as (unit vectors, grid), cut together. Patches are averaged with their
    neighbours: else textures would fall into small parts."""
    smoothed_vectors = [with_neighbours(vectors, grid) for vectors, grid in pictures]
    boundaries = np.cumsum([len(vectors) for vectors in smoothed_vectors])[:-1]
    return np.split(parts(np.concatenate(smoothed_vectors), k), boundaries)
