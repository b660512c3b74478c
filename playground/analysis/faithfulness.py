"""Measures how far maps of relevance can be trusted: scores each method on many pictures, and compares the scores with
those of a random map and a constant map.

For each picture the maps explain one answer: the margin of the likeliest label or, in a model without labels, the
feature of a patch. The scores:

    rank correlation  Spearman's, between the map's sum in each block of patches and the move when the block is blanked
    deletion          the area under the moves while patches are blanked, the most relevant first: large is good
    insertion         the area under the moves while patches are shown in the same order: small is good
    saco              of groups of patches, whether the more relevant one moves the answer further (see occlusion.saco)
    shuffled          the rank correlation with the map of a model in which each parameter's numbers are shuffled
                      (Adebayo et al., 2018): a map that hardly changes shows the picture and not the model
    pointing          whether the map's largest patch lies on the thing, if a mask says where the thing is
    segmentation      intersection over union of the thing, which covers n patches, and the map's n largest patches

A constant map has no order: its deletion and insertion are those of patches in an order drawn at random.
"""

from __future__ import annotations

import copy
import csv
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from statistics import mean
from typing import Any, Literal

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from playground.analysis import occlusion
from playground.analysis.occlusion import Target
from playground.assets import FAITHFULNESS
from playground.models.source import is_changed
from playground.relevance import Method
from playground.tracing import METHODS, Query, Trace, trace_input
from playground.vit import VisionTransformer

MapMethod = Method | Literal["raw", "rollout"]
MAP_METHODS: tuple[MapMethod, ...] = ("raw", "rollout", *METHODS)
CONTROLS = ("random", "constant")
MEASURES = ("rank_correlation", "deletion", "insertion", "saco", "shuffled", "pointing", "segmentation")
LEAST_MASK_SHARE = 0.5  # a patch belongs to the thing if the mask covers at least this share of the patch


@dataclass(frozen=True)
class MethodScores:
    """The scores of one method on one picture. A score that was not measured is NaN."""

    method: str
    rank_correlation: float
    deletion: float
    insertion: float
    saco: float
    shuffled: float
    pointing: float
    segmentation: float


def faithfulness(
    trace: Trace, shuffled_model: VisionTransformer, mask: Image.Image | None = None, by: str = "mean"
) -> Iterator[MethodScores]:
    """The scores of each method and of both controls. `shuffled_model`: from `with_shuffled`."""
    object_patches = None if mask is None else on_patches(mask, trace.grid)
    target = answer_of(trace, object_patches)
    blanking, side = occlusion.Blanking(trace, target, by), occlusion.side_of(trace.grid)
    moves = blanking.moved(occlusion.blocks(trace.grid, side))
    shuffled_trace = trace_input(shuffled_model, trace._need_input(), scale=trace.scale, cut=trace.cuts.texts)
    for method in (*MAP_METHODS, *CONTROLS):
        relevance = map_of(trace, target, method)
        order = map_of(trace, target, "random") if method == "constant" else relevance
        shuffled = np.nan
        if method in MAP_METHODS:
            shuffled_map = map_of(shuffled_trace, target, method)
            shuffled = occlusion.spearman(*(map_.abs().flatten().tolist() for map_ in (relevance, shuffled_map)))
        yield MethodScores(
            method,
            occlusion.foretells(relevance, side, moves),
            occlusion.deletion(order, blanking).area,
            occlusion.insertion(order, blanking).area,
            occlusion.saco(relevance, blanking),
            shuffled,
            np.nan if object_patches is None else pointing(relevance, object_patches),
            np.nan if object_patches is None else segmentation(order, object_patches),
        )


