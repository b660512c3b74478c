"""The sample drawings, composed by hand, as descriptions for `workshop.scenes.drawing.draw`."""

from __future__ import annotations

from math import pi

import numpy as np

from workshop.scenes.backdrops import Backdrop
from workshop.scenes.drawing import Description, Thing
from workshop.scenes.textures import Colour, Material


def _from_hex(code: str) -> Colour:
    return tuple(float(int(code[i : i + 2], 16)) for i in (0, 2, 4))


def _solid(code: str) -> Material:
    return Material("solid", (_from_hex(code),))


def _material(
    name: str, codes: str, scale: float = 4.0, angle: float = 0.0, seed: int = 0, crisp: bool = False
) -> Material:
    """A material in the colours of a text like "aabbcc ddeeff"."""
    return Material(name, tuple(_from_hex(code) for code in codes.split()), scale, angle, seed, crisp)


def _meadow() -> Description:
    sky, clouds = _material("shaded", "6fb1dc f7ead2 fff0c2"), _material("cloudy", "fffaf0", 0.6, seed=11)
    far_hills, hills = (
        _material("cloudy", "8fb0b4 a9c4b8", 0.5, seed=5),
        _material("cloudy", "7fa98a a8c79a", 0.5, seed=8),
    )
    near_grass, grass = (
        _material("fractal", "6d9c55 9cc06a", 0.5, seed=4),
        _material("furry", "4e8440 8fb956", 0.5, seed=6),
    )
    backdrop = Backdrop("landscape", (sky, clouds, far_hills, hills, near_grass, grass), 0.46, (0.77, 0.2), 0.75, 21)
    crown, bark = (
        _material("pebbled", "3f7a4a 5b9a56 7fb765", 0.3, seed=3),
        _material("woody", "6b4a36 8c6647", 0.2, seed=2),
    )
    walls, roof = _solid("f3e3c7"), _material("striped", "b5523f c9674f", 12, pi / 2, seed=1)
    fur, cream = _material("striped", "d98a45 b7642f", 7, 0.25, seed=3), _solid("f6e4cc")
    wing, petal = _material("shaded", "f3b33d e2703a", seed=3), _solid("fff3d6")
    things = [
        Thing("house", 0.215, 0.5, 0.2, (walls, roof), 5, shadow="cast", relief=0.25),
        Thing("tree", 0.84, 0.46, 0.44, (crown, bark), 4, shadow="cast"),
        Thing("cat", 0.44, 0.7, 0.38, (fur, cream), 4, shadow="cast", relief=0.4),
        Thing("mushroom", 0.83, 0.83, 0.19, (_solid("c8433a"), _solid("f2e6d2")), 3, shadow="cast", relief=0.45),
        Thing("mushroom", 0.7, 0.88, 0.12, (_solid("c8433a"), _solid("f2e6d2")), 1, shadow="cast", relief=0.45),
        Thing("butterfly", 0.2, 0.78, 0.16, (wing, petal), 2, 0.35, shadow="drop", relief=0.2),
        Thing("butterfly", 0.6, 0.3, 0.12, (wing, petal), 2, -0.4, shadow="none", relief=0.2),
    ]
    return Description(backdrop, tuple(things), light=5.4, ambience=0.06)


def _flock() -> Description:
    sky, clouds = _material("shaded", "5c8fc4 fbe3cf ffe2b0"), _material("cloudy", "fff4ea", 0.62, seed=19)
    hills = [_material("cloudy", "8c94b8 a9a6c0", 0.5, seed=4), _material("cloudy", "59678f 717aa0", 0.5, seed=3)]
    backdrop = Backdrop(
        "landscape", (sky, clouds, *hills, _material("furry", "39476b 4d5b80", 0.5, seed=2)), 0.84, (0.74, 0.7), 0.6, 4
    )
    feathers = (_material("shaded", "fdfaf3 c4d3e6", 4, pi / 2, seed=1), _solid("51688f"), _solid("ec9a3c"))
    places = [(0.2, 0.17), (0.5, 0.13), (0.83, 0.24), (0.14, 0.45), (0.42, 0.4), (0.68, 0.5), (0.27, 0.68)]
    things = [Thing("bird", x, y, 0.2, feathers, 0, -0.12, relief=0.3, shadow="none", kind=0) for x, y in places]
    return Description(backdrop, tuple(things), light=5.6, ambience=0.05)


