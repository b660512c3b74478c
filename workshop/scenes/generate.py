"""Random scenes: `scene(seed)` composes and draws one, always the same for the same seed.

Objects must not be recognisable by colour alone. Every scene has one palette, from which the background takes its
colours as well; many objects have two strongly different colours; some have exactly the background's colours in another
texture; neighbours share colours, and equal objects stand far apart. A scene's labels are defined below.
"""

from dataclasses import dataclass, replace

import numpy as np

from playground.errors import PlaygroundError
from workshop.scenes.backdrops import BACKDROPS, BACKDROPS_WITH_GROUND, Backdrop, hazy
from workshop.scenes.drawing import Description, Scene, Thing, draw
from workshop.scenes.silhouettes import ANY_WAY_UP, SHAPES
from workshop.scenes.textures import MATERIALS, NATURAL, Colour, Material, mix, oklch, palette

FIRST_HELD_OUT = 2**40  # seeds from this one on are for evaluation, smaller seeds for training
SMALLEST_SIZE, LARGEST_SIZE = 0.3, 0.64  # sizes of things, in heights of the picture
OUTLINE_COUNT = 128  # number of outlines of each shape; few enough for a process to keep all of them

_BACKDROP_KINDS = ("empty", "textured", "patterned", "cluttered", "patchwork", "landscape", "indoors")
_BACKDROP_ODDS = np.cumsum((0.1, 0.2, 0.13, 0.1, 0.15, 0.19, 0.13))
_SKIN = (
    oklch(0.86, 0.05, 0.16),
    oklch(0.8, 0.07, 0.15),
    oklch(0.66, 0.08, 0.14),
    oklch(0.5, 0.07, 0.13),
    oklch(0.4, 0.05, 0.12),
)
_HAIR = (
    oklch(0.3, 0.03, 0.1),
    oklch(0.42, 0.07, 0.12),
    oklch(0.78, 0.1, 0.22),
    oklch(0.52, 0.12, 0.12),
    oklch(0.8, 0.01, 0.2),
)
_AIRBORNE = frozenset({"bird", "butterfly", "leaf", "star", "heart", "crescent"})


def scene(seed: int, size: int = 112) -> Scene:
    """The scene of that seed, `size` pixels square."""
    return draw(describe(seed), size)


def close_up(seed: int, size: int = 56) -> Scene:
    """A close-up of one or two things, which at 56 pixels are as large as in a whole scene at 112 pixels."""
    return draw(describe(seed, most_things=2, zoom=1.8), size)


def describe(seed: int, most_things: int = 5, zoom: float = 1.0) -> Description:
    """The description of the scene of that seed, with at most `most_things` things."""
    rng = np.random.default_rng(seed)
    colours = palette(rng)
    backdrop, ground_colours = _backdrop(rng, colours)
    things = _things(rng, colours, ground_colours, backdrop, most_things, zoom)
    warmth = rng.uniform(-0.07, 0.07) if rng.random() < 0.35 else 0.0
    return Description(
        backdrop=backdrop,
        things=tuple(things),
        light=rng.uniform(3.4, 6.0),  # roughly from above
        ambience=rng.uniform(0.02, 0.16),
        focus=rng.uniform(0.4, 1.6) if rng.random() < 0.2 else 0.0,
        blur=rng.uniform(0.2, 0.8) if rng.random() < 0.3 else 0.0,
        noise=rng.uniform(1.5, 8) if rng.random() < 0.4 else 0.0,
        colour_cast=(1 + warmth, 1 + rng.uniform(-0.02, 0.02), 1 - warmth),
        seed=int(rng.integers(2**31)),
    )


def _pick(rng: np.random.Generator, options):
    return options[int(rng.random() * len(options))]


def _random_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


# Materials.


def _material(rng: np.random.Generator, colours: list[Colour], size: float, name: str | None = None) -> Material:
    """A material for a surface of that size (unit: the image's height), in a few of the colours."""
    name = name or _pick(rng, MATERIALS)
    ramp = _ramp(rng, colours, 2)
    if name in NATURAL:
        share = min(0.68, size * rng.uniform(0.5, 1.1) + 0.06)
        if rng.random() < 0.35:
            ramp = (*ramp, _pick(rng, colours))
        return Material(name, ramp, share, rng.uniform(0, 6.3), _random_seed(rng), crisp=rng.random() < 0.3)
    most_periods = max(2.2, min(9.0, 24 * size))  # the most periods that a small picture can show
    return Material(name, ramp, rng.uniform(2.0, most_periods), rng.uniform(0, 3.15), _random_seed(rng))


