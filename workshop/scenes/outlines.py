"""Building blocks of silhouettes: parts, and functions that return the points of a polygon, (points, 2)."""

from dataclasses import dataclass

import numpy as np

BODY, SECOND, THIRD = 0, 1, 2  # painted with the thing's own materials
DARK, LIGHT, ROSE = -1, -2, -3  # fixed paints for eyes, windows and cheeks


@dataclass(frozen=True)
class Part:
    points: np.ndarray  # (points, 2)
    paint: int = BODY
    alpha: float = 1.0


def curve(*corners: tuple[float, float], steps: int = 12) -> np.ndarray:
    """A closed smooth line (Catmull-Rom) through the points; a point given twice is a sharp corner."""
    points = np.array(corners, float)  # (n, 2)
    previous_points, next_points, second_next_points = (
        np.roll(points, 1, 0),
        np.roll(points, -1, 0),
        np.roll(points, -2, 0),
    )
    t = np.arange(steps)[:, None, None] / steps  # (steps, 1, 1)
    bow = (2 * previous_points - 5 * points + 4 * next_points - second_next_points) * t**2 + (
        3 * points - previous_points - 3 * next_points + second_next_points
    ) * t**3
    pieces = (points + 0.5 * ((next_points - previous_points) * t + bow)).transpose(1, 0, 2)  # (n, steps, 2)
    return pieces[(points != next_points).any(1)].reshape(-1, 2)  # a piece between equal points would be a small loop


def symmetric(*right: tuple[float, float]) -> np.ndarray:
    """A smooth line given by its right side, from top to bottom; the left side is its mirror image."""
    return curve(*right, *[(-x, y) for x, y in reversed(right) if x])


def ellipse(x: float, y: float, rx: float, ry: float | None = None, tilt: float = 0.0, steps: int = 48) -> np.ndarray:
    angles = np.linspace(0, 2 * np.pi, steps, endpoint=False)
    across, down = rx * np.cos(angles), (rx if ry is None else ry) * np.sin(angles)
    return np.stack(
        [x + across * np.cos(tilt) - down * np.sin(tilt), y + across * np.sin(tilt) + down * np.cos(tilt)], 1
    )


def annulus(x: float, y: float, outer: float, inner: float) -> np.ndarray:
    """A ring as one polygon: along the outer circle, then back along the inner circle."""
    return np.concatenate([arc(x, y, outer, outer, 0, 360, 48), arc(x, y, inner, inner, 360, 0, 48)])


def arc(x: float, y: float, rx: float, ry: float, start: float, stop: float, steps: int = 24) -> np.ndarray:
    angles = np.radians(np.linspace(start, stop, steps))
    return np.stack([x + rx * np.cos(angles), y + ry * np.sin(angles)], 1)


def stroke(line: np.ndarray, width: float, taper: float = 1.0) -> np.ndarray:
    """The outline of a line drawn with a brush: `width` at its start, `width × taper` at its end."""
    line = np.asarray(line, float)
    tangents = np.gradient(line, axis=0)
    normals = np.stack([-tangents[:, 1], tangents[:, 0]], 1) / (np.hypot(*tangents.T)[:, None] + 1e-9)
    half_widths = normals * np.linspace(width, width * taper, len(line))[:, None] / 2
    return np.concatenate([line + half_widths, (line - half_widths)[::-1]])


def box(x0: float, y0: float, x1: float, y1: float) -> np.ndarray:
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], float)


def regular_polygon(corners: int, inner: float = 1.0, rng: np.random.Generator | None = None) -> np.ndarray:
    """A regular polygon, or a star when `inner` is below 1; a generator jitters its corners."""
    count = corners if inner == 1.0 else 2 * corners
    angles = np.arange(count) * 2 * np.pi / count - np.pi / 2
    radii = np.where(np.arange(count) % 2, inner, 1.0)
    if rng is not None:
        radii = radii * rng.uniform(0.88, 1.06, count)
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], 1)


def with_mirror_image(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points and their mirror image."""
    return points, mirror(points)


def mirror(points: np.ndarray) -> np.ndarray:
    return points * (-1, 1)


def eye(x: float, y: float, r: float) -> list[Part]:
    glint = ellipse(x + 0.25 * r, y - 0.3 * r, 0.28 * r, steps=10)
    return [Part(ellipse(x, y, 1.3 * r, steps=20), LIGHT), Part(ellipse(x, y, r, steps=20), DARK), Part(glint, LIGHT)]