def _still_life() -> Description:
    wall, table = (
        _material("cloudy", "6e8583 8aa09a", 0.6, seed=14),
        _material("woody", "8a5c3c b98455", 0.42, pi / 2, seed=8),
    )
    backdrop = Backdrop("indoors", (wall, table), 0.6, seed=2)
    glass = (_material("shaded", "3f7d62 1f4a40", seed=1), _solid("efe3c6"))
    glaze = (_material("shaded", "f2e8d8 d8c7ac", seed=2), _material("checked", "31698f f2e8d8", 22))
    fruit = (_material("shaded", "e6c34f b7862c", seed=1), _solid("6d8a3a"))
    pear_materials = (_material("shaded", "d9a441 a5482f", seed=1), _solid("6d8a3a"))
    things = [
        Thing("bottle", 0.3, 0.45, 0.66, glass, 2, shadow="cast", relief=0.5),
        Thing("mug", 0.66, 0.6, 0.36, glaze, 1, shadow="cast", relief=0.4),
        Thing("pear", 0.45, 0.68, 0.31, fruit, 3, shadow="cast", relief=0.5, kind=0),
        Thing("disc", 0.24, 0.82, 0.17, (_material("shaded", "d9573d a12a2a", seed=3),), 1, shadow="cast", relief=0.6),
        Thing("pear", 0.79, 0.78, 0.27, pear_materials, 4, 0.12, shadow="cast", relief=0.5, kind=0),
        Thing("leaf", 0.52, 0.9, 0.2, (_solid("7d9a4a"), _solid("56703a")), 3, -0.2, shadow="drop", relief=0.3),
    ]
    return Description(backdrop, tuple(things), light=3.8, ambience=0.13)


def _portrait() -> Description:
    backdrop = Backdrop("textured", (_material("cloudy", "5f7f88 7f9c9e a9b8b0", 0.5, seed=27),), seed=1)
    person = (
        _material("shaded", "f0c4a2 d99f7d", 4, pi / 3, seed=1),
        _material("furry", "3a2722 6b4232", 0.3, seed=9),
        _material("striped", "a43c3c f0e2cf", 13, pi / 2, 1),
    )
    return Description(
        backdrop, (Thing("face", 0.5, 0.55, 0.92, person, 4, relief=0.32),), light=3.9, ambience=0.12, focus=1.2
    )


def _twins() -> Description:
    backdrop = Backdrop("textured", (_material("dotted", "e9c9a6 e2bb93", 14, 0.6),), seed=1)
    person = (_material("shaded", "8f5d42 a87253", 4, pi / 3, seed=1), _solid("2c2028"), _solid("2f8f83"))
    left = Thing("face", 0.39, 0.63, 0.76, person, 7, relief=0.3, kind=0)
    right = Thing("face", 1.11, 0.63, 0.76, person, 7, relief=0.3, kind=0)
    return Description(backdrop, (left, right), light=4.2, ambience=0.08, aspect=1.5)


def _landscape() -> Description:
    sky, clouds = _material("shaded", "4f86c6 fbdcc0 ffe3a8"), _material("cloudy", "fff1e6", 0.66, seed=8)
    mountains, hills = (
        _material("fractal", "7f8fb0 a7b0c6", 0.6, seed=4),
        _material("cloudy", "6c8f86 93ae93", 0.5, seed=3),
    )
    lake, meadow = (
        _material("furry", "4a7ba6 a9c6d6", 0.55, pi / 2, seed=4),
        _material("furry", "4c7a3d 96b455", 0.55, seed=6),
    )
    backdrop = Backdrop("landscape", (sky, clouds, mountains, hills, lake, meadow), 0.5, (1.08, 0.3), 0.7, 11)
    crown, bark = (
        _material("pebbled", "2f6647 4f8a50 74a85c", 0.3, seed=6),
        _material("woody", "5a4030 7d5a40", 0.2, seed=2),
    )
    firs = [
        Thing(
            "tree",
            x,
            0.8 - 0.45 * size,
            size,
            (_material("furry", "1f4a3c 3b6f4e", 0.3, seed=4), bark),
            seed,
            shadow="cast",
        )
        for x, size, seed in FIRS
    ]
    boat = Thing(
        "boat", 0.86, 0.64, 0.17, (_solid("fbf6ea"), _solid("a4473a"), _solid("f0d9b0")), 2, shadow="none", relief=0.3
    )
    oak = Thing("tree", 0.26, 0.56, 0.62, (crown, bark), 4, shadow="cast", relief=0.4)
    return Description(backdrop, (boat, *firs, oak), light=5.5, ambience=0.05, aspect=1.5)


