"""Outlines of things, as polygons: what an object looks like before it has a colour.

A silhouette is a list of parts, painted in order. Coordinates: x to the right, y down, the longest side spans -1…1.
Each function below draws one kind of thing with a little randomness, so that no two houses are quite the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from playground.outlines import annulus, arc, box, curve, ellipse, mirror, regular, stroke

BODY, SECOND, THIRD = 0, 1, 2  # painted with the thing's own materials
DARK, LIGHT, ROSE = -1, -2, -3  # fixed paints: eyes, windows, cheeks


@dataclass(frozen=True)
class Part:
    points: np.ndarray  # (points, 2)
    paint: int = BODY
    alpha: float = 1.0


@lru_cache(maxsize=4096)
def silhouette(name: str, seed: int) -> list[Part]:
    """The parts of one thing, centred, with the longest side spanning -1…1. Kept: don't write into them."""
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


# What several things share.


def _eye(x: float, y: float, r: float) -> list[Part]:
    glint = ellipse(x + 0.25 * r, y - 0.3 * r, 0.28 * r, steps=10)
    return [
        Part(ellipse(x, y, 1.3 * r, steps=20), LIGHT),
        Part(ellipse(x, y, r, steps=20), DARK),
        Part(glint, LIGHT),
    ]


def _inlay(outline: np.ndarray, rng: np.random.Generator, centre: tuple[float, float] = (0, 0)) -> list[Part]:
    """Sometimes a smaller copy inside in the second colour: one object of two colours."""
    parts = [Part(outline)]
    if rng.random() < 0.2:
        parts.append(Part(np.array(centre) + (outline - centre) * rng.uniform(0.45, 0.6), SECOND))
    return parts


# Plain shapes.


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


# Living things.


def _leaf(rng):
    w = rng.uniform(0.38, 0.55)
    blade = curve((-0.75, 0), (-0.75, 0), (-0.35, -w), (0.3, -0.8 * w), (1, 0), (1, 0), (0.3, 0.8 * w), (-0.35, w))
    veins = [stroke([(x, 0), (x + 0.3, side * w * 0.75)], 0.035) for x in (-0.4, 0.0, 0.35) for side in (-1, 1)]
    rib = stroke([(-1.05, 0.03), (-0.4, 0), (0.85, 0)], 0.08, 0.3)
    return [Part(blade), *(Part(v, SECOND, 0.6) for v in veins), Part(rib, SECOND)]


def _fish(rng):
    h, fork = rng.uniform(0.38, 0.52), rng.uniform(0.38, 0.55)
    tail = [(-1, -fork), (-1, -fork), (-0.8, 0), (-1, fork), (-1, fork)]
    body = curve((0.95, 0), (0.55, -0.8 * h), (0, -h), (-0.55, -0.13), *tail, (-0.55, 0.13), (0, h), (0.55, 0.8 * h))
    fin = curve((-0.2, -0.85 * h), (-0.35, -h - 0.28), (-0.35, -h - 0.28), (0.35, -0.9 * h), (0.35, -0.9 * h))
    side = curve((0.3, 0.1), (0.3, 0.1), (-0.15, 0.32), (-0.15, 0.32), (-0.02, 0.08))
    gill = stroke(arc(0.35, 0, 0.14, 0.6 * h, -70, 70, 9), 0.045)
    return [Part(fin, SECOND), Part(body), Part(side, SECOND), Part(gill, DARK, 0.45), *_eye(0.64, -0.1, 0.075)]


def _bird(rng):
    fat, tail = rng.uniform(0.34, 0.46), rng.uniform(-0.15, 0.12)
    back = [(-1, tail - 0.1), (-1, tail - 0.1), (-0.5, -0.14), (0.05, -0.3), (0.42, -0.62)]
    front = [(0.72, -0.42), (0.62, -0.12), (0.42, 0.24), (0, fat), (-0.42, 0.22), (-0.95, tail + 0.12)]
    beak = np.array([(0.64, -0.52), (1.02, -0.36), (0.66, -0.26)])
    if rng.random() < 0.5:
        tip = rng.uniform(-0.75, -0.25)
        wing = curve(
            (0.28, -0.18), (tip + 0.4, -0.75), (tip, -1.05), (tip, -1.05), (-0.42, -0.35), (-0.35, 0), (0, 0.12)
        )
    else:
        wing = curve((0.3, -0.06), (0, -0.24), (-0.45, -0.12), (-0.85, 0.08), (-0.85, 0.08), (-0.3, 0.24), (0.1, 0.2))
    body = curve(*back, *front, front[-1])
    return [Part(beak, THIRD), Part(body), Part(wing, SECOND), *_eye(0.5, -0.4, 0.06)]