def _ramp(rng: np.random.Generator, colours: list[Colour], count: int) -> tuple[Colour, ...]:
    """Some of the colours, such that neighbours differ clearly."""
    ramp = [_pick(rng, colours)]
    while len(ramp) < count:
        colours_by_contrast = sorted(
            colours, key=lambda colour: -sum(abs(a - b) for a, b in zip(colour, ramp[-1], strict=True))
        )
        ramp.append(colours_by_contrast[int(rng.random() * min(2.5, len(colours_by_contrast) - 1))])
    return tuple(ramp)


def _calm(material: Material, amount: float) -> Material:
    """The same pattern with less contrast."""
    mean_colour = tuple(np.mean(material.colours, 0).tolist())
    return replace(material, colours=tuple(mix(colour, mean_colour, amount) for colour in material.colours))


# Backdrops. Each function also returns the backdrop's colours, because some things get the same colours.


def _backdrop(rng: np.random.Generator, colours: list[Colour]) -> tuple[Backdrop, list[Colour]]:
    kind = _BACKDROP_KINDS[int(np.searchsorted(_BACKDROP_ODDS, rng.random() * _BACKDROP_ODDS[-1]))]
    if kind == "landscape":
        return _landscape(rng)
    if kind == "indoors":
        return _indoors(rng, colours)
    if kind == "empty":
        name = _pick(rng, ("solid", "shaded", "shaded"))
        material = _calm(_material(rng, colours, 0.5, name), rng.uniform(0.3, 0.8))
        materials = (replace(material, seed=1),)
    elif kind == "textured":
        materials = (_calm(_material(rng, colours, 1.0, _pick(rng, NATURAL)), rng.uniform(0.35, 0.8)),)
    elif kind == "patterned":
        materials = (
            _calm(_material(rng, colours, 1.0, _pick(rng, ("striped", "dotted", "checked"))), rng.uniform(0.35, 0.8)),
        )
    elif kind == "cluttered":
        colours_of_tiles = tuple(_pick(rng, colours[:4]) for _ in range(9))
        name, share = _pick(rng, (("pebbled", 0.28), ("pebbled", 0.45), ("woody", 0.5), ("cloudy", 0.6)))
        materials = (Material(name, colours_of_tiles, share, rng.uniform(0, 6.3), _random_seed(rng), crisp=True),)
    else:
        materials = tuple(
            _calm(_material(rng, colours, 0.8), rng.uniform(0.2, 0.8)) for _ in range(int(rng.integers(3, 6)))
        )
    colours_shown = [colour for material in materials for colour in material.colours]
    return Backdrop(kind, materials, seed=_random_seed(rng)), colours_shown


def _landscape(rng: np.random.Generator) -> tuple[Backdrop, list[Colour]]:
    is_evening = rng.random() < 0.35
    hue = rng.uniform(0.64, 0.72) if not is_evening else rng.uniform(0.7, 0.85)
    top_colour = oklch(rng.uniform(0.5, 0.75), rng.uniform(0.06, 0.11), hue)
    haze = oklch(rng.uniform(0.85, 0.93), rng.uniform(0.02, 0.08), rng.uniform(0.1, 0.2) if is_evening else hue)
    sun = oklch(0.93, 0.09, rng.uniform(0.17, 0.27))
    ground_hue = rng.uniform(0.28, 0.4) if rng.random() < 0.75 else rng.uniform(0.08, 0.2)
    grounds = []
    count = int(rng.integers(2, 5))
    for depth in range(count):
        nearness = depth / (count - 1)
        dark_colour = oklch(rng.uniform(0.36, 0.5), rng.uniform(0.05, 0.1), ground_hue + rng.uniform(-0.05, 0.05))
        bright_colour = oklch(rng.uniform(0.58, 0.76), rng.uniform(0.07, 0.12), ground_hue + rng.uniform(-0.07, 0.03))
        ramp = tuple(hazy(colour, haze, 0.65 * (1 - nearness)) for colour in (dark_colour, bright_colour))
        name = _pick(rng, ("cloudy", "furry", "fractal", "pebbled"))
        grounds.append(Material(name, ramp, rng.uniform(0.35, 0.65), 0.0, _random_seed(rng)))
    if rng.random() < 0.4:  # water, in the colours of the sky
        ramp = (mix(top_colour, (30, 50, 80), 0.35), hazy(top_colour, haze, 0.6))
        grounds[-1 if rng.random() < 0.5 else -2] = Material("furry", ramp, 0.5, np.pi / 2, _random_seed(rng))
    clouds = Material("cloudy", (hazy((252, 250, 246), haze, 0.3),), rng.uniform(0.4, 0.68), 0.0, _random_seed(rng))
    horizon = rng.uniform(0.3, 0.65)
    sun_place = (rng.uniform(0.1, 0.9), rng.uniform(0.08, horizon)) if rng.random() < 0.5 else None
    sky = Material("shaded", (top_colour, haze, sun))
    backdrop = Backdrop("landscape", (sky, clouds, *grounds), horizon, sun_place, rng.uniform(0, 1), _random_seed(rng))
    return backdrop, [haze, top_colour, *(colour for ground in grounds for colour in ground.colours)]