FIRS = ((1.2, 0.26, 12), (1.29, 0.34, 8), (1.41, 0.42, 20))  # for each fir: x, size, seed of the outline


def _odd_tile() -> Description:
    backdrop = Backdrop("empty", (_material("shaded", "e8e1d3 d6ccba", seed=1),), seed=1)
    light_material, dark_material, odd_material = (
        _material("marbled", "efe6d4 e0d3ba", 0.2, seed=4),
        _material("marbled", "3f6b78 2f5563", 0.2, seed=6),
        _solid("df6f45"),
    )
    things = []
    for row, column in np.ndindex(6, 6):
        is_odd = (row, column) == (3, 2)
        material = odd_material if is_odd else (light_material, dark_material)[(row + column) % 2]
        place = (0.12 + 0.152 * column, 0.12 + 0.152 * row)
        kind = 2 if is_odd else (row + column) % 2
        things.append(Thing("square", *place, 0.205, (material,), TILE_SEED, pi / 4, relief=0.25, kind=kind))
    return Description(backdrop, tuple(things), light=4.0, ambience=0.1)


TILE_SEED = 1175  # the seed whose outline is closest to a square


def _camouflage() -> Description:
    ramp = "6f5f3a 9a8a55 c3b680"
    backdrop = Backdrop("textured", (_material("pebbled", ramp, 0.42, seed=9),), seed=1)
    fish = Thing("fish", 0.3, 0.3, 0.42, (_material("scaly", ramp, 0.3, seed=3),), 3, -0.2, relief=0.4)
    bird = Thing("bird", 0.68, 0.52, 0.46, (_material("furry", ramp, 0.3, 1.2, seed=4),), 3, 0.1, True, relief=0.4)
    cat = Thing("cat", 0.3, 0.74, 0.34, (_material("marbled", ramp, 0.3, seed=5),), 2, relief=0.4)
    return Description(backdrop, (fish, bird, cat), light=3.9, ambience=0.08)


def _one_colour() -> Description:
    wall, table = (
        _material("cloudy", "d8d2c4 e6e0d2", 0.6, seed=3),
        _material("woody", "a9b7b4 c5cfca", 0.4, pi / 2, seed=5),
    )
    backdrop = Backdrop("indoors", (wall, table), 0.58, seed=3)
    red = _material("shaded", "cf4a3f 9c2b2e", seed=1)
    mug = Thing("mug", 0.4, 0.6, 0.46, (red, red), 2, shadow="cast", relief=0.45)
    pear = Thing("pear", 0.68, 0.66, 0.42, (red, _solid("6f8a45")), 2, 0.08, shadow="cast", relief=0.5)
    return Description(backdrop, (mug, pear), light=3.8, ambience=0.1)


def _two_colours() -> Description:
    sky, clouds = _material("shaded", "86bfe0 f3ead8 fff0c2"), _material("cloudy", "fffaf2", 0.6, seed=30)
    grounds = [_material("cloudy", "93b0a0 aec3a8", 0.5, seed=5), _material("cloudy", "cbb48a dcc9a0", 0.3, seed=2)]
    backdrop = Backdrop("landscape", (sky, clouds, *grounds), 0.52, None, 0.6, 9)
    paint = _material("two-toned", "f0c04c 2b5372", 2, 0.25, seed=48)
    car = Thing("car", 0.5, 0.63, 0.78, (paint, _solid("f6ecd8")), 3, shadow="cast", relief=0.35)
    return Description(backdrop, (car,), light=3.9, ambience=0.08)


COMPOSITIONS = {
    "meadow": _meadow,
    "flock": _flock,
    "still-life": _still_life,
    "portrait": _portrait,
    "twins": _twins,
    "landscape": _landscape,
    "odd-tile": _odd_tile,
    "camouflage": _camouflage,
    "one-colour": _one_colour,
    "two-colours": _two_colours,
}
