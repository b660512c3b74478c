"""Measures how well a model's attention finds objects, on pictures with known masks, and reads these measurements of
the bundled model.

A row's *mass* is its share on the query's own object, the query itself excluded; only patches of objects are queries.
The best head, and the parameters of the baselines (area, Gaussian, mean colour, both together), are chosen on other
pictures than those that are measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from playground.analysis import colour_nearness, heads
from playground.assets import ASSETS
from playground.scenes.backdrops import BACKDROPS
from playground.scenes.drawing import Scene
from playground.scenes.generate import (
    FAMILIES,
    FEWEST_PATCHES,
    LABELS,
    area_rows,
    colour_rows,
    gaussian_rows,
    patch_targets,
    presence,
)
from playground.scenes.silhouettes import SHAPES
from playground.scenes.textures import MATERIALS
from playground.tracing import Trace, trace
from playground.vit import VisionTransformer

SIGMAS = (0.7, 1.0, 1.5, 2.0)  # of the Gaussian
TEMPERATURES = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)  # of the mean-colour kernel
SET = 0.6  # a row "marks" the fewest patches that together hold this share of it
DISTANT = 3  # patches, across or down: another patch at this distance or more is far
UNLIKE = 0.25  # mean colours farther apart than this are unlike; red, green and blue go from 0 to 1
LAST = 2  # number of last layers in which the class token's rows are measured
GROUPS = {"families": len(FAMILIES), "backdrops": len(BACKDROPS)}  # of LABELS, in order


@dataclass(frozen=True)
class Asked:
    """A scene's query patches (S of P), and the masks that their rows are compared with."""

    queries: Tensor  # (S,) patch numbers
    same: Tensor  # (S, P) bool: patches on the query's object, without the query itself
    own: Tensor  # (S, P) bool: the query itself
    near: Tensor  # (S, P) bool: the query and its eight neighbours
    objects: Tensor  # (P,) bool: on any object

    @staticmethod
    def of(objects: np.ndarray) -> Asked:
        """`objects` (rows, columns): the number of each patch's object, 0 for none."""
        y, x = (torch.from_numpy(n.ravel()) for n in np.indices(objects.shape))
        number = torch.from_numpy(objects.ravel().astype(np.int64))
        queries = torch.nonzero((number > 0) & (number.bincount()[number] >= FEWEST_PATCHES))[:, 0]
        itself = queries[:, None] == torch.arange(len(number))
        near = ((y - y[queries, None]).abs() <= 1) & ((x - x[queries, None]).abs() <= 1)
        same = (number[queries, None] == number) & ~itself
        return Asked(queries, same, itself, near, number > 0)