def _cat(rng):
    ear, cheek = rng.uniform(-1.0, -0.82), rng.uniform(0.8, 0.95)
    right = [(0.2, -0.58), (0.74, ear), (0.74, ear), (cheek, -0.1), (0.72, 0.5), (0.28, 0.8)]
    head = curve(*right, *[(-x, y) for x, y in reversed(right)])
    inner = np.array([(0.42, -0.56), (0.69, ear + 0.14), (0.74, -0.38)])
    muzzle = curve((0, 0.12), (0.34, 0.3), (0.26, 0.62), (0, 0.72), (-0.26, 0.62), (-0.34, 0.3))
    nose = curve((-0.1, 0.18), (0.1, 0.18), (0.0, 0.32), (0, 0.32))
    smile = [stroke(arc(side * 0.11, 0.38, 0.11, 0.12, 0, 180, 9), 0.045) for side in (-1, 1)]
    hairs = [
        stroke([(s * 0.36, y), (s * 0.98, y + d)], 0.028, 0.4)
        for s in (-1, 1)
        for y, d in ((0.34, -0.06), (0.46, 0.06))
    ]
    eyes = _eye(0.36, -0.1, 0.13) + _eye(-0.36, -0.1, 0.13)
    details = [Part(p, DARK) for p in smile] + [Part(p, DARK, 0.7) for p in hairs]
    ears = [Part(inner, SECOND), Part(mirror(inner), SECOND)]
    return [Part(head), *ears, Part(muzzle, SECOND), *eyes, Part(nose, ROSE), *details]


def _butterfly(rng):
    spread, low = rng.uniform(0.85, 1), rng.uniform(0.5, 0.75)
    upper = curve((0.04, -0.05), (0.3, -0.65), (spread, -0.85), (spread, -0.35), (0.55, 0.05))
    lower = curve((0.04, 0), (0.55, 0.03), (low + 0.1, 0.4), (low - 0.1, 0.82), (0.3, 0.65))
    spots = [ellipse(0.66, -0.48, 0.17, steps=18), ellipse(0.47, 0.4, 0.14, steps=18)]
    antennae = stroke([(0.02, -0.4), (0.1, -0.65), (0.26, -0.86)], 0.04)
    wings = [Part(f(w)) for w in (lower, upper) for f in (np.asarray, mirror)]
    dots = [Part(f(s), SECOND) for s in spots for f in (np.asarray, mirror)]
    return [*wings, *dots, Part(antennae, DARK), Part(mirror(antennae), DARK), Part(ellipse(0, 0, 0.08, 0.5), DARK)]


def _flower(rng):
    count = int(rng.integers(5, 9))
    turns = np.arange(count) * 2 * np.pi / count
    width = 1.9 / count
    petals = [ellipse(0.58 * np.cos(t), 0.58 * np.sin(t), 0.42, width, t, steps=22) for t in turns]
    return [*(Part(p) for p in petals), Part(ellipse(0, 0, 0.3), SECOND)]


def _tree(rng):
    trunk = curve((-0.1, 0), (0.1, 0), (0.12, 0.75), (0.24, 1), (0.24, 1), (-0.24, 1), (-0.24, 1), (-0.12, 0.75))
    if rng.random() < 0.35:
        tiers = [(-1, -0.45, 0.36), (-0.72, 0.02, 0.5), (-0.38, 0.55, 0.64)]
        return [Part(trunk, SECOND), *(Part(np.array([(0, top), (w, low), (-w, low)])) for top, low, w in tiers)]
    turn = np.linspace(0, 2 * np.pi, 9, endpoint=False) + rng.uniform(0, 0.5)
    lobes = [ellipse(0.42 * np.cos(t), -0.36 + 0.3 * np.sin(t), rng.uniform(0.26, 0.36), steps=20) for t in turn]
    return [Part(trunk, SECOND), Part(ellipse(0, -0.36, 0.5, 0.4)), *(Part(lobe) for lobe in lobes)]


def _mushroom(rng):
    cap = curve(
        (-1, 0.05), (-0.75, -0.55), (0, rng.uniform(-1, -0.8)), (0.75, -0.55), (1, 0.05), (0.5, 0.2), (-0.5, 0.2)
    )
    stem = curve((-0.22, 0.1), (0.22, 0.1), (0.25, 0.7), (0.38, 1), (-0.38, 1), (-0.25, 0.7))
    spots = [(-0.45, -0.3, 0.15), (0.1, -0.55, 0.17), (0.55, -0.2, 0.13), (0.05, -0.08, 0.1)]
    return [
        Part(stem, SECOND),
        Part(cap),
        *(Part(ellipse(x, y, r, 0.8 * r, steps=18), LIGHT, 0.9) for x, y, r in spots),
    ]


