"""The labels of each patch (object, classes, box), and three baselines for attention rows."""

from dataclasses import dataclass

import numpy as np

from playground.errors import PlaygroundError
from playground.scenes.backdrops import BACKDROPS
from playground.scenes.drawing import Scene
from playground.scenes.silhouettes import SHAPES
from playground.scenes.textures import MATERIALS

FAMILIES = {  # of shapes and of materials: labels of the class token
    "plain shape": ("disc", "triangle", "square", "star", "ring", "crescent", "heart", "cross", "arrow"),
    "animal or face": ("fish", "bird", "cat", "butterfly", "face"),
    "plant": ("leaf", "flower", "tree", "mushroom", "pear"),
    "made thing": ("house", "mug", "key", "bottle", "car", "boat"),
    "patterned thing": ("striped", "dotted", "checked"),
    "thing of natural texture": ("cloudy", "marbled", "woody", "furry", "scaly", "pebbled", "fractal"),
}
LABELS = (*FAMILIES, *BACKDROPS)  # all labels of the class token
ENOUGH_SEEN = 0.35  # objects with a smaller visible share count as absent
ENOUGH_AREA = 0.008  # objects that cover less of the picture, too
FEWEST_PATCHES = 3  # objects with fewer patches are left out when attention is measured


@dataclass(frozen=True)
class PatchTargets:
    """One entry per patch, in rows and columns of the grid; −1 and zeros where there is only background."""

    objects: np.ndarray  # (rows, columns) int64: which object covers most of the patch, 0 for the background
    shapes: np.ndarray  # (rows, columns) int64, index into SHAPES
    materials: np.ndarray  # (rows, columns) int64, index into MATERIALS
    regions: np.ndarray  # (rows, columns) int64: the part of the background at the patch, behind objects too
    grounds: np.ndarray  # (rows, columns) int64, index into GROUNDS: what that part is
    boxes: np.ndarray  # (rows, columns, 4) float32: from the patch's centre to its object's four sides


def patch_targets(scene: Scene, patch: int = 8) -> PatchTargets:
    objects = _majority(scene.objects, len(scene.shapes) + 1, patch)
    regions = _majority(scene.regions, len(scene.grounds), patch)
    rows, columns = objects.shape
    y, x = (np.arange(rows)[:, None] + 0.5) / rows, (np.arange(columns) + 0.5) / columns
    centre = np.stack(np.broadcast_arrays(x, y, x, y), -1)  # (rows, columns, 4)
    sides = np.concatenate([np.zeros((1, 4), np.float32), scene.boxes])[objects]
    inside = (objects > 0)[..., None]
    return PatchTargets(
        objects=objects,
        shapes=_of_object(scene.shapes)[objects],
        materials=_of_object(scene.materials)[objects],
        regions=regions,
        grounds=scene.grounds[regions],
        boxes=np.where(inside, (sides - centre) * (-1, -1, 1, 1), 0).astype(np.float32),
    )


def _of_object(values: np.ndarray) -> np.ndarray:
    return np.concatenate([[-1], values])


def _majority(numbers: np.ndarray, count: int, patch: int) -> np.ndarray:
    """(rows, columns): the most frequent number in each patch, the lowest one on a tie."""
    height, width = numbers.shape
    if height % patch or width % patch:
        raise PlaygroundError(
            f"A picture of {width}×{height} pixels can't be cut into patches of {patch}: choose a multiple."
        )
    rows, columns = height // patch, width // patch
    cell = (np.arange(height) // patch)[:, None] * columns + np.arange(width) // patch  # (height, width)
    votes = np.bincount((cell * count + numbers).ravel(), minlength=rows * columns * count).reshape(
        rows, columns, count
    )
    return votes.argmax(-1)


def presence(scene: Scene) -> np.ndarray:
    """Which of LABELS the picture shows: float32 (labels,), zeros and ones. Hardly visible objects don't count."""
    clear = plainly_visible(scene)
    seen = {SHAPES[i] for i in scene.shapes[clear]} | {MATERIALS[i] for i in scene.materials[clear]}
    families = [bool(seen.intersection(members)) for members in FAMILIES.values()]
    return np.array([*families, *(i == scene.backdrop for i in range(len(BACKDROPS)))], np.float32)


def plainly_visible(scene: Scene) -> np.ndarray:
    """Which objects are visible enough to count as present: bool (objects,)."""
    seen = np.bincount(scene.objects.ravel(), minlength=len(scene.shapes) + 1)[1:]
    return (scene.visible >= ENOUGH_SEEN) & (seen >= ENOUGH_AREA * scene.objects.size)


# Baselines for attention: (patches, patches), rows sum to 1, with 0 on the patch itself.


def area_rows(patches: int) -> np.ndarray:
    """Uniform rows: the mass on an object is its share of the area."""
    return _without_self(np.zeros((patches, patches), np.float32))


def gaussian_rows(rows: int, columns: int, sigma: float = 1.5) -> np.ndarray:
    """A Gaussian of the distance; `sigma` in patches."""
    y, x = np.divmod(np.arange(rows * columns), columns)
    squared = (y[:, None] - y) ** 2 + (x[:, None] - x) ** 2
    return _without_self(-squared / (2 * sigma**2))


def colour_rows(image: np.ndarray, temperature: float, patch: int = 8) -> np.ndarray:
    """Similarity of mean colours (0…1 per channel): exp(−distance² / temperature)."""
    height, width = image.shape[:2]
    cells = image.reshape(height // patch, patch, width // patch, patch, 3)
    means = cells.mean((1, 3)).reshape(-1, 3) / 255  # (patches, 3)
    squared = ((means[:, None] - means) ** 2).sum(-1)
    return _without_self(-squared / temperature)


def _without_self(scores: np.ndarray) -> np.ndarray:
    scores = scores.astype(np.float64)
    np.fill_diagonal(scores, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return (weights / weights.sum(1, keepdims=True)).astype(np.float32)
