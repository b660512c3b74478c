"""How far a map of relevance can be trusted: scores of each method on many pictures, compared with a random map and a
constant one.

For each picture one answer is explained: the margin of its likeliest label, or, in a model without labels, how far the
feature of a patch moves. The scores:

    rank correlation   between the map's sum in a block of patches and the move when the block is blanked (Spearman)
    deletion           the area under what moves as the most relevant patches go first: the larger the better
    insertion          the same as they are shown first: the smaller the better
    shuffled           the rank correlation of the map with that of the same model with each parameter's numbers
                       shuffled (Adebayo et al., 2018): a map that hardly changes shows the picture and not the model
    pointing           whether the map's largest patch lies on the thing, where a mask says where that is
    segmentation       how well the largest patches, as many as the thing has, cover it: intersection over union

A constant map has no order: its deletion and insertion are those of patches in an order drawn at random.
"""

from __future__ import annotations

import copy
import csv
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from playground.analysis import occlusion
from playground.analysis.occlusion import Asked
from playground.assets import FAITHFULNESS
from playground.models.source import is_changed
from playground.tracing import METHODS, Query, Trace, trace_input
from playground.vit import VisionTransformer
from playground.vit_parts import WeightVersions

WAYS = ("raw", "rollout", *METHODS)
CONTROLS = ("random", "constant")
MEASURES = ("rank_correlation", "deletion", "insertion", "shuffled", "pointing", "segmentation")
MASKED = 0.5  # a patch belongs to the thing if the mask covers at least this share of it


@dataclass(frozen=True)
class Faithful:
    """The scores of one method on one picture. NaN: not measured."""

    method: str
    rank_correlation: float
    deletion: float
    insertion: float
    shuffled: float
    pointing: float
    segmentation: float


