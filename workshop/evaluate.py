"""Measures how well a model's attention finds objects, on pictures with known masks.

A row's *mass* is the share of its weight on the query's own object, without the query itself. Only patches of objects
are queries. The best head, and the parameters of the baselines (area, Gaussian, mean colour, filter by colour and
nearness), are chosen on other pictures than those that are measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from playground.analysis import colour_nearness, heads
from playground.tracing import Trace, trace
from playground.vit import VisionTransformer
from workshop.scenes.backdrops import BACKDROPS
from workshop.scenes.drawing import Scene
from workshop.scenes.generate import (
    FAMILIES,
    FEWEST_PATCHES,
    LABELS,
    area_rows,
    colour_rows,
    gaussian_rows,
    patch_targets,
    presence,
)
from workshop.scenes.silhouettes import SHAPES
from workshop.scenes.textures import MATERIALS

SIGMAS = (0.7, 1.0, 1.5, 2.0)  # widths of the Gaussian baseline, in patches
TEMPERATURES = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)  # temperatures of the baseline by mean colour
MARKED_SHARE = 0.6  # a row "marks" the fewest patches that together hold this share of its weight
DISTANT_PATCHES = 3  # patches, across or down: a patch at this distance or more counts as distant
UNLIKE_COLOURS = 0.25  # mean colours at a larger distance count as another colour; red, green and blue go from 0 to 1
LAST_LAYERS = 2  # the class token's rows are measured in this many last layers
GROUPS = {"families": len(FAMILIES), "backdrops": len(BACKDROPS)}  # group of labels -> size, in the order of LABELS


@dataclass(frozen=True)
class Questions:
    """The S query patches among the P patches of a scene, and the masks with which the queries' rows are compared."""

    queries: Tensor  # (S,) patch numbers
    same_object: Tensor  # (S, P) bool: patches on the query's object, without the query itself
    itself: Tensor  # (S, P) bool: the query itself
    near: Tensor  # (S, P) bool: the query and the eight neighbours
    objects: Tensor  # (P,) bool: on any object

    @staticmethod
    def of(objects: np.ndarray) -> Questions:
        """`objects` (rows, columns): the number of each patch's object, 0 for none."""
        row, column = (torch.from_numpy(n.ravel()) for n in np.indices(objects.shape))
        numbers = torch.from_numpy(objects.ravel().astype(np.int64))
        queries = torch.nonzero((numbers > 0) & (numbers.bincount()[numbers] >= FEWEST_PATCHES))[:, 0]
        is_itself = queries[:, None] == torch.arange(len(numbers))
        is_near = ((row - row[queries, None]).abs() <= 1) & ((column - column[queries, None]).abs() <= 1)
        is_same = (numbers[queries, None] == numbers) & ~is_itself
        return Questions(queries, is_same, is_itself, is_near, numbers > 0)


def average(image_habits: Sequence[heads.Habits]) -> heads.Habits:
    """The mean over several images in one model; the images' grids may differ."""
    names = [field.name for field in fields(heads.Habits)]
    return heads.Habits(**{name: np.mean([getattr(one, name) for one in image_habits], axis=0) for name in names})


