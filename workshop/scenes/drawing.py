"""Draws the picture, masks and labels of a scene from its description, at any size.

`draw` makes both the 112-pixel training scenes and the 768-pixel samples of the app.
Masks are drawn four times finer and averaged; colours are painted at the final size and blended by those masks.
"""

from dataclasses import dataclass
from math import ceil, cos, floor, sin

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from playground.errors import PlaygroundError
from workshop.scenes.backdrops import BACKDROPS, Backdrop, paint_backdrop
from workshop.scenes.outlines import BODY, DARK, LIGHT, ROSE, Part
from workshop.scenes.silhouettes import SHAPES, silhouette, with_points
from workshop.scenes.textures import MATERIALS, Colour, Material, paint

MASK_ZOOM = 4  # masks are drawn at this many times the picture's resolution
FIXED_COLOURS = {DARK: (46, 40, 52), LIGHT: (250, 246, 236), ROSE: (214, 104, 104)}


@dataclass(frozen=True)
class Thing:
    """One object. Positions and sizes are in units of the image's height."""

    shape: str
    x: float
    y: float
    size: float  # the longest side
    materials: tuple[Material, ...]  # for body, second and third part; a missing material is replaced by the last
    seed: int = 0  # selects the random details of the outline
    angle: float = 0.0  # radians, clockwise
    flip: bool = False
    relief: float = 0.35  # strength of light and shade
    shadow: str = "drop"  # "drop": on a wall behind the thing; "cast": on the ground; "none"
    kind: int = -1  # things of one kind look the same, and are placed far apart; -1: a kind of its own


@dataclass(frozen=True)
class Description:
    backdrop: Backdrop
    things: tuple[Thing, ...]  # from back to front
    light: float = 4.0  # direction of the light's source, in radians clockwise from the right: 4.0 is above left
    ambience: float = 0.1  # how much brighter the lit side of the picture is
    focus: float = 0.0  # blur of the backdrop, in hundredths of the height
    blur: float = 0.0  # blur of the whole picture, in hundredths of the height
    noise: float = 0.0  # standard deviation of the noise, in grey levels from 0 to 255
    colour_cast: Colour = (1.0, 1.0, 1.0)  # a colour cast: the gain of red, green, blue
    aspect: float = 1.0  # width / height
    seed: int = 0  # seed of the noise


@dataclass(frozen=True)
class Scene:
    image: np.ndarray  # (height, width, 3) uint8
    objects: np.ndarray  # (height, width) uint8: 0 is background, k the k-th object
    regions: np.ndarray  # (height, width) uint8: the number of the part of the background, also behind objects
    shapes: np.ndarray  # (objects,) int64, index into SHAPES
    materials: np.ndarray  # (objects,) int64, index into MATERIALS
    visible_shares: np.ndarray  # (objects,) float32: the share of the object that is neither hidden nor off the picture
    boxes: np.ndarray  # (objects, 4) float32: left, top, right, bottom of the visible part, as shares of the picture
    grounds: np.ndarray  # (regions,) int64, index into GROUNDS
    backdrop: int  # index into BACKDROPS


def draw(description: Description, size: int = 112) -> Scene:
    """Paints a scene; `size` is its height in pixels."""
    if size < 8:
        raise PlaygroundError(f"A scene needs a height of at least 8 pixels; {size} was asked for.")
    height, width = size, round(size * description.aspect)
    sheet = paint_backdrop(description.backdrop, height, width)
    canvas = sheet.colours
    if description.focus > 0:
        canvas = _blurred(canvas, description.focus * height / 100)
    objects = np.zeros((height, width), np.uint8)
    areas = []  # number of pixels of each thing, including pixels that other things hide
    for number, thing in enumerate(description.things, 1):
        areas.append(_place(canvas, objects, thing, number, description.light))
    return _scene(description, _with_effects(canvas, description), objects, areas, sheet)


# One thing.