def measure(vit: VisionTransformer, scenes: Sequence[Scene], others: Sequence[Scene]) -> dict:
    """The numbers of the model card that are measured on `scenes`; head and baseline parameters are chosen on
    `others`."""
    here, on_others = Sums(vit, scenes), Sums(vit, others)
    best = _best(on_others.mass)
    far_best, set_best = _best(on_others.far), _best(on_others.overlap)
    gaussian, colour = int(on_others.gaussian.argmax()), int(on_others.colour.argmax())
    filter_setting, far_both = int(on_others.filter.argmax()), int(on_others.far_filter.argmax())
    kinds = heads.average(here.habits).kinds(here.mass.numpy())
    flat = [kind for layer in kinds for kind in layer]
    scores = f1(torch.stack(here.said), torch.stack(here.true))
    return {
        "scenes": len(scenes),
        "best head": best,
        "mass": float(here.mass[best]),
        "mass, prefix counted": float(here.whole[best]),
        "area": float(here.area),
        "gaussian": float(here.gaussian[gaussian]),
        "colour": float(here.colour[colour]),
        "filter": float(here.filter[filter_setting]),
        "filter's widths": colour_nearness.SETTINGS[filter_setting],
        "beyond the filter": mean_and_error(here.of_scenes("near", best, filter_setting)),
        "far head": far_best,
        "far mass": float(here.far[far_best]),
        "far area": float(here.far_area),
        "far gaussian": float(here.far_gaussian[gaussian]),
        "far colour": float(here.far_colour[colour]),
        "far filter": float(here.far_filter[far_both]),
        "far filter's widths": colour_nearness.SETTINGS[far_both],
        "far beyond the filter": mean_and_error(here.of_scenes("far", far_best, far_both)),
        "heads above half": int((here.mass > 0.5).sum()),
        "layers": [float(here.mass[layer, int(on_others.mass[layer].argmax())]) for layer in range(vit.config.depth)],
        "overlap head": set_best,
        "overlap": float(here.overlap[set_best]),
        "f1": float(scores.mean()),
        "f1 of yes": float(f1(torch.ones_like(torch.stack(here.true)), torch.stack(here.true)).mean()),
        "f1 by group": {name: float(part.mean()) for name, part in zip(GROUPS, _split(scores), strict=True)},
        "f1 by label": dict(zip(LABELS, scores.tolist(), strict=True)),
        "class token on objects": float(np.mean(here.class_mass)),
        "area of objects": float(np.mean(here.object_area)),
        "kinds": kinds,
        "idle": flat.count(heads.IDLE.label) / len(flat),
    }


class Sums:
    """The results of one pass over scenes. Tables are (layers, heads), the mean over all queries."""

    def __init__(self, vit: VisionTransformer, scenes: Sequence[Scene]):
        patch = vit.config.patch_size
        self.habits, self.said, self.true, self.class_mass, self.object_area = [], [], [], [], []
        near, far = [], []  # sums over patches, and how many, for each scene
        self._parts = {"near": near, "far": far}
        for scene in scenes:
            questions = Asked.of(patch_targets(scene, patch).objects)
            seen = trace(vit, Image.fromarray(scene.image), size=scene.objects.shape)
            self.habits.append(heads.look(seen))
            self.said.append(seen.logits.sigmoid() > 0.5)
            self.true.append(torch.from_numpy(presence(scene)) > 0)
            self._class_token(seen, questions)
            if len(questions.queries):
                rows = _rows(seen, questions)
                plain = _plain_rows(scene, patch, questions)
                near.append(_near(rows, plain, questions))
                far.append(_far(rows, plain, questions))
        self.mass, self.whole, self.overlap, self.area, self.gaussian, self.colour, self.filter = _means(near)
        self.far, self.far_area, self.far_gaussian, self.far_colour, self.far_filter = _means(far)

    def of_scenes(self, kind: str, head: tuple[int, int], setting: int) -> Tensor:
        """(scenes,): by how much this head's mass on the own object exceeds the filter's, for "near" or "far"."""
        return torch.stack([(t[0][head] - t[-1][setting]) / count for t, count in self._parts[kind] if count])

    def _class_token(self, seen: Trace, questions: Asked) -> None:
        if not questions.objects.any():
            return
        for layer in range(seen.layers - LAST, seen.layers):
            row = seen.rows(layer, "cls")[:, len(seen.prefix) :].mean(0)  # (P,)
            self.class_mass.append(float(row[questions.objects].sum() / row.sum()))
            self.object_area.append(float(questions.objects.float().mean()))


def own_mass(vit: VisionTransformer, pictures: Sequence[np.ndarray], grids: Sequence[np.ndarray]) -> Tensor:
    """(layers, heads): the mean mass on pictures whose grids say which object each patch belongs to."""
    total, count = torch.zeros(vit.config.depth, vit.config.heads), 0
    for picture, grid in zip(pictures, grids, strict=True):
        questions = Asked.of(grid)
        if len(questions.queries):
            size = tuple(side * vit.config.patch_size for side in grid.shape)
            rows = _rows(trace(vit, Image.fromarray(picture), size=size), questions)
            total += _share(rows[..., -grid.size :], questions.same, ~questions.own).sum(-1)
            count += len(questions.queries)
    return total / max(1, count)


