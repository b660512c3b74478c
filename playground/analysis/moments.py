"""The best moment of a picture: the head and the three patches that show most.

A row is telling where its brightest patches lie far away, together, and resemble the patch that asks without being one
thing with it; where the patch that asks lies in a small region (an eye, a wheel, a window, not an outline or a wall);
where it is not what everybody listens to; and where both belong to what the picture shows and not to its background.
The search asks some patches of the subject that have a far twin there, in every head of the upper half of the layers:
heads below look at textures. Under STRIKING nothing in the picture strikes anybody.

What colour and nearness alone would light (analysis/colour_nearness.py) is not taken off a second time: it gives
little to what is far. Of 34 photographs it changed some choices, as many for the worse as for the better.

The browser finds the moment of a person's own photograph with the same lines, in microscope/core/moments.js;
tests/analysis/test_moments.py compares the two. `benchmarks/moments.py` draws what is found on a sheet;
`benchmarks/striking.py` says how often it struck who looked at it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from playground.tracing import Trace, softmax_rows

BESIDE = 0.03  # of the longer side: nearer partners do not count
FAR = 0.25  # of the longer side: at this distance or more a partner counts in full
SUBJECT = 400  # patches that are searched for partners: those that belong most to the picture's subject
ASKING = 24  # patches with a far partner whose rows are compared
REGION = 0.4  # the cosine from which a patch belongs to the region of the one that asks
WALL = 0.3  # of the picture: a region of this size tells half
SEEN = 0.45  # the cosine that the brightest patch of a telling row has at least
PLAIN = 0.1  # of what it would tell: a row whose brightest patch is no far part like the one that asks
ISLAND = 2  # patches around the one that tells most
CROWD = 8  # patches, evenly spread, whose rows say what everybody listens to
ALIKE = 0.35  # the cosine from which a patch resembles another
NEAR = 0.07  # of the longer side: how far the neighbourhood reaches
FRAME = 0.08  # of each side: what lies in this frame counts half
APART = 0.1  # of the longer side: two of the three patches are farther from each other
MOST_TAKEN = 4  # times the mean weight: more from the class token is not taken as a sign of the picture's subject
STRIKING = 0.044  # what tells less strikes nobody

Rows = Callable[[int, int, np.ndarray], np.ndarray]  # (layer, head, tokens that ask) -> (asking, tokens)


@dataclass(frozen=True)
class Moment:
    layer: int
    head: int
    patches: tuple[int, ...]  # who asks, the most telling first
    tells: tuple[float, ...]  # how telling each of their rows is


@dataclass(frozen=True)
class Scene:
    """What is known of a picture before any head is looked at."""

    grid: tuple[int, int]
    prefix: int
    toward: np.ndarray  # (patches, width): see `directions`
    subject: np.ndarray  # (patches,): 0 background … 1 what the picture shows, as cubes of ranks

    def farness(self, one: np.ndarray, others: np.ndarray) -> np.ndarray:
        """(one, others): 0 near … 1 far."""
        away = apart(one, others, self.grid[1]) / max(self.grid)
        return np.clip((away - BESIDE) / (FAR - BESIDE), 0, 1)


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
    scene = Scene(grid, front, toward, subject(toward, grid, at_class) ** 3)
    asking, crowd = twins(scene), front + spread(grid, CROWD)
    alike = toward[asking] @ toward.T
    worth = worths(scene, asking, alike)
    striking = []
    for layer in layers:
        for head in range(heads):
            usual = rows(layer, head, crowd)[:, front:].mean(0)
            weights = rows(layer, head, front + asking)[:, front:]
            lit = np.maximum(0, weights - 3 * usual) * worth
            each = np.array([tells(*row, grid) for row in zip(lit, weights, alike, asking, strict=True)])
            striking.append(_moment(layer, head, asking, lit, each, grid))
    return sorted(striking, key=lambda moment: -moment.tells[0])


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


def reach(grid: tuple[int, int]) -> int:
    return max(1, round(NEAR * max(grid)))


def component(chosen: np.ndarray, patch: int, grid: tuple[int, int]) -> np.ndarray:
    """(patches,): the chosen patches that hang together with this one, side by side; itself too."""
    high, wide = grid
    reached = np.zeros(high * wide, bool)
    reached[patch] = True
    left = [patch]
    while left:
        here = left.pop()
        row, column = divmod(here, wide)
        for there, is_inside in (
            (here - wide, row > 0),
            (here + wide, row < high - 1),
            (here - 1, column > 0),
            (here + 1, column < wide - 1),
        ):
            if is_inside and chosen[there] and not reached[there]:
                reached[there] = True
                left.append(there)
    return reached


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
    """Patches of the subject that another far away in it resembles."""
    some = np.argsort(-scene.subject, kind="stable")[:SUBJECT]
    alike = np.maximum(scene.toward[some] @ scene.toward[some].T, 0)
    left = (alike**3 * scene.farness(some, some) * scene.subject[some]).max(1) * scene.subject[some]
    away = apart(some, some, scene.grid[1])
    resembling = []
    for _ in range(min(ASKING, len(some))):
        here = int(left.argmax())
        resembling.append(some[here])
        left[away[here] <= 1] *= 0.8
        left[here] = -1
    return np.array(resembling)


def worths(scene: Scene, asking: np.ndarray, alike: np.ndarray) -> np.ndarray:
    """(asking, patches): what a weight there tells."""
    by = []
    for patch, alikes in zip(asking, alike, strict=True):
        region = np.flatnonzero(component(alikes >= REGION, patch, scene.grid))
        reaches = max(1, apart(np.array([patch]), region, scene.grid[1]).max())
        full = min(1, len(region) / reaches**2)  # an outline fills little of its surroundings
        by.append(full**0.5 / (1 + ((alikes >= REGION).mean() / WALL) ** 2))
    far = scene.farness(asking, np.arange(len(scene.subject)))
    both = scene.subject * (scene.subject[asking] * by)[:, None]
    return np.maximum(alike, 0) ** 3 * far * both


def tells(lit: np.ndarray, weights: np.ndarray, alike: np.ndarray, patch: int, grid: tuple[int, int]) -> float:
    """How much is telling in a row, and how much of it lies together where it is brightest; little if what is
    brightest in the row is something else. All of (patches,)."""
    if not lit.sum() > 0:
        return 0.0
    most, peak = int(weights.argmax()), int(lit.argmax())
    island = lit[apart(np.array([peak]), np.arange(len(lit)), grid[1])[0] <= ISLAND].sum()
    same = component((alike >= ALIKE) & (weights >= weights.mean()), patch, grid)
    away = apart(np.array([patch]), np.array([most]), grid[1]).item()
    shows = alike[most] >= SEEN and away > reach(grid) and not same[most] and not same[peak]
    return float((island * lit.sum()) ** 0.5 * weights[peak] / weights[most] * (1 if shows else PLAIN))


def _moment(
    layer: int, head: int, asking: np.ndarray, lit: np.ndarray, each: np.ndarray, grid: tuple[int, int]
) -> Moment:
    """The three patches that show most, and neither ask nor look at the same place."""
    peaks = lit.argmax(1)
    left: np.ndarray = each.copy()
    chosen: list[int] = []
    while len(chosen) < 3:
        best = int(left.argmax())
        chosen.append(best)
        for places in (asking, peaks):
            left[apart(places[[best]], places, grid[1])[0] <= APART * max(grid)] *= 0.3
        left[chosen] = -1
    return Moment(layer, head, tuple(int(asking[i]) for i in chosen), tuple(float(each[i]) for i in chosen))
