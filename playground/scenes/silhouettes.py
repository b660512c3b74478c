"""Outlines of things, as polygons: what an object looks like before it has a colour.

A silhouette is a list of parts, painted in order. Coordinates: x to the right, y down, the longest side spans -1…1.
Each function below draws one kind of thing with a little randomness, so that no two houses are quite the same.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from playground.scenes import creatures
from playground.scenes.outlines import (
    DARK,
    LIGHT,
    SECOND,
    THIRD,
    Part,
    annulus,
    arc,
    box,
    curve,
    ellipse,
    regular,
    stroke,
    symmetric,
)


@lru_cache(maxsize=4096)
def silhouette(name: str, seed: int) -> list[Part]:
    """The parts of one thing, centred, with the longest side spanning -1…1. Cached: don't change the
    arrays."""
    rng = np.random.default_rng(seed)
    parts = _DRAWERS[name](rng)
    points = np.concatenate([part.points for part in parts])
    shear, bend = rng.uniform(-0.1, 0.1), rng.uniform(-0.09, 0.09)
    x, y = points[:, 0], points[:, 1]
    bent = np.stack([(x + shear * y + bend * y * y) * np.exp(rng.uniform(-0.14, 0.14)), y + bend * x * x], 1)
    low, high = bent.min(0), bent.max(0)
    return with_points(parts, (bent - (low + high) / 2) * (2 / (high - low).max()))


def with_points(parts: list[Part], points: np.ndarray) -> list[Part]:
    """The same parts with other points, given all in one array."""
    ends = np.cumsum([len(part.points) for part in parts]).tolist()
    starts = [0, *ends[:-1]]
    return [Part(points[i:j], part.paint, part.alpha) for part, i, j in zip(parts, starts, ends, strict=True)]


# Plain shapes.


def _inlay(outline: np.ndarray, rng: np.random.Generator, centre: tuple[float, float] = (0, 0)) -> list[Part]:
    """Sometimes a smaller copy inside in the second colour: one object of two colours."""
    parts = [Part(outline)]
    if rng.random() < 0.2:
        parts.append(Part(np.array(centre) + (outline - centre) * rng.uniform(0.45, 0.6), SECOND))
    return parts


def _disc(rng):
    return _inlay(ellipse(0, 0, 1, rng.uniform(0.85, 1)), rng)


def _triangle(rng):
    return _inlay(regular(3, rng=rng), rng)


def _square(rng):
    return _inlay(regular(4, rng=rng), rng)


def _star(rng):
    return _inlay(regular(int(rng.integers(5, 8)), inner=rng.uniform(0.4, 0.52)), rng)


def _ring(rng):
    return [Part(annulus(0, 0, 1, rng.uniform(0.5, 0.64)))]


def _crescent(rng):
    bite = rng.uniform(0.25, 0.45)
    return [Part(np.concatenate([arc(0, 0, 1, 1, 55, 305, 40), arc(0.25, 0, 1 - bite, 0.82, -90, -270, 30)]))]


def _heart(rng):
    t = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    y = -(13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)) / 16
    return _inlay(np.stack([np.sin(t) ** 3, y], 1), rng, (0, -0.1))


def _cross(rng):
    a = rng.uniform(0.26, 0.38)
    corners = [
        (-a, -1),
        (a, -1),
        (a, -a),
        (1, -a),
        (1, a),
        (a, a),
        (a, 1),
        (-a, 1),
        (-a, a),
        (-1, a),
        (-1, -a),
        (-a, -a),
    ]
    return [Part(np.array(corners))]


def _arrow(rng):
    a, neck = rng.uniform(0.18, 0.3), rng.uniform(-0.05, 0.3)
    wing = rng.uniform(0.62, 0.8)
    return [Part(np.array([(-1, -a), (neck, -a), (neck, -wing), (1, 0), (neck, wing), (neck, a), (-1, a)]))]


# Made things.


def _house(rng):
    eaves, width = rng.uniform(-0.25, 0.05), rng.uniform(0.68, 0.82)
    roof = np.array([(0, -0.95), (width + 0.18, eaves), (-width - 0.18, eaves)])
    windows = [box(x - 0.15, eaves + 0.18, x + 0.15, eaves + 0.5) for x in (-0.42 * width / 0.75, 0.42 * width / 0.75)]
    chimney = box(0.38, -0.9, 0.58, eaves - 0.1)
    door = box(-0.14, 0.42, 0.14, 0.95)
    walls = box(-width, eaves - 0.05, width, 0.95)
    return [
        Part(chimney, SECOND),
        Part(walls),
        Part(roof, SECOND),
        *(Part(w, LIGHT) for w in windows),
        Part(door, DARK, 0.85),
    ]


def _mug(rng):
    h, low = rng.uniform(0.75, 0.95), rng.uniform(0.5, 0.62)
    body = np.concatenate([arc(-0.2, -h + 0.14, 0.66, 0.14, 180, 360, 12), arc(-0.2, h - 0.14, low, 0.15, 0, 180, 16)])
    handle = stroke(arc(0.4, -0.08, 0.5, 0.46 * h / 0.85, -95, 95, 20), 0.19)
    inside = ellipse(-0.2, -h + 0.14, 0.57, 0.09)
    stripe = np.concatenate([arc(-0.2, 0.05, 0.615, 0.14, 180, 0, 12), arc(-0.2, 0.25, 0.595, 0.14, 0, 180, 12)])
    band = [Part(stripe, SECOND)] if rng.random() < 0.6 else []
    return [Part(handle), Part(body), *band, Part(ellipse(-0.2, -h + 0.14, 0.66, 0.14)), Part(inside, DARK, 0.6)]


def _key(rng):
    head = annulus(-0.6, 0, 0.4, rng.uniform(0.17, 0.24))
    shaft = box(-0.24, -0.1, 1, 0.1)
    teeth = [
        box(x, 0.05, x + 0.13, 0.05 + d) for x, d in ((0.5, rng.uniform(0.2, 0.34)), (0.78, rng.uniform(0.25, 0.4)))
    ]
    return [Part(head), Part(shaft), *(Part(t) for t in teeth)]


def _bottle(rng):
    belly, neck, shoulder = rng.uniform(0.3, 0.4), rng.uniform(0.11, 0.15), rng.uniform(-0.35, -0.1)
    foot = (0.8 * belly, 1)
    glass = symmetric((neck, -0.92), (neck, shoulder - 0.25), (belly, shoulder + 0.12), (belly, 0.9), foot, foot)
    label = box(-belly - 0.015, shoulder + 0.38, belly + 0.015, shoulder + 0.85)
    cap = box(-neck - 0.04, -1, neck + 0.04, -0.82)
    shine = stroke([(-0.6 * belly, shoulder + 0.15), (-0.62 * belly, 0.85)], 0.07)
    return [Part(glass), Part(label, SECOND), Part(cap, SECOND), Part(shine, LIGHT, 0.45)]


def _car(rng):
    roof, hood = rng.uniform(-0.62, -0.48), rng.uniform(0.35, 0.5)
    low = [(-0.95, 0.22), (-0.95, 0.22), (0.97, 0.22), (0.97, 0.22)]
    body = curve(*low, (0.95, -0.05), (hood + 0.12, -0.12), (0.2, roof), (-0.4, roof), (-0.72, -0.14), (-0.95, -0.08))
    front = np.array([(0.04, roof + 0.12), (0.2, roof + 0.12), (hood - 0.02, -0.12), (0.04, -0.12)])
    rear = np.array([(-0.06, roof + 0.12), (-0.36, roof + 0.12), (-0.58, -0.12), (-0.06, -0.12)])
    wheels = [
        Part(ellipse(x, 0.24, r, steps=26), paint) for x in (-0.52, 0.55) for r, paint in ((0.23, DARK), (0.1, LIGHT))
    ]
    lamp = Part(ellipse(0.88, 0.02, 0.06, 0.05, steps=14), LIGHT)
    return [
        Part(body),
        Part(front, LIGHT, 0.9),
        Part(rear, LIGHT, 0.9),
        Part(box(-0.93, 0.1, 0.95, 0.16), SECOND),
        lamp,
        *wheels,
    ]


def _boat(rng):
    hull = curve(
        (-0.95, 0.5), (-0.95, 0.5), (1, 0.45), (1, 0.45), (0.65, 0.95), (0.65, 0.95), (-0.6, 0.95), (-0.6, 0.95)
    )
    top = rng.uniform(-1, -0.85)
    main = curve((0.02, top), (0.02, top), (0.5, -0.2), (0.82, 0.34), (0.82, 0.34), (0.02, 0.34), (0.02, 0.34))
    jib = curve(
        (-0.1, top + 0.12), (-0.1, top + 0.12), (-0.1, 0.34), (-0.1, 0.34), (-0.72, 0.34), (-0.72, 0.34), (-0.34, -0.2)
    )
    return [Part(box(-0.065, top - 0.03, -0.015, 0.55), DARK), Part(main), Part(jib, THIRD), Part(hull, SECOND)]


_DRAWERS: dict[str, Callable[[np.random.Generator], list[Part]]] = {
    "disc": _disc,
    "triangle": _triangle,
    "square": _square,
    "star": _star,
    "ring": _ring,
    "crescent": _crescent,
    "heart": _heart,
    "cross": _cross,
    "arrow": _arrow,
    "leaf": creatures.leaf,
    "fish": creatures.fish,
    "bird": creatures.bird,
    "cat": creatures.cat,
    "butterfly": creatures.butterfly,
    "flower": creatures.flower,
    "tree": creatures.tree,
    "mushroom": creatures.mushroom,
    "pear": creatures.pear,
    "face": creatures.face,
    "house": _house,
    "mug": _mug,
    "key": _key,
    "bottle": _bottle,
    "car": _car,
    "boat": _boat,
}
SHAPES = tuple(_DRAWERS)
ANY_WAY_UP = frozenset(
    {"disc", "triangle", "square", "star", "ring", "crescent", "cross", "arrow", "leaf", "flower", "key"}
)