def measure(vit: VisionTransformer, scenes: Sequence[Scene], other_scenes: Sequence[Scene]) -> dict:
    """Measures the model card's numbers on `scenes`. The head and the baselines' parameters are chosen on
    `other_scenes`."""
    sums, other_sums = Sums(vit, scenes), Sums(vit, other_scenes)
    best_head = _best(other_sums.mass)
    far_head, overlap_head = _best(other_sums.far), _best(other_sums.overlap)
    gaussian_setting, colour_setting = int(other_sums.gaussian.argmax()), int(other_sums.colour.argmax())
    filter_setting, far_setting = int(other_sums.filter.argmax()), int(other_sums.far_filter.argmax())
    kinds = average(sums.habits).habit_names(sums.mass.numpy())
    flat_kinds = [kind for layer in kinds for kind in layer]
    scores = f1(torch.stack(sums.predicted), torch.stack(sums.labels))
    return {
        "scenes": len(scenes),
        "best head": best_head,
        "mass": float(sums.mass[best_head]),
        "mass, prefix counted": float(sums.mass_with_prefix[best_head]),
        "area": float(sums.area),
        "gaussian": float(sums.gaussian[gaussian_setting]),
        "colour": float(sums.colour[colour_setting]),
        "filter": float(sums.filter[filter_setting]),
        "filter's widths": colour_nearness.SETTINGS[filter_setting],
        "beyond the filter": mean_and_error(sums.mass_beyond_filter("near", best_head, filter_setting)),
        "far head": far_head,
        "far mass": float(sums.far[far_head]),
        "far area": float(sums.far_area),
        "far gaussian": float(sums.far_gaussian[gaussian_setting]),
        "far colour": float(sums.far_colour[colour_setting]),
        "far filter": float(sums.far_filter[far_setting]),
        "far filter's widths": colour_nearness.SETTINGS[far_setting],
        "far beyond the filter": mean_and_error(sums.mass_beyond_filter("far", far_head, far_setting)),
        "heads above half": int((sums.mass > 0.5).sum()),
        "layers": [float(sums.mass[layer, int(other_sums.mass[layer].argmax())]) for layer in range(vit.config.depth)],
        "overlap head": overlap_head,
        "overlap": float(sums.overlap[overlap_head]),
        "f1": float(scores.mean()),
        "f1 of yes": float(f1(torch.ones_like(torch.stack(sums.labels)), torch.stack(sums.labels)).mean()),
        "f1 by group": {name: float(part.mean()) for name, part in zip(GROUPS, _by_group(scores), strict=True)},
        "f1 by label": dict(zip(LABELS, scores.tolist(), strict=True)),
        "class token on objects": float(np.mean(sums.class_mass)),
        "area of objects": float(np.mean(sums.object_area)),
        "kinds": kinds,
        "idle": flat_kinds.count(heads.IDLE.label) / len(flat_kinds),
    }


class Sums:
    """Results of one pass over the scenes. Tables are (layers, heads), means over all queries."""

    def __init__(self, vit: VisionTransformer, scenes: Sequence[Scene]):
        patch = vit.config.patch_size
        self.habits, self.predicted, self.labels, self.class_mass, self.object_area = [], [], [], [], []
        near_sums, far_sums = [], []  # for each scene: (sums over its queries, number of queries)
        self._parts = {"near": near_sums, "far": far_sums}
        for scene in scenes:
            questions = Questions.of(patch_targets(scene, patch).objects)
            model_trace = trace(vit, Image.fromarray(scene.image), size=scene.objects.shape)
            self.habits.append(heads.measure_heads(model_trace))
            self.predicted.append(model_trace.logits.sigmoid() > 0.5)
            self.labels.append(torch.from_numpy(presence(scene)) > 0)
            self._class_token(model_trace, questions)
            if len(questions.queries):
                rows = _rows(model_trace, questions)
                baselines = _baseline_rows(scene, patch, questions)
                near_sums.append(_near_sums(rows, baselines, questions))
                far_sums.append(_far_sums(rows, baselines, questions))
        self.mass, self.mass_with_prefix, self.overlap, self.area, self.gaussian, self.colour, self.filter = _means(
            near_sums
        )
        self.far, self.far_area, self.far_gaussian, self.far_colour, self.far_filter = _means(far_sums)

    def mass_beyond_filter(self, kind: str, head: tuple[int, int], setting: int) -> Tensor:
        """(scenes,): the head's mass minus the mass of the filter's row. `kind`: "near" or "far"."""
        return torch.stack(
            [(tables[0][head] - tables[-1][setting]) / count for tables, count in self._parts[kind] if count]
        )

    def _class_token(self, trace: Trace, questions: Questions) -> None:
        if not questions.objects.any():
            return
        for layer in range(trace.layers - LAST_LAYERS, trace.layers):
            row = trace.rows(layer, "cls")[:, len(trace.prefix) :].mean(0)  # (P,)
            self.class_mass.append(float(row[questions.objects].sum() / row.sum()))
            self.object_area.append(float(questions.objects.float().mean()))


