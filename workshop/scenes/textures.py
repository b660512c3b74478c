"""Materials of surfaces. A material is a pattern of greys that are mapped to a ramp of colours.

Regular patterns (stripes, dots, checks) are computed. Natural ones (clouds, marble, pebbles…) are cut out of a bank of
large grey fields that each process builds once, on first use. The bank is seeded and every field is equalised: two
textures with the same ramp have the same mean colour, so a pebbled thing can hide in clouds of its own colours.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import cos, hypot, log2, sin, tau

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

Colour = tuple[float, float, float]  # sRGB, 0…255
FIELD_SIDE = 1024  # pixels: the side of a ready-made texture, from which pieces are cut

REGULAR = ("solid", "striped", "dotted", "checked", "two-toned", "shaded")
NATURAL = ("cloudy", "marbled", "woody", "furry", "scaly", "pebbled", "fractal")
MATERIALS = REGULAR + NATURAL


@dataclass(frozen=True)
class Material:
    name: str
    colours: tuple[Colour, ...]
    scale: float = 4.0  # regular pattern: periods across a surface; natural pattern: visible share of a field, 0…0.7
    angle: float = 0.0  # radians
    seed: int = 0
    crisp: bool = False  # whether areas have flat colours without blending between them


# Colours.


def oklch(lightness: float, chroma: float, hue: float) -> Colour:
    """The colour with these coordinates in OKLCH (Björn Ottosson), where equal steps look equal; hue in turns."""
    a, b = chroma * cos(tau * hue), chroma * sin(tau * hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short
    return _srgb(red), _srgb(green), _srgb(blue)


def _srgb(linear: float) -> float:
    linear = min(max(linear, 0.0), 1.0)
    return 255 * (12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055)


def palette(rng: np.random.Generator) -> list[Colour]:
    """Five colours that go together: a few related hues, spread in lightness, of moderate chroma."""
    hue, scheme = rng.random(), rng.random()
    if scheme < 0.2:
        hues = hue + rng.uniform(-0.13, 0.13, 5)
    elif scheme < 0.65:
        hues = hue + np.array([0, 0.04, 0.5, 0.46, -0.05]) + rng.uniform(-0.02, 0.02, 5)
    else:
        hues = hue + np.array([0, 0.33, 0.67, 0.03, 0.36]) + rng.uniform(-0.02, 0.02, 5)
    lightness = rng.permutation(np.array((0.36, 0.5, 0.63, 0.77, 0.9))) + rng.uniform(-0.05, 0.05, 5)
    base_chroma = (0.06, 0.09, 0.13)[int(rng.random() * 3)]
    chroma = base_chroma * rng.uniform(0.5, 1.25, 5)
    return [oklch(*colour) for colour in zip(lightness.tolist(), chroma.tolist(), hues.tolist(), strict=True)]


def mix(a: Colour, b: Colour, share: float) -> Colour:
    return tuple(x + (y - x) * share for x, y in zip(a, b, strict=True))


@lru_cache(maxsize=512)
def _ramp(colours: tuple[Colour, ...], crisp: bool) -> np.ndarray:  # (256, 3) uint8
    table = np.array(colours, np.float32)
    positions = np.arange(256) * (len(table) / 256) if crisp else np.arange(256) * ((len(table) - 1) / 255)
    lower_index = positions.astype(int)
    if crisp:
        return table[lower_index].astype(np.uint8)
    share = (positions - lower_index)[:, None]
    blend = table[lower_index] * (1 - share) + table[np.minimum(lower_index + 1, len(table) - 1)] * share
    return (blend + 0.5).astype(np.uint8)


# Painting.


def paint(material: Material, height: int, width: int, frame: tuple[float, float, float, float, float, float]):
    """The colours of a surface, uint8 (height, width, 3), or (3,) if the surface has one colour.

    `frame` (a, b, c, d, e, f) maps a pixel to the surface: u = a·x + b·y + c, v = d·x + e·y + f,
    where the surface spans -1…1 in both directions.
    """
    if material.name == "solid":
        return np.array(material.colours[0]).astype(np.uint8)
    turned_frame = _turn(frame, material.angle)
    if material.name in NATURAL:
        grey = _natural(material, height, width, turned_frame)
    else:
        a, b, c, d, e, f = turned_frame
        x, y = np.arange(width, dtype=np.float32) + 0.5, np.arange(height, dtype=np.float32)[:, None] + 0.5
        grey = _regular(material, a * x + b * y + c, d * x + e * y + f, hypot(a, b))
        grey = (255 * np.clip(grey, 0, 1)).astype(np.uint8)
    return _ramp(material.colours, material.crisp).take(grey, axis=0)


def _turn(frame, angle: float):
    a, b, c, d, e, f = frame
    x, y = cos(angle), sin(angle)
    return x * a + y * d, x * b + y * e, x * c + y * f, x * d - y * a, x * e - y * b, x * f - y * c


def _regular(material: Material, u: np.ndarray, v: np.ndarray, pixel: float) -> np.ndarray:
    """Greys 0…1 (h, w). Edges are softened over `pixel`, the size of a pixel on the surface."""
    periods, variant = material.scale / 2, material.seed % 3
    phase = material.seed % 97 / 97
    if material.name == "two-toned":
        return u / pixel + 0.5 + (phase - 0.5) * 0.3 / pixel
    if material.name == "shaded":
        return np.hypot(u, v) * 0.85 if variant == 0 else 0.5 + 0.55 * u
    if material.name == "striped":
        bow = 0.12 * np.sin(5 * v) if variant == 0 else 0.0
        return _square_wave((u + bow) * periods + phase, pixel * periods)
    p, q = u * periods + phase, v * periods + phase
    if material.name == "checked":
        return 0.5 + (_square_wave(p, pixel * periods) - 0.5) * (2 * _square_wave(q, pixel * periods) - 1)
    p = p + 0.5 * (np.floor(q) % 2)  # dots in staggered rows
    return (0.33 - np.hypot(p - np.floor(p) - 0.5, q - np.floor(q) - 0.5)) / (pixel * periods) + 0.5


def _square_wave(t: np.ndarray, pixel: float) -> np.ndarray:
    return np.clip((np.abs(t - np.floor(t) - 0.5) - 0.25) / pixel + 0.5, 0, 1)


def _natural(material: Material, height: int, width: int, frame) -> np.ndarray:  # (h, w) uint8
    fields = bank()[material.name]
    levels = fields[material.seed % len(fields)]
    a, b, c, d, e, f = frame
    half_share = material.scale / 2
    half_diagonal = min(0.5, half_share * 1.42)  # because the square that is cut out may be rotated
    middle = [half_diagonal + (1 - 2 * half_diagonal) * (material.seed // step % 997) / 996 for step in (1, 997)]
    footprint = half_share * hypot(a, b) * FIELD_SIDE  # number of the field's pixels along a pixel's side
    level = min(max(int(log2(footprint) + 0.3), 0), len(levels) - 1)
    side = FIELD_SIDE >> level
    u = (half_share * a * side, half_share * b * side, (half_share * c + middle[0]) * side)
    v = (half_share * d * side, half_share * e * side, (half_share * f + middle[1]) * side)
    piece = levels[level].transform((width, height), Image.Transform.AFFINE, u + v, Image.Resampling.BILINEAR)
    return np.asarray(piece)


# The bank of natural fields.


@lru_cache(maxsize=1)
def bank() -> dict[str, list[list[Image.Image]]]:
    """{name: fields}, each field at 1024, 512, 256 and 128 pixels. Takes about a second, once per process."""
    rng = np.random.default_rng(20240607)
    makers = {
        "cloudy": [lambda: _noise(rng, 1.7), lambda: _noise(rng, 1.35), lambda: _noise(rng, 2.1)],
        "marbled": [lambda: _marble(rng, 5), lambda: _marble(rng, 8)],
        "woody": [lambda: _wood(rng, 14), lambda: _wood(rng, 22)],
        "furry": [lambda: _noise(rng, 1.2, stretch=7, lowest=8), lambda: _noise(rng, 1.0, stretch=12, lowest=8)],
        "scaly": [lambda: _cells(rng, 18), lambda: _cells(rng, 28)],
        "pebbled": [lambda: _pebbles(rng, 70), lambda: _pebbles(rng, 45)],
        "fractal": [lambda: _ridges(rng), lambda: _julia(-0.79 + 0.15j)],
    }
    return {name: [_pyramid(_equalise(make())) for make in fields] for name, fields in makers.items()}


def _noise(
    rng: np.random.Generator, slope: float, stretch: float = 1.0, lowest: float = 2.0, n: int = FIELD_SIDE
) -> np.ndarray:
    """Noise whose amplitude falls as 1 / frequency^slope; frequencies below `lowest` count as `lowest`. `stretch`
    elongates the noise along y."""
    down, across = np.fft.fftfreq(n, 1 / n)[:, None], np.fft.rfftfreq(n, 1 / n)
    frequency = np.hypot(down * stretch, across)
    spectrum = np.fft.rfft2(rng.standard_normal((n, n), np.float32))
    return np.fft.irfft2(spectrum * np.maximum(frequency, lowest) ** -slope, (n, n)).astype(np.float32)


def _standardised(field: np.ndarray) -> np.ndarray:
    return (field - field.mean()) / field.std()


def _marble(rng: np.random.Generator, veins: int) -> np.ndarray:
    x = np.linspace(0, veins, FIELD_SIDE, dtype=np.float32)
    return np.abs(np.sin(np.pi * (x + 0.7 * _standardised(_noise(rng, 2.0)))))


def _wood(rng: np.random.Generator, rings: int) -> np.ndarray:
    x = np.linspace(0, rings, FIELD_SIDE, dtype=np.float32)
    grain = x + 1.6 * _standardised(_noise(rng, 2.4, stretch=3))
    return grain - np.floor(grain) + 0.18 * _standardised(_noise(rng, 1.0, stretch=14))


def _cells(rng: np.random.Generator, count: int) -> np.ndarray:
    """Scales: the distance to the nearest point minus the distance to the second nearest point (Worley)."""
    n = FIELD_SIDE // 2
    jitter = rng.uniform(0.1, 0.9, (2, count, count)).astype(np.float32)
    positions = np.arange(n, dtype=np.float32) * count / n
    cell = positions.astype(int)
    nearest = np.full((n, n), 9, np.float32)
    second_nearest = nearest.copy()
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            row, column = cell[:, None] + dy, cell + dx
            points = jitter[:, row % count, column % count]  # (2, n, n)
            distances = (row + points[0] - positions[:, None]) ** 2 + (column + points[1] - positions) ** 2
            second_nearest = np.minimum(second_nearest, np.maximum(nearest, distances))
            nearest = np.minimum(nearest, distances)
    return _larger(np.sqrt(nearest) - np.sqrt(second_nearest))


def _pebbles(rng: np.random.Generator, largest: float) -> np.ndarray:
    """The dead leaves model: discs with sizes from a power law; each disc covers the earlier ones."""
    sheet = Image.new("L", (FIELD_SIDE, FIELD_SIDE), 128)
    pen = ImageDraw.Draw(sheet)
    count = 5000
    sizes = largest / np.sqrt(rng.uniform(1, (largest / 7) ** 2, count))
    centres, greys = rng.uniform(-20, FIELD_SIDE + 20, (count, 2)), rng.integers(0, 256, count)
    aspects = rng.uniform(0.65, 1, count)
    for (x, y), r, q, grey in zip(centres.tolist(), sizes.tolist(), aspects.tolist(), greys.tolist(), strict=True):
        pen.ellipse((x - r, y - q * r, x + r, y + q * r), fill=grey)
    return np.asarray(sheet.filter(ImageFilter.GaussianBlur(0.8)), np.float32)


def _ridges(rng: np.random.Generator) -> np.ndarray:
    """Sharp crests at every size; the crests of an octave are 1.7 times lower than those of the octave before."""
    return sum(-np.abs(_standardised(_noise(rng, 1.9, lowest=4 * 2**octave))) / 1.7**octave for octave in range(4))


def _julia(c: complex) -> np.ndarray:
    n = FIELD_SIDE // 2
    x = np.linspace(-1.35, 1.35, n, dtype=np.float32)
    z = (x + 1j * x[:, None]).astype(np.complex64)
    trap = np.full((n, n), 9, np.float32)  # orbit trap: smallest distance to the axes, for bands without flat areas
    for _ in range(24):
        z = np.where(np.abs(z) < 4, z * z + np.complex64(c), z)
        trap = np.minimum(trap, np.minimum(np.abs(z.real), np.abs(z.imag)))
    return _larger(np.log(trap + 1e-4))


def _larger(field: np.ndarray) -> np.ndarray:
    return np.asarray(Image.fromarray(field).resize((FIELD_SIDE, FIELD_SIDE), Image.Resampling.BICUBIC))


def _equalise(field: np.ndarray) -> np.ndarray:
    """Histogram equalisation: greys 0…255, equally frequent."""
    lowest, highest = float(field.min()), float(field.max())
    bins = ((field - lowest) * (4095 / (highest - lowest))).astype(np.uint16)
    cumulative = np.cumsum(np.bincount(bins.ravel(), minlength=4096))
    return (cumulative * (255 / cumulative[-1])).astype(np.uint8)[bins]


def _pyramid(field: np.ndarray) -> list[Image.Image]:
    full_size = Image.fromarray(field)
    return [full_size, *(full_size.reduce(2**level) for level in (1, 2, 3))]
