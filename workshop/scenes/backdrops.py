"""Backdrops behind the objects: plain, textured or cluttered surfaces, landscapes, a table by a wall."""

from dataclasses import dataclass

import numpy as np

from workshop.scenes.textures import Colour, Material, mix, paint

BACKDROPS = ("empty", "textured", "patterned", "cluttered", "patchwork", "landscape", "indoors")
GROUNDS = ("backdrop", "sky", "sun", "hills", "meadow", "water", "sand", "wall", "table")
BACKDROPS_WITH_GROUND = frozenset({"landscape", "indoors"})  # the backdrops with a ground that things stand on


@dataclass(frozen=True)
class Backdrop:
    kind: str
    materials: tuple[Material, ...] = ()  # of the backdrop's surfaces; `_landscape` and `_indoors` state the order
    horizon: float = 0.55  # distance from the top to the ground's far edge, in heights of the image
    sun: tuple[float, float] | None = None  # (x, y), in heights of the image
    cloudiness: float = 0.5
    seed: int = 0


class Sheet:
    """An image while it is painted: the colours, and the region of the backdrop to which each pixel belongs."""

    def __init__(self, height: int, width: int):
        self.height, self.width = height, width
        self.colours = np.zeros((height, width, 3), np.float32)
        self.regions = np.zeros((height, width), np.uint8)
        self.grounds: list[int] = []  # region → index into GROUNDS

    @property
    def x(self) -> np.ndarray:  # (1, width): the pixels' centres; 1 is the image's height
        return (np.arange(self.width, dtype=np.float32)[None] + 0.5) / self.height

    @property
    def y(self) -> np.ndarray:  # (height, 1), in heights of the image
        return (np.arange(self.height, dtype=np.float32)[:, None] + 0.5) / self.height

    def fill(
        self, material: Material, ground: str, cover: np.ndarray | None = None, top: int = 0, flattening: float = 1.0
    ):
        """Paints a material below row `top`, everywhere or blended by `cover` (height, width) from 0 to 1."""
        self.grounds.append(GROUNDS.index(ground))
        pixel = 2 / max(self.height, self.width)
        frame = (
            pixel,
            0.0,
            -self.width * pixel / 2,
            0.0,
            pixel * flattening,
            (top - self.height) * pixel * flattening / 2,
        )
        colours = paint(material, self.height - top, self.width, frame)
        if cover is None:
            self.colours[top:] = colours
            self.regions[top:] = len(self.grounds) - 1
            return
        share = cover[top:, :, None]
        self.colours[top:] += (colours - self.colours[top:]) * share
        self.regions[top:][share[..., 0] > 0.5] = len(self.grounds) - 1

    def mask_below(self, ridge: np.ndarray) -> tuple[np.ndarray, int]:
        """(mask of the area below a ridge (width,), first row of this area)."""
        share_below = np.clip((self.y - ridge) * self.height + 0.5, 0, 1)
        return share_below, int(np.clip(np.floor(ridge.min() * self.height) - 1, 0, self.height - 1))


def paint_backdrop(backdrop: Backdrop, height: int, width: int) -> Sheet:
    sheet = Sheet(height, width)
    rng = np.random.default_rng(backdrop.seed)
    {"landscape": _landscape, "indoors": _indoors, "patchwork": _patchwork}.get(backdrop.kind, _surface)(
        sheet, backdrop, rng
    )
    return sheet


def _surface(sheet: Sheet, backdrop: Backdrop, rng: np.random.Generator) -> None:
    """Fills the sheet with one material."""
    sheet.fill(backdrop.materials[0], "backdrop")


def _patchwork(sheet: Sheet, backdrop: Backdrop, rng: np.random.Generator) -> None:
    """One region with soft borders for each material: a pixel belongs to the material with the highest random wave."""
    heights = []
    for _ in backdrop.materials:
        frequencies = rng.uniform(2.0, 5.5, (2, 2)) * rng.choice((-1, 1), (2, 2))
        across, down = (
            frequencies[:, :1] * sheet.x + rng.uniform(0, 6.3, (2, 1)),
            frequencies[:, 1:] * sheet.y.T,
        )  # (2, width), (2, height)
        heights.append(np.cos(down).T @ np.sin(across) + np.sin(down).T @ np.cos(across))  # sin(across + down), summed
    highest = np.full((sheet.height, sheet.width), -9, np.float32)
    for material, level in zip(backdrop.materials, heights, strict=True):
        soft_range = 7 / sheet.height  # of levels: where two waves differ by less, their materials blend
        sheet.fill(material, "backdrop", np.clip((level - highest) / soft_range + 0.5, 0, 1))
        highest = np.maximum(highest, level)


def _ridge(rng: np.random.Generator, x: np.ndarray, height: float, roughness: float) -> np.ndarray:
    """A skyline (width,): a sum of sine waves; shorter waves are lower."""
    frequencies = rng.uniform(1.0, 1.9, 5) * 2.0 ** np.arange(5) * 1.5
    heights = roughness / 1.9 ** np.arange(5) * rng.uniform(0.5, 1, 5)
    return height + (heights @ np.sin(frequencies[:, None] * x + rng.uniform(0, 6.3, (5, 1)))).astype(np.float32)


