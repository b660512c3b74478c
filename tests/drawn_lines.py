"""Computes with matplotlib which cells lie within drawn contour lines."""

import numpy as np
from matplotlib.path import Path

PIECES = 8  # straight pieces for each quadratic curve


def closed_curve(points: np.ndarray) -> np.ndarray:
    """(points, 2) -> (corners, 2): a closed curve of quadratic Béziers. Each point is the control point of one Bézier,
    whose ends lie halfway to the neighbouring points."""
    middles = (points + np.roll(points, -1, 0)) / 2
    return flattened_curve(np.vstack([middles[-1:], np.stack([points, middles], axis=1).reshape(-1, 2)]))


def flattened_curve(curve: np.ndarray) -> np.ndarray:
    """(1 + 2 · curves, 2) -> (corners, 2): a chain of quadratic Béziers as a polygon. `curve` holds the start, then for
    each Bézier its control point and its end, as a canvas and a PDF do."""
    start, control, end = curve[:-1:2], curve[1::2], curve[2::2]
    t = np.linspace(0, 1, PIECES, endpoint=False)[:, None, None]
    return ((1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end).swapaxes(0, 1).reshape(-1, 2)


def cells_inside(polygons: list[np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """(rows, columns) of bool: whether the middle of a cell lies within an odd number of the polygons. A polygon is
    (corners, 2): row and column of each corner."""
    middles = np.argwhere(np.ones(shape, bool)) + 0.5
    inside_by_polygon = [
        Path(np.vstack([polygon, polygon[:1]]), closed=True).contains_points(middles) for polygon in polygons
    ]
    return (np.sum(inside_by_polygon, axis=0) % 2 == 1).reshape(shape) if inside_by_polygon else np.zeros(shape, bool)
