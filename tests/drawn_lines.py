"""What lies within lines that were drawn, counted from the lines alone by matplotlib."""

import numpy as np
from matplotlib.path import Path

PIECES = 8  # straight ones, of each bend


def pieces(points: np.ndarray) -> np.ndarray:
    """(points, 2) -> (corners, 2): a closed curve that bends to each point, between the middles to its neighbours."""
    middles = (points + np.roll(points, -1, 0)) / 2
    return flattened(np.vstack([middles[-1:], np.stack([points, middles], axis=1).reshape(-1, 2)]))


def flattened(curve: np.ndarray) -> np.ndarray:
    """(1 + 2 bends, 2) -> (corners, 2): quadratic bends, as a canvas and a PDF have them: the start, then of each bend
    what it bends to and where it ends."""
    start, control, end = curve[:-1:2], curve[1::2], curve[2::2]
    t = np.linspace(0, 1, PIECES, endpoint=False)[:, None, None]
    return ((1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end).swapaxes(0, 1).reshape(-1, 2)


def inside(polygons: list[np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """(rows, columns) of true and false: whether the middle of a cell lies within an odd number of polygons, each
    (corners, 2) of row and column."""
    middles = np.argwhere(np.ones(shape, bool)) + 0.5
    around = [Path(np.vstack([one, one[:1]]), closed=True).contains_points(middles) for one in polygons]
    return (np.sum(around, axis=0) % 2 == 1).reshape(shape) if around else np.zeros(shape, bool)