def _place(canvas: np.ndarray, objects: np.ndarray, thing: Thing, number: int, light: float) -> float:
    """Paints a thing and its shadow into `canvas`, the thing's number into `objects`; returns its area in pixels."""
    height = canvas.shape[0]
    extent = thing.size * height
    margin = int(extent * (0.62 if thing.shadow == "cast" else 0.2)) + 3
    parts = _parts_in_pixels(thing, height)
    part_boxes = [(*part.points.min(0).tolist(), *part.points.max(0).tolist()) for part in parts]
    parts, part_boxes = _visible_parts(parts, part_boxes)
    lefts, tops, rights, bottoms = zip(*part_boxes, strict=True)
    x0, y0 = floor(min(lefts)) - margin, floor(min(tops)) - margin
    x1, y1 = ceil(max(rights)) + margin, ceil(max(bottoms)) + margin
    part_masks = [_mask(part, part_box, x0, y0) for part, part_box in zip(parts, part_boxes, strict=True)]
    silhouette_mask = Image.new("L", (x1 - x0, y1 - y0), 0)
    for left, top, part_mask in part_masks:
        silhouette_mask.paste(255, (left, top), part_mask)
    blurred_mask = (
        np.asarray(silhouette_mask.filter(ImageFilter.GaussianBlur(0.09 * extent)), np.float32) / 255
    )  # (h, w)
    if thing.shadow != "none":
        shadow = _shadow(thing, silhouette_mask, blurred_mask, extent, light, max(bottoms) - y0)
        canvas_part, opacity = _window(canvas, shadow, x0, y0)
        canvas_part *= 1 - opacity[..., None] * np.float32([1.0, 0.97, 0.88])  # shadows are slightly blue
    inset = margin - 2  # the thing needs a smaller window than its shadow
    inner_box = (inset, inset, x1 - x0 - inset, y1 - y0 - inset)
    alpha = np.asarray(silhouette_mask.crop(inner_box), np.float32) / 255
    colours = _colours_of_thing(thing, parts, part_masks, (x0, y0), inner_box, height)
    canvas_part, opacity = _window(canvas, alpha, x0 + inset, y0 + inset)
    _, lit_colours = _window(
        canvas, _with_shading(colours, blurred_mask, inset, thing.relief, extent, light), x0 + inset, y0 + inset
    )
    canvas_part += (lit_colours - canvas_part) * opacity[..., None]
    object_numbers, _ = _window(objects, alpha, x0 + inset, y0 + inset)
    object_numbers[opacity > 0.5] = number
    return float((alpha > 0.5).sum())


def _window(canvas: np.ndarray, piece: np.ndarray, x0: int, y0: int) -> tuple[np.ndarray, np.ndarray]:
    """The part of the canvas under a piece with its corner at (x0, y0), and the part of the piece on the canvas.
    Both parts may be empty."""
    left, top = max(0, x0), max(0, y0)
    right, bottom = (
        max(left, min(canvas.shape[1], x0 + piece.shape[1])),
        max(top, min(canvas.shape[0], y0 + piece.shape[0])),
    )
    return canvas[top:bottom, left:right], piece[top - y0 : bottom - y0, left - x0 : right - x0]


def _parts_in_pixels(thing: Thing, height: int) -> list[Part]:
    """The thing's parts in pixels of the picture."""
    c, s = cos(thing.angle), sin(thing.angle)
    transform = np.array([[c, s], [-s, c]]) * (thing.size * height / 2)
    if thing.flip:
        transform = np.diag([-1.0, 1.0]) @ transform
    parts = silhouette(thing.shape, thing.seed)
    points = np.concatenate([part.points for part in parts])
    return with_points(parts, points @ transform + (thing.x * height, thing.y * height))


def _visible_parts(parts: list[Part], part_boxes: list[tuple[float, ...]]):
    """Leaves out parts smaller than a pixel, such as the glint of an eye."""
    part_numbers = [k for k, (x0, y0, x1, y1) in enumerate(part_boxes) if k == 0 or (x1 - x0) + (y1 - y0) > 1.2]
    return [parts[k] for k in part_numbers], [part_boxes[k] for k in part_numbers]


def _mask(part: Part, part_box: tuple[float, ...], x0: int, y0: int) -> tuple[int, int, Image.Image]:
    """The mask of one part: its (left, top) in the window that begins at (x0, y0), and an 'L' image cropped to it."""
    left, top, right, bottom = floor(part_box[0]), floor(part_box[1]), ceil(part_box[2]) + 1, ceil(part_box[3]) + 1
    fine_mask = Image.new("L", ((right - left) * MASK_ZOOM, (bottom - top) * MASK_ZOOM), 0)
    points = ((part.points - (left, top)) * MASK_ZOOM).ravel().tolist()
    ImageDraw.Draw(fine_mask).polygon(points, fill=round(255 * part.alpha))
    return left - x0, top - y0, fine_mask.reduce(MASK_ZOOM)


def _colours_of_thing(
    thing: Thing, parts: list[Part], part_masks, origin: tuple[int, int], inner_box, height: int
) -> np.ndarray:
    """The colours of a thing before light falls on it, uint8 (h, w, 3), for `inner_box`, a part of the window."""
    scale = 2 / (thing.size * height)
    c, s = cos(thing.angle) * scale, sin(thing.angle) * scale
    mirror_sign = -1.0 if thing.flip else 1.0

    def surface(number: int, left: int, top: int, columns: int, rows: int):
        if number < 0:
            return FIXED_COLOURS[number]
        material = thing.materials[min(number, len(thing.materials) - 1)]
        dx, dy = left + origin[0] - thing.x * height, top + origin[1] - thing.y * height
        frame = (mirror_sign * c, mirror_sign * s, mirror_sign * (c * dx + s * dy), -s, c, c * dy - s * dx)
        colours = paint(material, rows, columns, frame)
        return tuple(colours.tolist()) if colours.ndim == 1 else Image.fromarray(colours)

    x0, y0 = inner_box[:2]
    size = (inner_box[2] - x0, inner_box[3] - y0)
    picture = Image.new("RGB", size)
    picture.paste(surface(BODY, x0, y0, *size), (0, 0, *size))
    only_body = True
    for part, (left, top, part_mask) in zip(parts, part_masks, strict=True):
        only_body = only_body and part.paint == BODY
        if not only_body:
            picture.paste(surface(part.paint, left, top, *part_mask.size), (left - x0, top - y0), part_mask)
    return np.asarray(picture)