def _indoors(rng: np.random.Generator, colours: list[Colour]) -> tuple[Backdrop, list[Colour]]:
    wall = _calm(_material(rng, colours, 1.0, _pick(rng, ("solid", "striped", "checked", "dotted", "cloudy"))), 0.6)
    table = _calm(
        _material(rng, colours, 0.6, _pick(rng, ("woody", "woody", "marbled", "solid", "checked", "cloudy"))), 0.4
    )
    table = replace(table, angle=np.pi / 2 + rng.uniform(-0.1, 0.1))
    backdrop = Backdrop("indoors", (replace(wall, angle=0.0), table), rng.uniform(0.45, 0.7), seed=_random_seed(rng))
    return backdrop, [*wall.colours, *table.colours]


# Things.


def _things(
    rng, colours: list[Colour], backdrop_colours: list[Colour], backdrop: Backdrop, most_things: int, zoom: float
) -> list[Thing]:
    """A few things; often a thing is repeated, far from the first one."""
    count = int(rng.integers(1, most_things + 1))
    things: list[Thing] = []
    while len(things) < count:
        is_repeated = len(things) > 0 and rng.random() < 0.28
        if is_repeated:
            original = _pick(rng, things)
            size = original.size * rng.uniform(0.85, 1.15)
            x, y = _spot(rng, size, [t for t in things if t.kind == original.kind], things, far_apart=True)
            thing = replace(
                original, x=x, y=y, size=size, flip=rng.random() < 0.5, angle=original.angle + rng.uniform(-0.2, 0.2)
            )
        else:
            thing = _thing(rng, colours, backdrop_colours, things, zoom)
        things.append(_on_ground(rng, thing, backdrop))
    has_ground = backdrop.kind in BACKDROPS_WITH_GROUND
    return sorted(things, key=lambda thing: thing.y + thing.size / 2) if has_ground else things


def _thing(
    rng: np.random.Generator,
    colours: list[Colour],
    backdrop_colours: list[Colour],
    earlier_things: list[Thing],
    zoom: float,
) -> Thing:
    shape = _pick(rng, SHAPES)
    size = zoom * SMALLEST_SIZE * (LARGEST_SIZE / SMALLEST_SIZE) ** rng.random() / (1 + 0.06 * len(earlier_things))
    x, y = _spot(rng, size, [], earlier_things)
    turns_freely = shape in ANY_WAY_UP and rng.random() < 0.8
    angle = rng.uniform(0, 6.3) if turns_freely else rng.uniform(-0.3, 0.3)
    materials = _dress(rng, shape, size, colours, backdrop_colours, earlier_things)
    outline_seed = int(rng.integers(OUTLINE_COUNT))
    relief = rng.uniform(0, 0.55)
    shadow = "drop" if rng.random() < 0.6 else "none"
    return Thing(
        shape, x, y, size, materials, outline_seed, angle, bool(rng.random() < 0.5), relief, shadow, len(earlier_things)
    )


