"""The best moment of a picture: the head and the three patches that show most.

A row is telling where much weight lies far away, on few patches, on what resembles the patch that asks and is not what
everybody listens to, and where both belong to what the picture shows and not to its background. The search asks some
patches that have a far twin, in every head of the upper half of the layers: heads below look at textures.

The browser finds the moment of a person's own photograph with the same lines, in microscope/core/moments.js;
tests/analysis/test_moments.py compares the two. `benchmarks/moments.py` draws what is found on a sheet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from playground.tracing import Trace, softmax_rows

FAR = 0.15  # of the longer side: what is farther away is far
FEW = 0.03  # of the patches
ASKING = 24  # patches with a far twin
CROWD = 12  # patches, evenly spread, whose rows say what everybody listens to
FRAME = 0.08  # of each side: what lies in this frame counts half
APART = 0.1  # of the longer side: two of the three patches are farther from each other
MOST_TAKEN = 4  # times the mean weight: more from the class token is not taken as a sign of the picture's subject

Rows = Callable[[int, int, np.ndarray], np.ndarray]  # (layer, head, tokens that ask) -> (asking, tokens)


@dataclass(frozen=True)
class Moment:
    layer: int
    head: int
    patches: tuple[int, ...]  # who asks, the most telling first
    tells: tuple[float, ...]  # how telling each of their rows is
    score: float


@dataclass(frozen=True)
class Scene:
    """What is known of a picture before any head is looked at."""

    grid: tuple[int, int]
    prefix: int
    toward: np.ndarray  # (patches, width): see `directions`
    subject: np.ndarray  # (patches,): 0 background … 1 what the picture shows

    @property
    def far(self) -> float:
        return FAR * max(self.grid)


def best_moments(seen: Trace) -> list[Moment]:
    """The moment of each head of the upper half, the best first."""

    def rows(layer: int, head: int, tokens: np.ndarray) -> np.ndarray:
        q, k = (x[head].cpu().float() for x in seen.record[layer][:2])
        return softmax_rows(q[tokens], k, seen.scale).numpy()

    layers = [layer for layer in sorted(seen.record) if layer >= seen.layers // 2]
    toward = directions(late_keys(seen), len(seen.prefix))
    return moments(rows, layers, seen.heads, toward, seen.prefix, seen.grid)


def moments(
    rows: Rows, layers: list[int], heads: int, toward: np.ndarray, prefix: tuple[str, ...], grid: tuple[int, int]
) -> list[Moment]:
    has_class = prefix[:1] == ("cls",)
    front = len(prefix)
    at_class = [rows(layer, head, np.array([0]))[0, front:] for layer in layers for head in range(heads) if has_class]
    scene = Scene(grid, front, toward, subject(toward, grid, at_class))
    asking, crowd = front + twins(scene), front + spread(grid, CROWD)
    found = []
    for layer in layers:
        for head in range(heads):
            usual = rows(layer, head, crowd)[:, front:].mean(0)
            lit = telling(rows(layer, head, asking)[:, front:], asking - front, usual, scene)
            found.append(_moment(layer, head, asking - front, lit, scene))
    return sorted(found, key=lambda moment: -moment.score)


def late_keys(seen: Trace) -> np.ndarray:
    """(tokens, width): the keys of all heads of a late layer. What its attention goes by serves as its features, and
    the browser has it without a question to anybody."""
    return seen.record[seen.upper_layer].k.cpu().float().transpose(0, 1).flatten(1).numpy()


def spread(grid: tuple[int, int], most: int) -> np.ndarray:
    """The numbers of at most about `most` patches on a lattice."""
    rows, columns = grid
    step = max(1, int((rows * columns / most) ** 0.5))
    down, across = (np.arange(step // 2, side, step) for side in grid)
    return (down[:, None] * columns + across).ravel()


def directions(features: np.ndarray, prefix: int) -> np.ndarray:
    """(tokens, width) -> (patches, width): unit vectors of what sets each patch apart from the mean patch."""
    unit = _unit(features[prefix:].astype(np.float32))
    return _unit(unit - unit.mean(0))


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def subject(toward: np.ndarray, grid: tuple[int, int], at_class: list[np.ndarray]) -> np.ndarray:
    """What the class token looks at in all these heads, and what does not resemble the picture's edge: as ranks."""
    high, wide = grid
    down, right = np.divmod(np.arange(high * wide), wide)
    down, right = np.minimum(down, high - 1 - down), np.minimum(right, wide - 1 - right)
    edge = (down == 0) | (right == 0)
    unlike = ranks(smooth(-(toward @ toward[edge].mean(0)), grid))
    if at_class:
        most = MOST_TAKEN / len(toward)
        looked = sum(np.minimum(row / max(row.sum(), 1e-12), most) for row in at_class)
        unlike = ranks(unlike + ranks(smooth(looked, grid)))
    return unlike * np.where(np.minimum(down / high, right / wide) < FRAME, 0.5, 1)