@dataclass(frozen=True)
class Shares:
    """The share of its weight that a patch gives to the object that it lies on, (pictures, candidates): the mean over
    patches, nan if no patch was measured. Candidates are heads, or settings of the filter."""

    near: Tensor  # of the weight on other patches
    far: Tensor  # of the weight on patches beyond the eight neighbours
    unlike: Tensor  # of the weight on distant patches of an unlike colour

    @staticmethod
    def of(pictures: Sequence[np.ndarray], grids: Sequence[np.ndarray], rows_of: Callable) -> Shares:
        """`rows_of(picture, grid, questions)` gives rows (candidates, S, P)."""
        shares = []
        for picture, grid in zip(pictures, grids, strict=True):
            questions = Asked.of(grid)
            allowed = (~questions.own, ~questions.near, _distant_and_unlike(picture, grid, questions))
            rows = rows_of(picture, grid, questions)
            shares.append([_mean_share(rows, questions.same, some) for some in allowed])
        return Shares(*(torch.stack(kind) for kind in zip(*shares, strict=True)))


def of_heads(vit: VisionTransformer) -> Callable:
    """The rows of all heads, layer after layer."""

    def rows_of(picture: np.ndarray, grid: np.ndarray, questions: Asked) -> Tensor:
        size = tuple(side * vit.config.patch_size for side in grid.shape)
        return _rows(trace(vit, Image.fromarray(picture), size=size), questions)[..., -grid.size :].flatten(0, 1)

    return rows_of


def of_filter(picture: np.ndarray, grid: np.ndarray, questions: Asked) -> Tensor:
    """The rows of the filter without a network, one setting after another."""
    colours = colour_nearness.mean_colours(picture, grid.shape)
    both = colour_nearness.differences(colours, questions.queries.numpy())
    every = [colour_nearness.weights(*both, *setting) for setting in colour_nearness.SETTINGS]
    return torch.from_numpy(np.stack(every))


def of_area(picture: np.ndarray, grid: np.ndarray, questions: Asked) -> Tensor:
    """Even rows."""
    return torch.ones(1, len(questions.queries), grid.size)


def chosen(shares: Tensor, here: Tensor) -> tuple[int, Tensor]:
    """The candidate with the best mean of `shares`, and its shares on other pictures, `here`: (pictures,). Both tables:
    (pictures, candidates)"""
    best = int(shares.nanmean(0).argmax())
    return best, here[:, best]


def mean_and_error(values: Tensor) -> tuple[float, float]:
    """Mean of the numbers that are not nan, and its standard error over pictures."""
    known = values[~values.isnan()].double()
    return float(known.mean()), float(known.std() / max(1, len(known)) ** 0.5)


def _distant_and_unlike(picture: np.ndarray, grid: np.ndarray, questions: Asked) -> Tensor:
    """(S, P) bool: distant patches of another colour."""
    colours = torch.from_numpy(colour_nearness.mean_colours(picture, grid.shape)).flatten(0, 1)
    y, x = (torch.from_numpy(n.ravel()) for n in np.indices(grid.shape))
    away = torch.maximum((y - y[questions.queries, None]).abs(), (x - x[questions.queries, None]).abs())
    return (away >= DISTANT) & (torch.cdist(colours[questions.queries], colours) > UNLIKE)


def _share(rows: Tensor, same: Tensor, allowed: Tensor) -> Tensor:
    """(…, S, P) -> (…, S): the own object's share of the weight on allowed patches."""
    rest = rows * allowed
    return (rest * same).sum(-1) / rest.sum(-1).clamp(min=1e-9)


def _mean_share(rows: Tensor, same: Tensor, allowed: Tensor) -> Tensor:
    """(candidates, S, P) -> (candidates,): mean over queries whose object reaches into the allowed patches."""
    some = (same & allowed).any(-1)
    return _share(rows[:, some], same[some], allowed[some]).mean(-1)