def _dress(
    rng, shape: str, size: float, colours, backdrop_colours, earlier_things: list[Thing]
) -> tuple[Material, ...]:
    """Materials for body, second and third part. The body's material decides how well colour reveals the thing."""
    chance = rng.random()
    unused_colours = [colour for colour in colours if colour not in backdrop_colours] or colours
    if shape == "face" and chance < 0.85:
        hair, coat = _pick(rng, _HAIR), _material(rng, colours, size / 2)
        return Material("solid", (_pick(rng, _SKIN),)), Material("solid", (hair,)), coat
    if chance < 0.15:  # the colours of the background
        body = _material(rng, backdrop_colours, size)
    elif chance < 0.28 and earlier_things:  # the colours of another thing
        body = replace(_material(rng, colours, size), colours=_pick(rng, earlier_things).materials[0].colours)
    else:
        body = _material(rng, unused_colours if rng.random() < 0.6 else colours, size)
    if body.name == "solid" and rng.random() < 0.6:
        body = replace(body, name="shaded")
    second_material = (
        Material("solid", _ramp(rng, colours, 1)) if rng.random() < 0.7 else _material(rng, colours, size / 2)
    )
    return body, second_material, Material("solid", _ramp(rng, colours, 1))


def _spot(
    rng, size: float, same_kind: list[Thing], others: list[Thing], far_apart: bool = False
) -> tuple[float, float]:
    """A random place that seldom overlaps other things; with `far_apart`, also far from things of the same
    kind."""
    margin = 0.3 * size
    candidates = rng.uniform(margin, 1 - margin, (8, 2))
    if not others:
        return tuple(candidates[0].tolist())
    places = np.array([(other.x, other.y, other.size) for other in others])  # (others, 3)
    distances = np.hypot(candidates[:, None, 0] - places[:, 0], candidates[:, None, 1] - places[:, 1])  # (8, others)
    clearance = np.minimum((distances / (0.5 * (size + places[:, 2]))).min(1), 0.95)
    if far_apart and same_kind:
        same_places = np.array([(other.x, other.y) for other in same_kind])
        clearance = clearance + np.hypot(
            candidates[:, None, 0] - same_places[:, 0], candidates[:, None, 1] - same_places[:, 1]
        ).min(1)
    elif rng.random() < 0.3:
        return tuple(candidates[0].tolist())
    return tuple(candidates[int(clearance.argmax())].tolist())


def _on_ground(rng: np.random.Generator, thing: Thing, backdrop: Backdrop) -> Thing:
    """The thing, which in a landscape or a room is usually moved onto the ground and casts its shadow there."""
    if backdrop.kind not in BACKDROPS_WITH_GROUND or (thing.shape in _AIRBORNE and rng.random() < 0.7):
        return thing
    if rng.random() < 0.2:
        return thing
    base = rng.uniform(backdrop.horizon + 0.08, 0.97)
    angle = thing.angle if thing.shape in ANY_WAY_UP else thing.angle * 0.25
    return replace(thing, y=base - 0.45 * thing.size, shadow="cast", angle=angle)


# The labels of each patch (object, classes, box), and three baselines for attention rows.

FAMILIES = {  # label of the class token, a family of shapes or materials -> members of the family
    "plain shape": ("disc", "triangle", "square", "star", "ring", "crescent", "heart", "cross", "arrow"),
    "animal or face": ("fish", "bird", "cat", "butterfly", "face"),
    "plant": ("leaf", "flower", "tree", "mushroom", "pear"),
    "made thing": ("house", "mug", "key", "bottle", "car", "boat"),
    "patterned thing": ("striped", "dotted", "checked"),
    "thing of natural texture": ("cloudy", "marbled", "woody", "furry", "scaly", "pebbled", "fractal"),
}
LABELS = (*FAMILIES, *BACKDROPS)  # all labels of the class token
ENOUGH_SEEN = 0.35  # objects with a smaller visible share count as absent
ENOUGH_AREA = 0.008  # objects that cover a smaller share of the picture count as absent, too
FEWEST_PATCHES = 3  # objects with fewer patches are left out when attention is measured


@dataclass(frozen=True)
class PatchTargets:
    """The targets of each patch. A patch of background has −1 as shape and material, and zeros as box."""

    objects: np.ndarray  # (rows, columns) int64: the number of the object that covers most of the patch; 0: none
    shapes: np.ndarray  # (rows, columns) int64, index into SHAPES
    materials: np.ndarray  # (rows, columns) int64, index into MATERIALS
    regions: np.ndarray  # (rows, columns) int64: the part of the background at the patch, behind objects too
    grounds: np.ndarray  # (rows, columns) int64, index into GROUNDS: the ground in that part
    boxes: np.ndarray  # (rows, columns, 4) float32: distances from the patch's centre to its object's sides