def smooth(values: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """The sum of each patch's 3 × 3 surroundings."""
    padded = np.pad(values.reshape(grid), 1, mode="edge")
    return sum(padded[i : i + grid[0], j : j + grid[1]] for i in range(3) for j in range(3)).ravel()


def ranks(values: np.ndarray) -> np.ndarray:
    """0 for the smallest … 1 for the largest; of equal ones the first is smaller."""
    return values.argsort(kind="stable").argsort(kind="stable") / max(1, len(values) - 1)


def apart(one: np.ndarray, others: np.ndarray, wide: int) -> np.ndarray:
    """(one, others): how many rows or columns lie between two patches."""
    down, right = (abs(f(one, wide)[:, None] - f(others, wide)) for f in (np.floor_divide, np.mod))
    return np.maximum(down, right)


def twins(scene: Scene) -> np.ndarray:
    """Patches that something far away resembles, and not much of the picture."""
    some = spread(scene.grid, len(scene.toward) // 4)
    alike = scene.toward[some] @ scene.toward[some].T
    away = apart(some, some, scene.grid[1])
    best = np.sort(np.where(away > scene.far, alike, -1), axis=1)[:, -3:].mean(1)
    usual = np.sqrt((np.maximum(alike, 0) ** 2).mean(1))
    left = (best - usual + 0.5) * scene.subject[some]
    found = []
    for _ in range(min(ASKING, len(some))):
        here = int(left.argmax())
        found.append(some[here])
        left[away[here] <= 2] -= 0.5
    return np.array(found)


def telling(patches: np.ndarray, asking: np.ndarray, usual: np.ndarray, scene: Scene) -> np.ndarray:
    """Rows (asking, patches) -> what of each weight is telling."""
    alike = np.maximum(scene.toward[asking] @ scene.toward.T, 0)
    away = apart(asking, np.arange(len(usual)), scene.grid[1]) > scene.far
    beyond = np.maximum(0, patches - 2 * usual)
    return beyond * alike * away * scene.subject * scene.subject[asking][:, None]


def tells(lit: np.ndarray) -> np.ndarray:
    """(asking, patches) -> (asking,): how much lies on the few patches that have most."""
    few = max(3, int(FEW * lit.shape[1]))
    return np.sort(lit, axis=1)[:, -few:].sum(1)


def _moment(layer: int, head: int, asking: np.ndarray, lit: np.ndarray, scene: Scene) -> Moment:
    """The three patches that show most, and not the same."""
    each = tells(lit)
    shares = lit / np.maximum(lit.sum(1, keepdims=True), 1e-12)
    left, score, chosen = each.copy(), 0.0, []
    for weight in (1, 0.5, 0.5):
        best = int(left.argmax())
        score += weight * max(0.0, float(left[best]))
        chosen.append(best)
        left *= 1 - np.minimum(shares[best], shares).sum(1)
        left[apart(asking[[best]], asking, scene.grid[1])[0] <= APART * max(scene.grid)] *= 0.3
        left[np.isin(asking, asking[chosen])] = -1  # of a small picture a patch may stand among them twice
    return Moment(layer, head, tuple(int(asking[i]) for i in chosen), tuple(float(each[i]) for i in chosen), score)