def _rows(seen: Trace, questions: Asked) -> Tensor:
    """(layers, heads, S, tokens): the rows of the queries."""
    queries = (len(seen.prefix) + questions.queries).tolist()
    return torch.stack([seen.weights(layer, queries) for layer in range(seen.layers)])


def _plain_rows(scene: Scene, patch: int, questions: Asked) -> list[Tensor]:
    """Baselines without a network: uniform, Gaussian by distance, mean colour, both. (settings, S, P) each."""
    rows, columns = (side // patch for side in scene.objects.shape)
    grid = np.zeros((rows, columns))
    plain = (
        [area_rows(rows * columns)],
        [gaussian_rows(rows, columns, sigma) for sigma in SIGMAS],
        [colour_rows(scene.image, temperature, patch) for temperature in TEMPERATURES],
    )
    return [
        *(torch.from_numpy(np.stack(kind))[:, questions.queries] for kind in plain),
        of_filter(scene.image, grid, questions),
    ]


def _near(rows: Tensor, plain: list[Tensor], questions: Asked) -> tuple[list[Tensor], int]:
    patches = rows[..., -questions.same.shape[1] :]
    front = rows.sum(-1) - patches.sum(-1)
    others = patches.masked_fill(questions.own, 0)
    on_own = (others * questions.same).sum(-1)  # (layers, heads, S)
    mass = _share(patches, questions.same, ~questions.own)
    whole = on_own / (others.sum(-1) + front).clamp(min=1e-9)
    tables = [mass, whole, _overlap(others, questions.same), *((p * questions.same).sum(-1) for p in plain)]
    return [t.sum(-1) for t in tables], len(questions.queries)


def _far(rows: Tensor, plain: list[Tensor], questions: Asked) -> tuple[list[Tensor], int]:
    """The mass without the eight neighbours, for queries whose object is larger than them."""
    beyond = (questions.same & ~questions.near).any(-1)
    same, allowed = questions.same[beyond], ~questions.near[beyond]
    tables = (rows[..., -questions.same.shape[1] :], *plain)
    return [_share(table[..., beyond, :], same, allowed).sum(-1) for table in tables], int(beyond.sum())


def _overlap(rows: Tensor, same: Tensor) -> Tensor:
    """Jaccard overlap between the patches that a row marks and the query's object: (…, S)."""
    ranked, order = rows.sort(-1, descending=True)
    larger = ranked.cumsum(-1) - ranked
    marked = larger < SET * ranked.sum(-1, keepdim=True)
    hit = same.expand(rows.shape).gather(-1, order)
    return (marked & hit).sum(-1) / (marked | hit).sum(-1).clamp(min=1)


def _means(parts: list[tuple[list[Tensor], int]]) -> list[Tensor]:
    count = max(1, sum(n for _, n in parts))
    return [torch.stack(tables).sum(0) / count for tables in zip(*(tables for tables, _ in parts), strict=True)]


def _best(table: Tensor) -> tuple[int, int]:
    """(layer, head) of the largest number."""
    layer, head = divmod(int(table.argmax()), table.shape[1])
    return layer, head


def _split(scores: Tensor) -> tuple[Tensor, ...]:
    return scores.split(list(GROUPS.values()))


def f1(predicted: Tensor, true: Tensor) -> Tensor:
    """Predicted and true (images, labels) bool -> F1 of each label: 2 · hits / (predicted + true)."""
    hits = (predicted & true).sum(0)
    return 2 * hits / (predicted.sum(0) + true.sum(0)).clamp(min=1)


def on_the_named(vit: VisionTransformer, scenes: Sequence[Scene]) -> dict[str, float]:
    """For each family of things that a scene shows and the model names: the share of the class token's map that lies on
    them, prefix tokens left out, and their share of the patches ("area"). Means over families and scenes. "attention"
    is the mean over heads of the last two layers."""
    by_method: dict[str, list[float]] = {"attention": [], "rollout": [], "gradient": [], "area": []}
    for scene in scenes:
        patch, present = vit.config.patch_size, presence(scene)
        seen = trace(vit, Image.fromarray(scene.image), size=scene.objects.shape)
        confidence = vit.config.shares(seen.logits)  # type: ignore[arg-type]
        targets, front = patch_targets(scene, patch), len(seen.prefix)
        rolled = seen.rollout("cls")[front:]
        last = torch.stack(
            [seen.rows(layer, "cls")[:, front:].mean(0) for layer in range(seen.layers - LAST, seen.layers)]
        )
        looked = (last / last.sum(-1, keepdim=True)).mean(0)
        for number, (name, members) in enumerate(FAMILIES.items()):
            if not present[number] or confidence[LABELS.index(name)] < 0.5:
                continue
            shapes = [SHAPES.index(member) for member in members if member in SHAPES]
            stuffs = [MATERIALS.index(member) for member in members if member in MATERIALS]
            on = np.isin(targets.shapes, shapes) | np.isin(targets.materials, stuffs)
            mask = torch.from_numpy((on & (targets.objects > 0)).ravel())
            moved = seen.relevance(label=LABELS.index(name), method="chefer")[front:]
            rows = {"attention": looked, "rollout": rolled, "gradient": moved, "area": torch.ones(len(mask))}
            for method, row in rows.items():
                if float(row.sum()) > 0:
                    by_method[method].append(float(row[mask].sum() / row.sum()))
    return {method: float(np.mean(shares)) for method, shares in by_method.items()}


# Measurements of the bundled model and of the filter without a network, read from its card, assets/MODEL.md, which
# `python benchmarks/bundled.py --write-card` writes. Documentation and the lesson *Training* show this table.

CARD = ASSETS / "MODEL.md"
FILTER, OURS, LESS = "filter, no network", "`bundled`", "`bundled` − filter"
TOLD, TEACHER = "told where to look", "DINOv2 S"
COLUMNS = (FILTER, OURS, LESS, TOLD, TEACHER)
MARKS = {  # start of a line in the card, after its dots -> its column
    "of the filter": FILTER, "the head less the filter": LESS, "of told where to look": TOLD,
    "of the model that was told where to look": TOLD, "of DINOv2 S": TEACHER,
}  # fmt: skip
KINDS = {  # start of a measure in the card -> its name in the table
    "pairs of parts": "{number} pairs of parts, such as a cat’s eyes: the partner’s share",
    "things before photographs": "things before photographs: their own patches’ share",
    "without the eight neighbours": "… without the eight neighbours",
    "patches away and unlike in colour": "… only those ≥ 3 patches away and unlike in colour",
}


@cache
def rows() -> dict[str, dict[str, str]]:
    """Measure -> column -> number with its standard error."""
    table: dict[str, dict[str, str]] = {}
    kind = None
    for line in CARD.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 3 or "±" not in cells[1]:
            continue
        label = re.sub(r"^(… ?)+", "", cells[0])
        if column := next((column for mark, column in MARKS.items() if label.startswith(mark)), None):
            if kind:
                table[kind][column] = cells[1]
        elif begins := next((mark for mark in KINDS if mark in label), None):
            kind = KINDS[begins].format(number=(re.match(r"\d+", label) or [""])[0])
            table[kind] = {OURS: cells[1]}
        elif not cells[0].startswith("…"):
            kind = None
    return table


def table() -> tuple[list[str], list[list[str]]]:
    """The table's head and rows; the main measure, pairs, comes first."""
    measured = rows()
    kinds = sorted(measured, key=lambda kind: "pairs" not in kind)
    lines = [[kind, *(measured[kind].get(column, "") for column in COLUMNS)] for kind in kinds]
    return ["measured where nothing trained", *COLUMNS], lines


def markdown() -> str:
    """The table as Markdown."""
    head, lines = table()
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *lines))