def own_mass(vit: VisionTransformer, pictures: Sequence[np.ndarray], grids: Sequence[np.ndarray]) -> Tensor:
    """(layers, heads): the mean mass on the own object. Each grid gives the number of every patch's object."""
    total, count = torch.zeros(vit.config.depth, vit.config.heads), 0
    for picture, grid in zip(pictures, grids, strict=True):
        questions = Questions.of(grid)
        if len(questions.queries):
            size = tuple(side * vit.config.patch_size for side in grid.shape)
            rows = _rows(trace(vit, Image.fromarray(picture), size=size), questions)
            total += _share(rows[..., -grid.size :], questions.same_object, ~questions.itself).sum(-1)
            count += len(questions.queries)
    return total / max(1, count)


@dataclass(frozen=True)
class Shares:
    """The share of a patch's weight that falls on the patch's own object: (pictures, candidates), each a mean over a
    picture's patches, or NaN if no patch was measured. A candidate is a head, or a setting of the filter."""

    near: Tensor  # as a share of the weight on all other patches
    far: Tensor  # as a share of the weight on patches beyond the eight neighbours
    unlike: Tensor  # as a share of the weight on distant patches of another colour

    @staticmethod
    def of(pictures: Sequence[np.ndarray], grids: Sequence[np.ndarray], rows_of: Callable) -> Shares:
        """Measures all pictures. `rows_of(picture, grid, questions)` returns the candidates' rows (candidates, S, P)
        for one picture."""
        shares = []
        for picture, grid in zip(pictures, grids, strict=True):
            questions = Questions.of(grid)
            allowed = (~questions.itself, ~questions.near, _distant_and_unlike(picture, grid, questions))
            rows = rows_of(picture, grid, questions)
            shares.append([_mean_share(rows, questions.same_object, allowed_patches) for allowed_patches in allowed])
        return Shares(*(torch.stack(kind) for kind in zip(*shares, strict=True)))


def rows_of_heads(vit: VisionTransformer) -> Callable:
    """A `rows_of` for `Shares.of`: the rows of all heads, layer after layer."""

    def rows_of(picture: np.ndarray, grid: np.ndarray, questions: Questions) -> Tensor:
        size = tuple(side * vit.config.patch_size for side in grid.shape)
        return _rows(trace(vit, Image.fromarray(picture), size=size), questions)[..., -grid.size :].flatten(0, 1)

    return rows_of


def rows_of_filter(picture: np.ndarray, grid: np.ndarray, questions: Questions) -> Tensor:
    """A `rows_of` for `Shares.of`: the rows of the filter without a network, one setting after another."""
    colours = colour_nearness.mean_colours(picture, grid.shape)
    differences = colour_nearness.differences(colours, questions.queries.numpy())
    setting_rows = [colour_nearness.weights(*differences, *setting) for setting in colour_nearness.SETTINGS]
    return torch.from_numpy(np.stack(setting_rows))


def rows_of_area(picture: np.ndarray, grid: np.ndarray, questions: Questions) -> Tensor:
    """A `rows_of` for `Shares.of`: uniform rows."""
    return torch.ones(1, len(questions.queries), grid.size)


def best_candidate(shares: Tensor, other_shares: Tensor) -> tuple[int, Tensor]:
    """(the candidate with the largest mean of `shares`, this candidate's column of `other_shares`). Both tables are
    (pictures, candidates)."""
    candidate = int(shares.nanmean(0).argmax())
    return candidate, other_shares[:, candidate]


