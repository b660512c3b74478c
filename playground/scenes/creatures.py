"""Silhouettes of living things."""

import numpy as np

from playground.scenes.outlines import (
    DARK,
    LIGHT,
    ROSE,
    SECOND,
    THIRD,
    Part,
    arc,
    both,
    curve,
    ellipse,
    eye,
    stroke,
    symmetric,
)


def leaf(rng):
    w = rng.uniform(0.38, 0.55)
    blade = curve((-0.75, 0), (-0.75, 0), (-0.35, -w), (0.3, -0.8 * w), (1, 0), (1, 0), (0.3, 0.8 * w), (-0.35, w))
    veins = [stroke([(x, 0), (x + 0.3, side * w * 0.75)], 0.035) for x in (-0.4, 0.0, 0.35) for side in (-1, 1)]
    rib = stroke([(-1.05, 0.03), (-0.4, 0), (0.85, 0)], 0.08, 0.3)
    return [Part(blade), *(Part(v, SECOND, 0.6) for v in veins), Part(rib, SECOND)]


def fish(rng):
    h, fork = rng.uniform(0.38, 0.52), rng.uniform(0.38, 0.55)
    tail = [(-1, -fork), (-1, -fork), (-0.8, 0), (-1, fork), (-1, fork)]
    body = curve((0.95, 0), (0.55, -0.8 * h), (0, -h), (-0.55, -0.13), *tail, (-0.55, 0.13), (0, h), (0.55, 0.8 * h))
    fin = curve((-0.2, -0.85 * h), (-0.35, -h - 0.28), (-0.35, -h - 0.28), (0.35, -0.9 * h), (0.35, -0.9 * h))
    side = curve((0.3, 0.1), (0.3, 0.1), (-0.15, 0.32), (-0.15, 0.32), (-0.02, 0.08))
    gill = stroke(arc(0.35, 0, 0.14, 0.6 * h, -70, 70, 9), 0.045)
    return [Part(fin, SECOND), Part(body), Part(side, SECOND), Part(gill, DARK, 0.45), *eye(0.64, -0.1, 0.075)]


def bird(rng):
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
    return [Part(beak, THIRD), Part(body), Part(wing, SECOND), *eye(0.5, -0.4, 0.06)]


def cat(rng):
    ear, cheek = rng.uniform(-1.0, -0.82), rng.uniform(0.8, 0.95)
    head = symmetric((0.2, -0.58), (0.74, ear), (0.74, ear), (cheek, -0.1), (0.72, 0.5), (0.28, 0.8))
    inner = np.array([(0.42, -0.56), (0.69, ear + 0.14), (0.74, -0.38)])
    muzzle = symmetric((0, 0.12), (0.34, 0.3), (0.26, 0.62), (0, 0.72))
    nose = curve((-0.1, 0.18), (0.1, 0.18), (0.0, 0.32), (0, 0.32))
    smile = both(stroke(arc(0.11, 0.38, 0.11, 0.12, 0, 180, 9), 0.045))
    hairs = [
        side for y, d in ((0.34, -0.06), (0.46, 0.06)) for side in both(stroke([(0.36, y), (0.98, y + d)], 0.028, 0.4))
    ]
    eyes = eye(0.36, -0.1, 0.13) + eye(-0.36, -0.1, 0.13)
    details = [Part(p, DARK) for p in smile] + [Part(p, DARK, 0.7) for p in hairs]
    return [
        Part(head),
        *(Part(side, SECOND) for side in both(inner)),
        Part(muzzle, SECOND),
        *eyes,
        Part(nose, ROSE),
        *details,
    ]


def butterfly(rng):
    spread, low = rng.uniform(0.85, 1), rng.uniform(0.5, 0.75)
    upper = curve((0.04, -0.05), (0.3, -0.65), (spread, -0.85), (spread, -0.35), (0.55, 0.05))
    lower = curve((0.04, 0), (0.55, 0.03), (low + 0.1, 0.4), (low - 0.1, 0.82), (0.3, 0.65))
    spots = [ellipse(0.66, -0.48, 0.17, steps=18), ellipse(0.47, 0.4, 0.14, steps=18)]
    antennae = stroke([(0.02, -0.4), (0.1, -0.65), (0.26, -0.86)], 0.04)
    wings = [Part(side) for wing in (lower, upper) for side in both(wing)]
    dots = [Part(side, SECOND) for spot in spots for side in both(spot)]
    return [*wings, *dots, *(Part(side, DARK) for side in both(antennae)), Part(ellipse(0, 0, 0.08, 0.5), DARK)]