def answer_of(trace: Trace, object_patches: Tensor | None) -> Target:
    """The answer that the map explains: the likeliest label. In a model without labels: the central patch of the object
    or, without a mask, of the picture."""
    if trace.logits is not None:
        return Target(label=int(trace.logits.argmax()))
    if object_patches is None or not object_patches.any():
        return Target(query=(trace.grid[0] // 2, trace.grid[1] // 2))
    places = object_patches.nonzero()
    nearest = (places - places.float().mean(0)).norm(dim=-1).argmin()
    return Target(query=tuple(places[nearest].tolist()))


def map_of(trace: Trace, target: Target, method: Any, give_way: Callable[[], object] = lambda: None) -> Tensor:
    """(rows, columns): the map of a method. The maps "raw" (the mean of the last layer's heads) and "rollout" are a row
    of one token: the explained token or, for a label, the class token or else the middle patch."""
    middle = trace.grid[0] // 2, trace.grid[1] // 2
    reader: Query = target.query if target.query is not None else "cls" if "cls" in trace.prefix else middle
    if method == "random":
        seed = zlib.crc32(trace._need_input().detach().float().cpu().numpy().tobytes())  # another seed for each picture
        return torch.rand(trace.grid, generator=torch.Generator().manual_seed(seed))
    if method == "constant":
        return torch.ones(trace.grid)
    if method == "raw":
        return trace.on_grid(trace.row(-1, "mean", reader))
    if method == "rollout":
        return trace.on_grid(trace.rollout(reader, give_way))
    return trace.on_grid(trace.relevance(target.query, target.label, method, give_way=give_way))


def with_shuffled(vit: VisionTransformer, seed: int = 0) -> VisionTransformer:
    """A copy of the model in which the values of each parameter tensor are shuffled."""
    shuffled_model, generator = copy.deepcopy(vit), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in shuffled_model.parameters():
            p.copy_(p.flatten()[torch.randperm(p.numel(), generator=generator).to(p.device)].view(p.shape))
    shuffled_model.name = f"{vit.name} with shuffled parameters"
    return shuffled_model


def on_patches(mask: Image.Image, grid: tuple[int, int]) -> Tensor:
    """(rows, columns) bool: the patches of the thing, which is the part of the mask that is not black."""
    white_mask = Image.fromarray((np.asarray(mask.convert("L")) > 0).astype(np.uint8) * 255)
    shares = np.asarray(white_mask.resize((grid[1], grid[0]), Image.Resampling.BOX)) / 255
    return torch.from_numpy(shares >= LEAST_MASK_SHARE)


def pointing(relevance: Tensor, object_patches: Tensor) -> float:
    """1 if the map's largest patch lies on the thing, else 0 (Zhang et al., 2018). If several patches share the
    largest value, the share of these patches that lie on the thing."""
    if not object_patches.any():
        return float("nan")
    return float(object_patches[relevance == relevance.max()].float().mean())


def segmentation(relevance: Tensor, object_patches: Tensor) -> float:
    """IoU of the object's n patches and the n patches with the largest values in the map."""
    if not object_patches.any():
        return float("nan")
    is_chosen = torch.zeros(object_patches.numel(), dtype=torch.bool)
    is_chosen[relevance.flatten().argsort(descending=True, stable=True)[: int(object_patches.sum())]] = True
    overlap = is_chosen & object_patches.flatten()
    return float(overlap.sum() / (is_chosen | object_patches.flatten()).sum())


# The rank correlation of a map with the moves by blanking is measured on this picture, or else taken from the table of
# other pictures in the same model that the command `faithfulness` made.


@dataclass(frozen=True)
class Foretold:
    correlation: float  # Spearman's, between the map and the moves of the answer when blocks are blanked
    random: float  # the correlation of a random map
    constant: float  # the correlation of a constant map
    blocks: int = 0  # number of blocks compared on this picture
    by: str = ""  # the way of blanking, one of occlusion.FILLINGS
    pictures: int = 0  # number of other pictures over which the mean is taken; 0: measured on this picture


@cache
def foretold_table() -> dict[str, dict[str, Foretold]]:
    """{model: {method: its scores}}, from the table's photographs, which have no masks."""
    scores: dict[tuple[str, str], list[float]] = {}
    with FAITHFULNESS.open(newline="", encoding="utf-8") as file:
        for row in (line for line in csv.DictReader(file) if not line["pointing"]):
            scores.setdefault((row["model"], row["method"]), []).append(float(row["rank_correlation"]))
    table: dict[str, dict[str, Foretold]] = {}
    for (model, method), correlations in scores.items():
        random, constant = (mean(scores[model, control]) for control in CONTROLS)
        if method not in CONTROLS:
            foretold = Foretold(mean(correlations), random, constant, pictures=len(correlations))
            table.setdefault(model, {})[method] = foretold
    return table


def foretold_for(trace: Trace, target: Target, method: str) -> Foretold | None:
    """The correlation with blanking: measured on this picture, else on other pictures in this model, else None."""
    if foretold := trace.foretold.get(_key(trace, target, method)):
        return foretold
    if trace.vit is not None and is_changed(trace.vit, trace.weight_versions):
        return None
    return foretold_table().get(trace.model, {}).get(method)


def measure(trace: Trace, target: Target, method: str, by: str = "mean") -> Foretold:
    """Measures the correlations on this picture, with a pass for each block. The trace keeps the result for figures."""
    side = occlusion.side_of(trace.grid)
    moves = occlusion.Blanking(trace, target, by).moved(occlusion.blocks(trace.grid, side))
    return remember(trace, target, method, compare(trace, target, method, by, side, moves))


def compare(
    seen: Trace, target: Target, method: str, by: str, side: int, moves: list[float],
    give_way: Callable[[], object] = lambda: None,
) -> Foretold:  # fmt: skip
    """Like `measure`, with the moves of blocks that were blanked already."""
    maps = (map_of(seen, target, way, give_way) for way in (method, *CONTROLS))
    correlation, random, constant = (occlusion.foretells(relevance, side, moves) for relevance in maps)
    return Foretold(correlation, random, constant, len(occlusion.comparable(occlusion.blocks(seen.grid, side))), by)


def remember(trace: Trace, target: Target, method: str, foretold: Foretold) -> Foretold:
    trace.foretold[_key(trace, target, method)] = foretold
    return foretold


def _key(trace: Trace, target: Target, method: str) -> tuple:
    return method, trace.token(target.query) if target.label is None else f"label {trace.label(target.label)}"  # type: ignore[arg-type]