def mean_and_error(values: Tensor) -> tuple[float, float]:
    """The mean of the numbers that are not NaN, and the mean's standard error over pictures."""
    numbers = values[~values.isnan()].double()
    return float(numbers.mean()), float(numbers.std() / max(1, len(numbers)) ** 0.5)


def _distant_and_unlike(picture: np.ndarray, grid: np.ndarray, questions: Questions) -> Tensor:
    """(S, P) bool: distant patches of another colour."""
    colours = torch.from_numpy(colour_nearness.mean_colours(picture, grid.shape)).flatten(0, 1)
    row, column = (torch.from_numpy(n.ravel()) for n in np.indices(grid.shape))
    distance = torch.maximum(
        (row - row[questions.queries, None]).abs(), (column - column[questions.queries, None]).abs()
    )
    return (distance >= DISTANT_PATCHES) & (torch.cdist(colours[questions.queries], colours) > UNLIKE_COLOURS)


def _share(rows: Tensor, is_same: Tensor, is_allowed: Tensor) -> Tensor:
    """(…, S, P) -> (…, S): the own object's share of the weight on allowed patches."""
    allowed_rows = rows * is_allowed
    return (allowed_rows * is_same).sum(-1) / allowed_rows.sum(-1).clamp(min=1e-9)


def _mean_share(rows: Tensor, is_same: Tensor, is_allowed: Tensor) -> Tensor:
    """(candidates, S, P) -> (candidates,): mean over queries whose object reaches into the allowed patches."""
    has_object = (is_same & is_allowed).any(-1)
    return _share(rows[:, has_object], is_same[has_object], is_allowed[has_object]).mean(-1)


def _rows(trace: Trace, questions: Questions) -> Tensor:
    """(layers, heads, S, tokens): the rows of the queries."""
    queries = (len(trace.prefix) + questions.queries).tolist()
    return torch.stack([trace.weights(layer, queries) for layer in range(trace.layers)])