def patch_targets(scene: Scene, patch: int = 8) -> PatchTargets:
    objects = _majority(scene.objects, len(scene.shapes) + 1, patch)
    regions = _majority(scene.regions, len(scene.grounds), patch)
    rows, columns = objects.shape
    y, x = (np.arange(rows)[:, None] + 0.5) / rows, (np.arange(columns) + 0.5) / columns
    patch_centres = np.stack(np.broadcast_arrays(x, y, x, y), -1)  # (rows, columns, 4)
    object_sides = np.concatenate([np.zeros((1, 4), np.float32), scene.boxes])[objects]
    is_object = (objects > 0)[..., None]
    return PatchTargets(
        objects=objects,
        shapes=_with_background(scene.shapes)[objects],
        materials=_with_background(scene.materials)[objects],
        regions=regions,
        grounds=scene.grounds[regions],
        boxes=np.where(is_object, (object_sides - patch_centres) * (-1, -1, 1, 1), 0).astype(np.float32),
    )


def _with_background(values: np.ndarray) -> np.ndarray:
    return np.concatenate([[-1], values])


def _majority(numbers: np.ndarray, count: int, patch: int) -> np.ndarray:
    """(rows, columns): the most frequent number in each patch; of equally frequent numbers, the lowest."""
    height, width = numbers.shape
    if height % patch or width % patch:
        raise PlaygroundError(
            f"A picture of {width}×{height} pixels can't be cut into patches of {patch}: choose a multiple."
        )
    rows, columns = height // patch, width // patch
    patch_numbers = (np.arange(height) // patch)[:, None] * columns + np.arange(width) // patch  # (height, width)
    votes = np.bincount((patch_numbers * count + numbers).ravel(), minlength=rows * columns * count).reshape(
        rows, columns, count
    )
    return votes.argmax(-1)


def presence(scene: Scene) -> np.ndarray:
    """Which of LABELS the picture shows: float32 (labels,), zeros and ones. Hardly visible objects don't count."""
    is_clear = plainly_visible(scene)
    names = {SHAPES[i] for i in scene.shapes[is_clear]} | {MATERIALS[i] for i in scene.materials[is_clear]}
    families = [bool(names.intersection(members)) for members in FAMILIES.values()]
    return np.array([*families, *(i == scene.backdrop for i in range(len(BACKDROPS)))], np.float32)


def plainly_visible(scene: Scene) -> np.ndarray:
    """Which objects are visible enough to count as present: bool (objects,)."""
    areas = np.bincount(scene.objects.ravel(), minlength=len(scene.shapes) + 1)[1:]
    return (scene.visible_shares >= ENOUGH_SEEN) & (areas >= ENOUGH_AREA * scene.objects.size)


# Baselines for attention: (patches, patches), rows sum to 1, with 0 on the patch itself.


def area_rows(patches: int) -> np.ndarray:
    """Uniform rows: an object's share of the weight is the object's share of the area."""
    return _without_self(np.zeros((patches, patches), np.float32))


def gaussian_rows(rows: int, columns: int, sigma: float = 1.5) -> np.ndarray:
    """Weights that fall with distance as a Gaussian; `sigma` in patches."""
    y, x = np.divmod(np.arange(rows * columns), columns)
    squared_distances = (y[:, None] - y) ** 2 + (x[:, None] - x) ** 2
    return _without_self(-squared_distances / (2 * sigma**2))


def colour_rows(image: np.ndarray, temperature: float, patch: int = 8) -> np.ndarray:
    """Weights by mean colours (0…1 per channel), in proportion to exp(−distance² / temperature)."""
    height, width = image.shape[:2]
    cells = image.reshape(height // patch, patch, width // patch, patch, 3)
    mean_colours = cells.mean((1, 3)).reshape(-1, 3) / 255  # (patches, 3)
    squared_distances = ((mean_colours[:, None] - mean_colours) ** 2).sum(-1)
    return _without_self(-squared_distances / temperature)


def _without_self(scores: np.ndarray) -> np.ndarray:
    scores = scores.astype(np.float64)
    np.fill_diagonal(scores, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return (weights / weights.sum(1, keepdims=True)).astype(np.float32)