def _pear(rng):
    neck, belly = rng.uniform(0.2, 0.34), rng.uniform(0.56, 0.68)
    right = [(neck, -0.62), (neck + 0.1, -0.2), (belly, 0.35), (0.42, 0.9)]
    fruit = curve((0, -0.78), *right, (0, 0.97), *[(-x, y) for x, y in reversed(right)])
    leaf = curve((0.05, -0.86), (0.05, -0.86), (0.3, -1.08), (0.6, -0.95), (0.6, -0.95), (0.32, -0.82))
    return [Part(fruit), Part(stroke([(0, -0.7), (0.02, -0.9), (0.08, -1.08)], 0.08), DARK, 0.85), Part(leaf, SECOND)]


def _face(rng):
    jaw, hairline = rng.uniform(0.38, 0.46), rng.uniform(-0.62, -0.52)
    long_hair = rng.random() < 0.5
    coat = curve(
        (-0.3, 0.5), (0.3, 0.5), (0.82, 0.72), (0.95, 1.1), (0.95, 1.1), (-0.95, 1.1), (-0.95, 1.1), (-0.82, 0.72)
    )
    drop = 0.62 if long_hair else -0.05
    back = curve(
        (0, -1),
        (0.5, -0.8),
        (0.64, -0.2),
        (0.62, drop),
        (0.3, drop + 0.08),
        (-0.3, drop + 0.08),
        (-0.62, drop),
        (-0.64, -0.2),
        (-0.5, -0.8),
    )
    head = curve(
        (0, -0.85), (0.42, -0.66), (0.5, -0.15), (jaw, 0.2), (0, 0.46), (-jaw, 0.2), (-0.5, -0.15), (-0.42, -0.66)
    )
    fringe = curve(
        (-0.56, -0.1),
        (-0.56, -0.1),
        (-0.54, -0.7),
        (0, -1),
        (0.54, -0.7),
        (0.56, -0.1),
        (0.56, -0.1),
        (0.4, hairline + 0.1),
        (-0.1, hairline),
        (-0.42, hairline + 0.16),
    )
    neck = curve((-0.17, 0.25), (0.17, 0.25), (0.22, 0.62), (0, 0.74), (-0.22, 0.62))
    ear = ellipse(0.51, -0.12, 0.08, 0.13, steps=18)
    brow = stroke(arc(0.21, -0.22, 0.13, 0.08, 210, 330, 9), 0.045)
    nose = stroke([(0.02, -0.08), (0.07, 0.06), (-0.02, 0.1)], 0.03)
    mouth = curve((-0.18, 0.22), (-0.18, 0.22), (0, 0.24), (0.18, 0.22), (0.18, 0.22), (0, 0.34))
    blush = ellipse(0.29, 0.13, 0.1, 0.07, steps=18)
    skin = [Part(neck), Part(ear), Part(mirror(ear)), Part(head)]
    shade = Part(curve((-0.17, 0.38), (0.17, 0.38), (0.12, 0.5), (-0.12, 0.5)), DARK, 0.18)
    features = [Part(f(brow), SECOND) for f in (np.asarray, mirror)] + [
        Part(f(blush), ROSE, 0.35) for f in (np.asarray, mirror)
    ]
    eyes = _eye(0.2, -0.09, 0.062) + _eye(-0.2, -0.09, 0.062)
    return [
        Part(back, SECOND),
        Part(coat, THIRD),
        skin[0],
        shade,
        *skin[1:],
        *features,
        *eyes,
        Part(nose, DARK, 0.35),
        Part(mouth, ROSE),
        Part(fringe, SECOND),
    ]


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
    right = [
        (neck, -0.92),
        (neck, shoulder - 0.25),
        (belly, shoulder + 0.12),
        (belly, 0.9),
        (0.8 * belly, 1),
        (0.8 * belly, 1),
    ]
    glass = curve(*right, *[(-x, y) for x, y in reversed(right)])
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
    "leaf": _leaf,
    "fish": _fish,
    "bird": _bird,
    "cat": _cat,
    "butterfly": _butterfly,
    "flower": _flower,
    "tree": _tree,
    "mushroom": _mushroom,
    "pear": _pear,
    "face": _face,
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