def _baseline_rows(scene: Scene, patch: int, questions: Questions) -> list[Tensor]:
    """Rows without a network, (settings, S, P) each: uniform, Gaussian by distance, mean colour, and the filter."""
    rows, columns = (side // patch for side in scene.objects.shape)
    grid = np.zeros((rows, columns))
    baseline_rows = (
        [area_rows(rows * columns)],
        [gaussian_rows(rows, columns, sigma) for sigma in SIGMAS],
        [colour_rows(scene.image, temperature, patch) for temperature in TEMPERATURES],
    )
    return [
        *(torch.from_numpy(np.stack(kind))[:, questions.queries] for kind in baseline_rows),
        rows_of_filter(scene.image, grid, questions),
    ]


def _near_sums(rows: Tensor, baselines: list[Tensor], questions: Questions) -> tuple[list[Tensor], int]:
    patch_weights = rows[..., -questions.same_object.shape[1] :]
    prefix_share = rows.sum(-1) - patch_weights.sum(-1)
    other_patches = patch_weights.masked_fill(questions.itself, 0)
    own_weight = (other_patches * questions.same_object).sum(-1)  # (layers, heads, S)
    mass = _share(patch_weights, questions.same_object, ~questions.itself)
    mass_with_prefix = own_weight / (other_patches.sum(-1) + prefix_share).clamp(min=1e-9)
    tables = [
        mass,
        mass_with_prefix,
        _overlap(other_patches, questions.same_object),
        *((rows_of_baseline * questions.same_object).sum(-1) for rows_of_baseline in baselines),
    ]
    return [table.sum(-1) for table in tables], len(questions.queries)


def _far_sums(rows: Tensor, baselines: list[Tensor], questions: Questions) -> tuple[list[Tensor], int]:
    """The mass without the eight neighbours, for queries whose object reaches beyond these."""
    reaches_far = (questions.same_object & ~questions.near).any(-1)
    is_same, is_allowed = questions.same_object[reaches_far], ~questions.near[reaches_far]
    tables = (rows[..., -questions.same_object.shape[1] :], *baselines)
    return [_share(table[..., reaches_far, :], is_same, is_allowed).sum(-1) for table in tables], int(reaches_far.sum())


def _overlap(rows: Tensor, object_masks: Tensor) -> Tensor:
    """Jaccard overlap between the patches that a row marks and the query's object: (…, S)."""
    sorted_rows, order = rows.sort(-1, descending=True)
    larger_sum = sorted_rows.cumsum(-1) - sorted_rows
    is_marked = larger_sum < MARKED_SHARE * sorted_rows.sum(-1, keepdim=True)
    is_same = object_masks.expand(rows.shape).gather(-1, order)
    return (is_marked & is_same).sum(-1) / (is_marked | is_same).sum(-1).clamp(min=1)


def _means(scene_sums: list[tuple[list[Tensor], int]]) -> list[Tensor]:
    count = max(1, sum(n for _, n in scene_sums))
    return [torch.stack(tables).sum(0) / count for tables in zip(*(tables for tables, _ in scene_sums), strict=True)]


def _best(table: Tensor) -> tuple[int, int]:
    """(layer, head) of the largest number."""
    layer, head = divmod(int(table.argmax()), table.shape[1])
    return layer, head


def _by_group(scores: Tensor) -> tuple[Tensor, ...]:
    return scores.split(list(GROUPS.values()))


def f1(is_predicted: Tensor, is_true: Tensor) -> Tensor:
    """Predicted and true (images, labels) bool -> F1 of each label: 2 · hits / (predicted + true)."""
    hits = (is_predicted & is_true).sum(0)
    return 2 * hits / (is_predicted.sum(0) + is_true.sum(0)).clamp(min=1)


def share_on_named_things(vit: VisionTransformer, scenes: Sequence[Scene]) -> dict[str, float]:
    """{map: its mean share on the things that the model names}. For each scene and each family of things that the scene
    shows and the model names: the share of the class token's map, without prefix tokens, that falls on these things.
    "area" is the things' share of the patches, "attention" the mean over the heads of the last two layers."""
    shares_by_method: dict[str, list[float]] = {"attention": [], "rollout": [], "gradient": [], "area": []}
    for scene in scenes:
        patch, is_present = vit.config.patch_size, presence(scene)
        model_trace = trace(vit, Image.fromarray(scene.image), size=scene.objects.shape)
        confidence = vit.config.shares(model_trace.logits)  # type: ignore[arg-type]
        targets, first_patch = patch_targets(scene, patch), len(model_trace.prefix)
        rollout = model_trace.rollout("cls")[first_patch:]
        last_rows = torch.stack(
            [
                model_trace.rows(layer, "cls")[:, first_patch:].mean(0)
                for layer in range(model_trace.layers - LAST_LAYERS, model_trace.layers)
            ]
        )
        attention = (last_rows / last_rows.sum(-1, keepdim=True)).mean(0)
        for number, (name, members) in enumerate(FAMILIES.items()):
            if not is_present[number] or confidence[LABELS.index(name)] < 0.5:
                continue
            shapes = [SHAPES.index(member) for member in members if member in SHAPES]
            materials = [MATERIALS.index(member) for member in members if member in MATERIALS]
            is_named = np.isin(targets.shapes, shapes) | np.isin(targets.materials, materials)
            mask = torch.from_numpy((is_named & (targets.objects > 0)).ravel())
            relevance = model_trace.relevance(label=LABELS.index(name), method="chefer")[first_patch:]
            rows = {"attention": attention, "rollout": rollout, "gradient": relevance, "area": torch.ones(len(mask))}
            for method, row in rows.items():
                if float(row.sum()) > 0:
                    shares_by_method[method].append(float(row[mask].sum() / row.sum()))
    return {method: float(np.mean(shares)) for method, shares in shares_by_method.items()}