def read(path: Path) -> dict[str, list[tuple[str, Faithful]]]:
    """{model: [(picture, its scores)]}, from a .csv that the command wrote."""
    found: dict[str, list[tuple[str, Faithful]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = (float(row[measure] or "nan") for measure in MEASURES)
            found.setdefault(row["model"], []).append((row["picture"], Faithful(row["method"], *numbers)))
    return found


def faithfulness(
    seen: Trace, shuffled: VisionTransformer, mask: Image.Image | None = None, by: str = "mean"
) -> Iterator[Faithful]:
    """The scores of each method and of both controls. `shuffled`: the model from `with_shuffled`."""
    thing = None if mask is None else on_patches(mask, seen.grid)
    asked = answer_of(seen, thing)
    measured, side = occlusion.Measured(seen, asked, by), occlusion.side_of(seen.grid)
    moves = measured.moved(occlusion.blocks(seen.grid, side))
    other = trace_input(shuffled, seen._need_input(), scale=seen.scale, cut=seen.cuts.texts)
    for method in (*WAYS, *CONTROLS):
        found = map_of(seen, asked, method)
        order = map_of(seen, asked, "random") if method == "constant" else found
        again = map_of(other, asked, method) if method in WAYS else None
        yield Faithful(
            method,
            occlusion.foretells(found, side, moves),
            occlusion.deletion(order, measured).area,
            occlusion.insertion(order, measured).area,
            np.nan if again is None else occlusion.spearman(*(one.abs().flatten().tolist() for one in (found, again))),
            np.nan if thing is None else pointing(found, thing),
            np.nan if thing is None else segmentation(order, thing),
        )


def answer_of(seen: Trace, thing: Tensor | None) -> Asked:
    """What the map explains: the likeliest label. In a model without labels: the object's central patch, or, without a
    mask, the picture's."""
    if seen.logits is not None:
        return Asked(label=int(seen.logits.argmax()))
    if thing is None or not thing.any():
        return Asked(query=(seen.grid[0] // 2, seen.grid[1] // 2))
    places = thing.nonzero()
    nearest = (places - places.float().mean(0)).norm(dim=-1).argmin()
    return Asked(query=tuple(places[nearest].tolist()))  # type: ignore[arg-type]


def map_of(seen: Trace, asked: Asked, method: str, give_way: Callable[[], object] = lambda: None) -> Tensor:
    """The map of a method: (rows, columns). "raw" is the mean of the last layer's heads. It and rollout are rows of the
    token that is explained, or of the class token if a label is."""
    reads: Query = (
        asked.query
        if asked.query is not None
        else "cls"
        if "cls" in seen.prefix
        else (seen.grid[0] // 2, seen.grid[1] // 2)
    )
    if method == "random":
        own = zlib.crc32(seen._need_input().cpu().numpy().tobytes())  # each picture's own seed
        return torch.rand(seen.grid, generator=torch.Generator().manual_seed(own))
    if method == "constant":
        return torch.ones(seen.grid)
    if method == "raw":
        return seen.on_grid(seen.row(-1, "mean", reads))
    if method == "rollout":
        return seen.on_grid(seen.rollout(reads, give_way))
    return seen.on_grid(seen.relevance(asked.query, asked.label, method, give_way=give_way))


def with_shuffled(vit: VisionTransformer, seed: int = 0) -> VisionTransformer:
    """A copy of the model in which the values of each parameter tensor are shuffled."""
    other, random = copy.deepcopy(vit), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in other.parameters():
            p.copy_(p.flatten()[torch.randperm(p.numel(), generator=random).to(p.device)].view(p.shape))
    other.name = f"{vit.name} with shuffled parameters"
    return other


def on_patches(mask: Image.Image, grid: tuple[int, int]) -> Tensor:
    """(rows, columns) bool: the patches of the thing, which is whatever is not black."""
    white = Image.fromarray((np.asarray(mask.convert("L")) > 0).astype(np.uint8) * 255)
    shares = np.asarray(white.resize((grid[1], grid[0]), Image.Resampling.BOX)) / 255
    return torch.from_numpy(shares >= MASKED)


def pointing(found: Tensor, thing: Tensor) -> float:
    """1 if the map's largest patch lies on the thing, else 0 (Zhang et al., 2018). If several patches are equally
    large, the share of them that do."""
    if not thing.any():
        return float("nan")
    return float(thing[found == found.max()].float().mean())


def segmentation(found: Tensor, thing: Tensor) -> float:
    """IoU of the object's mask and the map's n largest patches, where the mask has n patches."""
    if not thing.any():
        return float("nan")
    chosen = torch.zeros(thing.numel(), dtype=torch.bool)
    chosen[found.flatten().argsort(descending=True, stable=True)[: int(thing.sum())]] = True
    both = chosen & thing.flatten()
    return float(both.sum() / (chosen | thing.flatten()).sum())


# How well a map foretells what blanking moves: measured on this picture, or else taken from the table that the command
# `faithfulness` made of other pictures in the same model.


@dataclass(frozen=True)
class Foretold:
    correlation: float  # Spearman's, of the map with how far blanking each block moves the answer
    random: float  # the same of a random map
    constant: float  # the same of a constant map
    blocks: int = 0  # number of blocks compared on this picture
    by: str = ""  # what blanked patches became
    pictures: int = 0  # number of other pictures over which the mean is taken; 0: measured on this picture


@cache
def usual() -> dict[str, dict[str, Foretold]]:
    """{model: {method: its scores}}, from the table."""
    found: dict[str, dict[str, Foretold]] = {}
    for model, rows in read(FAITHFULNESS).items():
        of = {method: [one.rank_correlation for _, one in rows if one.method == method] for method in _methods(rows)}
        chance = [mean(of[control]) for control in CONTROLS]
        found[model] = {
            method: Foretold(mean(of[method]), *chance, pictures=len(of[method]))
            for method in of.keys() - set(CONTROLS)
        }
    return found


def _methods(rows: list) -> list[str]:
    return list(dict.fromkeys(one.method for _, one in rows))


def known(seen: Trace, asked: Asked, method: str) -> Foretold | None:
    """The agreement with blanking: measured on this picture, else on other pictures in this model, else None."""
    if found := seen.foretold.get(_key(seen, asked, method)):
        return found
    return of_model(seen.model, seen.vit, seen.weight_versions, method)


def of_model(name: str, vit: VisionTransformer | None, versions: WeightVersions, method: str) -> Foretold | None:
    """The table's entry for a model of this name, unless its weights were changed."""
    if vit is not None and is_changed(vit, versions):
        return None
    return usual().get(name, {}).get(method)


def measure(seen: Trace, asked: Asked, method: str, by: str = "mean") -> Foretold:
    """Measures on this picture, in as many passes as there are blocks. The trace keeps the result for its figures."""
    side = occlusion.side_of(seen.grid)
    moves = occlusion.Measured(seen, asked, by).moved(occlusion.blocks(seen.grid, side))
    return remembered(seen, asked, method, compare(seen, asked, method, by, side, moves))


def compare(
    seen: Trace, asked: Asked, method: str, by: str, side: int, moves: list[float],
    give_way: Callable[[], object] = lambda: None,
) -> Foretold:  # fmt: skip
    """Like `measure`, with the moves of blocks that were blanked already."""
    drawn = (map_of(seen, asked, way, give_way) for way in (method, *CONTROLS))
    numbers = [occlusion.foretells(one, side, moves) for one in drawn]
    return Foretold(*numbers, len(occlusion.equal(occlusion.blocks(seen.grid, side))), by)


def remembered(seen: Trace, asked: Asked, method: str, found: Foretold) -> Foretold:
    seen.foretold[_key(seen, asked, method)] = found
    return found


def _key(seen: Trace, asked: Asked, method: str) -> tuple:
    return method, seen.token(asked.query) if asked.label is None else f"label {seen.label(asked.label)}"  # type: ignore[arg-type]