def _landscape(sheet: Sheet, backdrop: Backdrop, rng: np.random.Generator) -> None:
    """Materials: sky (its colours at the top and at the horizon), clouds, then grounds from far to near."""
    sky, cloud, *grounds = backdrop.materials
    sheet.grounds.append(GROUNDS.index("sky"))
    nearness_to_horizon = np.clip(sheet.y / max(backdrop.horizon, 0.2), 0, 1)[..., None]  # (height, 1, 1)
    top_colour, haze_colour = np.float32(sky.colours[0]), np.float32(sky.colours[1])
    sheet.colours[:] = top_colour + (haze_colour - top_colour) * nearness_to_horizon
    if backdrop.sun is not None:
        _sun(sheet, backdrop.sun, np.float32(sky.colours[2]))
    if backdrop.cloudiness > 0:
        _clouds(sheet, cloud, backdrop.cloudiness, backdrop.horizon)
    last_depth = max(1, len(grounds) - 1)
    for depth, material in enumerate(grounds):
        nearness = depth / last_depth
        roughness = 0.0 if material.name == "furry" and material.angle else 0.075 * (1 - nearness) + 0.012
        level = backdrop.horizon + (0.06 + 0.9 * (1 - backdrop.horizon) * 0.45) * nearness - 0.05 * (1 - nearness)
        share_below, first_row = sheet.mask_below(_ridge(rng, sheet.x[0], level, roughness))
        sheet.fill(
            material,
            _ground_name(material, nearness),
            share_below,
            first_row,
            flattening=1.0 if nearness < 0.5 else 1.6,
        )
    _fade_to_foreground(sheet, backdrop.horizon)


def _ground_name(material: Material, nearness: float) -> str:
    if material.name == "furry" and material.angle:  # horizontal streaks look like ripples
        return "water"
    if material.name == "cloudy" and nearness >= 0.5:
        return "sand"
    return "hills" if nearness < 0.5 else "meadow"


def _sun(sheet: Sheet, place: tuple[float, float], colour: np.ndarray) -> None:
    distance = np.hypot(sheet.x - place[0], sheet.y - place[1])[..., None]  # (height, width, 1)
    sheet.colours += (colour - sheet.colours) * (0.75 * np.exp(-5.5 * distance))
    disc_share = np.clip((0.062 - distance) * sheet.height + 0.5, 0, 1)
    sheet.colours += (np.minimum(colour + 45, 255) - sheet.colours) * disc_share
    sheet.grounds.append(GROUNDS.index("sun"))
    sheet.regions[disc_share[..., 0] > 0.5] = len(sheet.grounds) - 1


def _clouds(sheet: Sheet, cloud: Material, amount: float, horizon: float) -> None:
    rows = max(2, int(sheet.height * min(1.0, horizon + 0.1)))
    pixel = 2 / max(sheet.height, sheet.width)
    grey = Material("cloudy", ((0, 0, 0), (255, 255, 255)), cloud.scale, 0.0, cloud.seed)
    veil = paint(grey, rows, sheet.width, (0.6 * pixel, 0.0, -0.6, 0.0, 1.25 * pixel, -1.2))[..., :1] / np.float32(255)
    share = np.clip((veil - 1 + 0.75 * amount) * 2.2, 0, 0.92)
    cloud_colour = np.float32(cloud.colours[0]) - 34 * np.clip(veil - 0.75, 0, 1)
    sheet.colours[:rows] += (cloud_colour - sheet.colours[:rows]) * share


def _fade_to_foreground(sheet: Sheet, horizon: float) -> None:
    """Darkens the ground a little towards the bottom of the picture, so that the ground looks near."""
    depth = np.clip((sheet.y - horizon) / max(1 - horizon, 0.1), 0, 1)[..., None]
    sheet.colours *= 1 - 0.2 * depth**2


def _indoors(sheet: Sheet, backdrop: Backdrop, rng: np.random.Generator) -> None:
    """Materials: wall, table. A soft shadow lies along the edge between wall and table."""
    wall, table = backdrop.materials
    sheet.fill(wall, "wall")
    glow = np.hypot(sheet.x - rng.uniform(0.1, 0.5), sheet.y - 0.1)[..., None]
    sheet.colours *= 1.08 - 0.28 * glow
    edge = np.full(sheet.width, backdrop.horizon, np.float32)
    share_below, first_row = sheet.mask_below(edge)
    sheet.fill(table, "table", share_below, first_row, flattening=1.5)
    near_edge = np.abs(sheet.y - backdrop.horizon)[..., None]
    sheet.colours *= 1 - 0.22 * np.exp(-14 * near_edge)


def hazy(colour: Colour, haze: Colour, distance: float) -> Colour:
    """A thing's colour, mixed with `haze`, the colour of the air. distance: 0 for near to 1 for far"""
    return mix(colour, haze, distance)