def flower(rng):
    count = int(rng.integers(5, 9))
    turns = np.arange(count) * 2 * np.pi / count
    width = 1.9 / count
    petals = [ellipse(0.58 * np.cos(t), 0.58 * np.sin(t), 0.42, width, t, steps=22) for t in turns]
    return [*(Part(p) for p in petals), Part(ellipse(0, 0, 0.3), SECOND)]


def tree(rng):
    trunk = curve((-0.1, 0), (0.1, 0), (0.12, 0.75), (0.24, 1), (0.24, 1), (-0.24, 1), (-0.24, 1), (-0.12, 0.75))
    if rng.random() < 0.35:
        tiers = [(-1, -0.45, 0.36), (-0.72, 0.02, 0.5), (-0.38, 0.55, 0.64)]
        return [Part(trunk, SECOND), *(Part(np.array([(0, top), (w, low), (-w, low)])) for top, low, w in tiers)]
    turn = np.linspace(0, 2 * np.pi, 9, endpoint=False) + rng.uniform(0, 0.5)
    lobes = [ellipse(0.42 * np.cos(t), -0.36 + 0.3 * np.sin(t), rng.uniform(0.26, 0.36), steps=20) for t in turn]
    return [Part(trunk, SECOND), Part(ellipse(0, -0.36, 0.5, 0.4)), *(Part(lobe) for lobe in lobes)]


def mushroom(rng):
    cap = symmetric((0, rng.uniform(-1, -0.8)), (0.75, -0.55), (1, 0.05), (0.5, 0.2))
    stem = symmetric((0.22, 0.1), (0.25, 0.7), (0.38, 1))
    spots = [(-0.45, -0.3, 0.15), (0.1, -0.55, 0.17), (0.55, -0.2, 0.13), (0.05, -0.08, 0.1)]
    return [
        Part(stem, SECOND),
        Part(cap),
        *(Part(ellipse(x, y, r, 0.8 * r, steps=18), LIGHT, 0.9) for x, y, r in spots),
    ]


def pear(rng):
    neck, belly = rng.uniform(0.2, 0.34), rng.uniform(0.56, 0.68)
    fruit = symmetric((0, -0.78), (neck, -0.62), (neck + 0.1, -0.2), (belly, 0.35), (0.42, 0.9), (0, 0.97))
    leaf = curve((0.05, -0.86), (0.05, -0.86), (0.3, -1.08), (0.6, -0.95), (0.6, -0.95), (0.32, -0.82))
    return [Part(fruit), Part(stroke([(0, -0.7), (0.02, -0.9), (0.08, -1.08)], 0.08), DARK, 0.85), Part(leaf, SECOND)]


def face(rng):
    jaw, hairline = rng.uniform(0.38, 0.45), rng.uniform(-0.6, -0.5)
    fall = rng.choice((0.6, 0.3, -0.05))  # how far down the hair reaches
    coat = symmetric((0.3, 0.5), (0.82, 0.7), (0.97, 1.1), (0.97, 1.1))
    mane = symmetric((0, -1), (0.5, -0.82), (0.66, -0.2), (0.64, fall), (0.3, fall + 0.1))
    neck = symmetric((0.17, 0.25), (0.2, 0.6), (0, 0.76))
    shade = symmetric((0.17, 0.36), (0.12, 0.5))
    head = symmetric((0, -0.85), (0.42, -0.66), (0.5, -0.15), (jaw, 0.2), (0, 0.47))
    parting = [(0.42, hairline + 0.16), (-0.12, hairline), (-0.44, hairline + 0.18)]
    temple, brink = (
        [(-0.57, -0.08), (-0.57, -0.08), (-0.56, -0.68), (0, -1)],
        [(0.56, -0.68), (0.57, -0.08), (0.57, -0.08)],
    )
    fringe = curve(*temple, *brink, *parting)
    ears, brows = both(ellipse(0.51, -0.1, 0.08, 0.13)), both(stroke(arc(0.21, -0.2, 0.13, 0.08, 215, 325, 9), 0.042))
    mouth = curve((-0.17, 0.21), (-0.17, 0.21), (0, 0.245), (0.17, 0.21), (0.17, 0.21), (0, 0.33))
    nose = stroke(arc(0.0, 0.07, 0.06, 0.05, -30, 140, 12), 0.026)
    skin = [Part(neck), Part(shade, DARK, 0.16), *(Part(p) for p in ears), Part(head)]
    cheeks = [Part(p, ROSE, 0.3) for p in both(ellipse(0.29, 0.13, 0.1, 0.07, steps=18))]
    details = [
        *(Part(p, SECOND) for p in brows),
        *eye(0.2, -0.08, 0.06),
        *eye(-0.2, -0.08, 0.06),
        Part(nose, DARK, 0.3),
    ]
    return [Part(mane, SECOND), Part(coat, THIRD), *skin, *cheeks, *details, Part(mouth, ROSE), Part(fringe, SECOND)]
