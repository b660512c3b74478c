"""Draws the outlines of things as polygons, without colours.

A silhouette is a list of parts, painted in order. Coordinates: x to the right, y down, the longest side spans -1…1.
Each function below draws one kind of thing with slightly random proportions.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from workshop.scenes.outlines import (
    DARK,
    LIGHT,
    ROSE,
    SECOND,
    THIRD,
    Part,
    annulus,
    arc,
    box,
    curve,
    ellipse,
    eye,
    regular_polygon,
    stroke,
    symmetric,
    with_mirror_image,
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
    bent_points = np.stack([(x + shear * y + bend * y * y) * np.exp(rng.uniform(-0.14, 0.14)), y + bend * x * x], 1)
    lowest, highest = bent_points.min(0), bent_points.max(0)
    return with_points(parts, (bent_points - (lowest + highest) / 2) * (2 / (highest - lowest).max()))


def with_points(parts: list[Part], points: np.ndarray) -> list[Part]:
    """The same parts with other points. `points` holds the points of all parts in one array."""
    ends = np.cumsum([len(part.points) for part in parts]).tolist()
    starts = [0, *ends[:-1]]
    return [Part(points[i:j], part.paint, part.alpha) for part, i, j in zip(parts, starts, ends, strict=True)]


# Plain shapes.


def _inlay(outline: np.ndarray, rng: np.random.Generator, centre: tuple[float, float] = (0, 0)) -> list[Part]:
    """The outline, sometimes with a smaller copy of itself inside, in the second colour."""
    parts = [Part(outline)]
    if rng.random() < 0.2:
        parts.append(Part(np.array(centre) + (outline - centre) * rng.uniform(0.45, 0.6), SECOND))
    return parts


def _disc(rng):
    return _inlay(ellipse(0, 0, 1, rng.uniform(0.85, 1)), rng)


def _triangle(rng):
    return _inlay(regular_polygon(3, rng=rng), rng)


def _square(rng):
    return _inlay(regular_polygon(4, rng=rng), rng)


def _star(rng):
    return _inlay(regular_polygon(int(rng.integers(5, 8)), inner=rng.uniform(0.4, 0.52)), rng)


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
    half_width = rng.uniform(0.26, 0.38)
    corners = [
        (-half_width, -1),
        (half_width, -1),
        (half_width, -half_width),
        (1, -half_width),
        (1, half_width),
        (half_width, half_width),
        (half_width, 1),
        (-half_width, 1),
        (-half_width, half_width),
        (-1, half_width),
        (-1, -half_width),
        (-half_width, -half_width),
    ]
    return [Part(np.array(corners))]


def _arrow(rng):
    shaft, neck = rng.uniform(0.18, 0.3), rng.uniform(-0.05, 0.3)
    wing = rng.uniform(0.62, 0.8)
    return [
        Part(np.array([(-1, -shaft), (neck, -shaft), (neck, -wing), (1, 0), (neck, wing), (neck, shaft), (-1, shaft)]))
    ]


# Things that people make.


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
    half_height, foot_radius = rng.uniform(0.75, 0.95), rng.uniform(0.5, 0.62)
    body = np.concatenate(
        [
            arc(-0.2, -half_height + 0.14, 0.66, 0.14, 180, 360, 12),
            arc(-0.2, half_height - 0.14, foot_radius, 0.15, 0, 180, 16),
        ]
    )
    handle = stroke(arc(0.4, -0.08, 0.5, 0.46 * half_height / 0.85, -95, 95, 20), 0.19)
    inside = ellipse(-0.2, -half_height + 0.14, 0.57, 0.09)
    stripe = np.concatenate([arc(-0.2, 0.05, 0.615, 0.14, 180, 0, 12), arc(-0.2, 0.25, 0.595, 0.14, 0, 180, 12)])
    band = [Part(stripe, SECOND)] if rng.random() < 0.6 else []
    return [
        Part(handle),
        Part(body),
        *band,
        Part(ellipse(-0.2, -half_height + 0.14, 0.66, 0.14)),
        Part(inside, DARK, 0.6),
    ]


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
    floor_corners = [(-0.95, 0.22), (-0.95, 0.22), (0.97, 0.22), (0.97, 0.22)]
    body = curve(
        *floor_corners, (0.95, -0.05), (hood + 0.12, -0.12), (0.2, roof), (-0.4, roof), (-0.72, -0.14), (-0.95, -0.08)
    )
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


# Living things.


def _leaf(rng):
    half_width = rng.uniform(0.38, 0.55)
    blade = curve(
        (-0.75, 0),
        (-0.75, 0),
        (-0.35, -half_width),
        (0.3, -0.8 * half_width),
        (1, 0),
        (1, 0),
        (0.3, 0.8 * half_width),
        (-0.35, half_width),
    )
    veins = [
        stroke([(x, 0), (x + 0.3, side * half_width * 0.75)], 0.035) for x in (-0.4, 0.0, 0.35) for side in (-1, 1)
    ]
    rib = stroke([(-1.05, 0.03), (-0.4, 0), (0.85, 0)], 0.08, 0.3)
    return [Part(blade), *(Part(v, SECOND, 0.6) for v in veins), Part(rib, SECOND)]


def _fish(rng):
    half_height, fork = rng.uniform(0.38, 0.52), rng.uniform(0.38, 0.55)
    tail = [(-1, -fork), (-1, -fork), (-0.8, 0), (-1, fork), (-1, fork)]
    body = curve(
        (0.95, 0),
        (0.55, -0.8 * half_height),
        (0, -half_height),
        (-0.55, -0.13),
        *tail,
        (-0.55, 0.13),
        (0, half_height),
        (0.55, 0.8 * half_height),
    )
    fin = curve(
        (-0.2, -0.85 * half_height),
        (-0.35, -half_height - 0.28),
        (-0.35, -half_height - 0.28),
        (0.35, -0.9 * half_height),
        (0.35, -0.9 * half_height),
    )
    side = curve((0.3, 0.1), (0.3, 0.1), (-0.15, 0.32), (-0.15, 0.32), (-0.02, 0.08))
    gill = stroke(arc(0.35, 0, 0.14, 0.6 * half_height, -70, 70, 9), 0.045)
    return [Part(fin, SECOND), Part(body), Part(side, SECOND), Part(gill, DARK, 0.45), *eye(0.64, -0.1, 0.075)]


def _bird(rng):
    belly, tail = rng.uniform(0.34, 0.46), rng.uniform(-0.15, 0.12)
    back = [(-1, tail - 0.1), (-1, tail - 0.1), (-0.5, -0.14), (0.05, -0.3), (0.42, -0.62)]
    front = [(0.72, -0.42), (0.62, -0.12), (0.42, 0.24), (0, belly), (-0.42, 0.22), (-0.95, tail + 0.12)]
    beak = np.array([(0.64, -0.52), (1.02, -0.36), (0.66, -0.26)])
    if rng.random() < 0.5:
        tip = rng.uniform(-0.75, -0.25)
        wing = curve(
            (0.28, -0.18), (tip + 0.4, -0.75), (tip, -1.05), (tip, -1.05), (-0.42, -0.35), (-0.35, 0), (0, 0.12)
        )
    else:
        wing = curve((0.3, -0.06), (0, -0.24), (-0.45, -0.12), (-0.85, 0.08), (-0.85, 0.08), (-0.3, 0.24), (0.1, 0.2))
    body = curve(*back, *front, front[-1])
    return [Part(beak, THIRD), Part(body), Part(wing, SECOND), *eye(0.5, -0.4, 0.06)]


def _cat(rng):
    ear, cheek = rng.uniform(-1.0, -0.82), rng.uniform(0.8, 0.95)
    head = symmetric((0.2, -0.58), (0.74, ear), (0.74, ear), (cheek, -0.1), (0.72, 0.5), (0.28, 0.8))
    inner_ear = np.array([(0.42, -0.56), (0.69, ear + 0.14), (0.74, -0.38)])
    muzzle = symmetric((0, 0.12), (0.34, 0.3), (0.26, 0.62), (0, 0.72))
    nose = curve((-0.1, 0.18), (0.1, 0.18), (0.0, 0.32), (0, 0.32))
    smile = with_mirror_image(stroke(arc(0.11, 0.38, 0.11, 0.12, 0, 180, 9), 0.045))
    whiskers = [
        side
        for y, d in ((0.34, -0.06), (0.46, 0.06))
        for side in with_mirror_image(stroke([(0.36, y), (0.98, y + d)], 0.028, 0.4))
    ]
    eyes = eye(0.36, -0.1, 0.13) + eye(-0.36, -0.1, 0.13)
    details = [Part(p, DARK) for p in smile] + [Part(p, DARK, 0.7) for p in whiskers]
    return [
        Part(head),
        *(Part(side, SECOND) for side in with_mirror_image(inner_ear)),
        Part(muzzle, SECOND),
        *eyes,
        Part(nose, ROSE),
        *details,
    ]


def _butterfly(rng):
    wing_span, lower_span = rng.uniform(0.85, 1), rng.uniform(0.5, 0.75)
    upper = curve((0.04, -0.05), (0.3, -0.65), (wing_span, -0.85), (wing_span, -0.35), (0.55, 0.05))
    lower = curve((0.04, 0), (0.55, 0.03), (lower_span + 0.1, 0.4), (lower_span - 0.1, 0.82), (0.3, 0.65))
    spots = [ellipse(0.66, -0.48, 0.17, steps=18), ellipse(0.47, 0.4, 0.14, steps=18)]
    antennae = stroke([(0.02, -0.4), (0.1, -0.65), (0.26, -0.86)], 0.04)
    wings = [Part(side) for wing in (lower, upper) for side in with_mirror_image(wing)]
    dots = [Part(side, SECOND) for spot in spots for side in with_mirror_image(spot)]
    return [
        *wings,
        *dots,
        *(Part(side, DARK) for side in with_mirror_image(antennae)),
        Part(ellipse(0, 0, 0.08, 0.5), DARK),
    ]


def _flower(rng):
    count = int(rng.integers(5, 9))
    angles = np.arange(count) * 2 * np.pi / count
    width = 1.9 / count
    petals = [ellipse(0.58 * np.cos(t), 0.58 * np.sin(t), 0.42, width, t, steps=22) for t in angles]
    return [*(Part(p) for p in petals), Part(ellipse(0, 0, 0.3), SECOND)]


def _tree(rng):
    trunk = curve((-0.1, 0), (0.1, 0), (0.12, 0.75), (0.24, 1), (0.24, 1), (-0.24, 1), (-0.24, 1), (-0.12, 0.75))
    if rng.random() < 0.35:
        tiers = [(-1, -0.45, 0.36), (-0.72, 0.02, 0.5), (-0.38, 0.55, 0.64)]
        return [Part(trunk, SECOND), *(Part(np.array([(0, top), (w, low), (-w, low)])) for top, low, w in tiers)]
    angles = np.linspace(0, 2 * np.pi, 9, endpoint=False) + rng.uniform(0, 0.5)
    lobes = [ellipse(0.42 * np.cos(t), -0.36 + 0.3 * np.sin(t), rng.uniform(0.26, 0.36), steps=20) for t in angles]
    return [Part(trunk, SECOND), Part(ellipse(0, -0.36, 0.5, 0.4)), *(Part(lobe) for lobe in lobes)]


def _mushroom(rng):
    cap = symmetric((0, rng.uniform(-1, -0.8)), (0.75, -0.55), (1, 0.05), (0.5, 0.2))
    stem = symmetric((0.22, 0.1), (0.25, 0.7), (0.38, 1))
    spots = [(-0.45, -0.3, 0.15), (0.1, -0.55, 0.17), (0.55, -0.2, 0.13), (0.05, -0.08, 0.1)]
    return [
        Part(stem, SECOND),
        Part(cap),
        *(Part(ellipse(x, y, r, 0.8 * r, steps=18), LIGHT, 0.9) for x, y, r in spots),
    ]


def _pear(rng):
    neck, belly = rng.uniform(0.2, 0.34), rng.uniform(0.56, 0.68)
    fruit = symmetric((0, -0.78), (neck, -0.62), (neck + 0.1, -0.2), (belly, 0.35), (0.42, 0.9), (0, 0.97))
    leaf = curve((0.05, -0.86), (0.05, -0.86), (0.3, -1.08), (0.6, -0.95), (0.6, -0.95), (0.32, -0.82))
    return [Part(fruit), Part(stroke([(0, -0.7), (0.02, -0.9), (0.08, -1.08)], 0.08), DARK, 0.85), Part(leaf, SECOND)]


def _face(rng):
    jaw, hairline = rng.uniform(0.38, 0.45), rng.uniform(-0.6, -0.5)
    hair_end = rng.choice((0.6, 0.3, -0.05))  # the y at which the hair ends
    coat = symmetric((0.3, 0.5), (0.82, 0.7), (0.97, 1.1), (0.97, 1.1))
    mane = symmetric((0, -1), (0.5, -0.82), (0.66, -0.2), (0.64, hair_end), (0.3, hair_end + 0.1))
    neck = symmetric((0.17, 0.25), (0.2, 0.6), (0, 0.76))
    shade = symmetric((0.17, 0.36), (0.12, 0.5))
    head = symmetric((0, -0.85), (0.42, -0.66), (0.5, -0.15), (jaw, 0.2), (0, 0.47))
    parting = [(0.42, hairline + 0.16), (-0.12, hairline), (-0.44, hairline + 0.18)]
    left_side, right_side = (
        [(-0.57, -0.08), (-0.57, -0.08), (-0.56, -0.68), (0, -1)],
        [(0.56, -0.68), (0.57, -0.08), (0.57, -0.08)],
    )
    fringe = curve(*left_side, *right_side, *parting)
    ears, brows = (
        with_mirror_image(ellipse(0.51, -0.1, 0.08, 0.13)),
        with_mirror_image(stroke(arc(0.21, -0.2, 0.13, 0.08, 215, 325, 9), 0.042)),
    )
    mouth = curve((-0.17, 0.21), (-0.17, 0.21), (0, 0.245), (0.17, 0.21), (0.17, 0.21), (0, 0.33))
    nose = stroke(arc(0.0, 0.07, 0.06, 0.05, -30, 140, 12), 0.026)
    skin = [Part(neck), Part(shade, DARK, 0.16), *(Part(p) for p in ears), Part(head)]
    cheeks = [Part(p, ROSE, 0.3) for p in with_mirror_image(ellipse(0.29, 0.13, 0.1, 0.07, steps=18))]
    details = [
        *(Part(p, SECOND) for p in brows),
        *eye(0.2, -0.08, 0.06),
        *eye(-0.2, -0.08, 0.06),
        Part(nose, DARK, 0.3),
    ]
    return [Part(mane, SECOND), Part(coat, THIRD), *skin, *cheeks, *details, Part(mouth, ROSE), Part(fringe, SECOND)]


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