def _with_shading(
    colours, blurred_mask: np.ndarray, inset: int, relief: float, extent: float, light: float
) -> np.ndarray:
    """Adds light and shade as if the thing were inflated: the blurred mask serves as a height map."""
    reach = max(1.0, 0.07 * extent)
    dx, dy = round(reach * cos(light)), round(reach * sin(light))
    height, width = blurred_mask.shape

    def shifted(dx: int, dy: int) -> np.ndarray:
        return blurred_mask[inset + dy : height - inset + dy, inset + dx : width - inset + dx]

    slope = shifted(-dx, -dy) - shifted(dx, dy)
    gain = 1 + relief * np.clip(1.3 * slope, -1, 0.8) + (0.25 * relief) * (shifted(0, 0) - 0.6)
    return colours * gain[..., None] + (90 * relief) * np.clip(slope - 0.35, 0, 1)[..., None]


def _shadow(
    thing: Thing, silhouette_mask: Image.Image, blurred_mask: np.ndarray, extent: float, light: float, base: float
) -> np.ndarray:
    """The darkness of the shadow, 0…1 (h, w)."""
    if thing.shadow == "drop":
        shadow_offset = 0.06 * extent
        return 0.42 * np.roll(
            blurred_mask, (round(-shadow_offset * sin(light)), round(-shadow_offset * cos(light))), (0, 1)
        )
    lean, squash = -0.55 * cos(light), 0.26
    # Maps output pixels to the mask: heights above the base are divided by `squash`, columns shifted by the lean.
    affine = (1, lean / squash, -lean / squash * base, 0, 1 / squash, base - base / squash)
    lying_mask = silhouette_mask.transform(
        silhouette_mask.size, Image.Transform.AFFINE, affine, Image.Resampling.BILINEAR
    )
    lying_mask = lying_mask.filter(ImageFilter.GaussianBlur(0.03 * extent))
    return 0.5 * np.asarray(lying_mask, np.float32) / 255


# The whole picture.


def _blurred(canvas: np.ndarray, radius: float) -> np.ndarray:
    image = Image.fromarray(np.clip(canvas, 0, 255).astype(np.uint8))
    return np.array(image.filter(ImageFilter.GaussianBlur(radius)), np.float32)


def _with_effects(canvas: np.ndarray, description: Description) -> np.ndarray:
    """The picture with ambient light, blur, colour cast and noise: (height, width, 3) uint8."""
    height, width = canvas.shape[:2]
    across = np.linspace(-1, 1, width, dtype=np.float32) * np.float32(cos(description.light))
    down = np.linspace(-1, 1, height, dtype=np.float32)[:, None] * np.float32(sin(description.light))
    gain = 1 + description.ambience * (across + down)
    canvas = canvas * gain[..., None] * np.float32(description.colour_cast)
    if description.blur > 0:
        canvas = _blurred(canvas, description.blur * height / 100)
    if description.noise > 0:
        grain = np.random.default_rng(description.seed).standard_normal((height, width, 3), np.float32)
        canvas = canvas + description.noise * grain
    return np.clip(canvas + 0.5, 0, 255).astype(np.uint8)


def _scene(description: Description, image: np.ndarray, objects: np.ndarray, areas: list[float], sheet) -> Scene:
    """Collects the labels. Things that are completely hidden are left out, and the others renumbered."""
    visible_areas = np.bincount(objects.ravel(), minlength=len(areas) + 1)[1:]
    visible_things = np.flatnonzero(visible_areas)
    new_numbers = np.zeros(len(areas) + 1, np.uint8)
    new_numbers[visible_things + 1] = np.arange(1, len(visible_things) + 1)
    objects = new_numbers[objects]
    things = [description.things[k] for k in visible_things]
    backdrop = description.backdrop
    return Scene(
        image=image,
        objects=objects,
        regions=sheet.regions,
        shapes=np.array([SHAPES.index(thing.shape) for thing in things], np.int64),
        materials=np.array([MATERIALS.index(thing.materials[0].name) for thing in things], np.int64),
        visible_shares=np.array([visible_areas[k] / areas[k] for k in visible_things], np.float32),
        boxes=_boxes(objects, len(visible_things)),
        grounds=np.array(sheet.grounds, np.int64),
        backdrop=BACKDROPS.index(backdrop.kind),
    )


def _boxes(objects: np.ndarray, count: int) -> np.ndarray:
    height, width = objects.shape
    boxes = np.zeros((count, 4), np.float32)
    for k in range(count):
        is_object = objects == k + 1
        rows, columns = np.flatnonzero(is_object.any(1)), np.flatnonzero(is_object.any(0))
        boxes[k] = columns[0] / width, rows[0] / height, (columns[-1] + 1) / width, (rows[-1] + 1) / height
    return boxes
