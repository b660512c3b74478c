"""Measures for benchmarks/bundled.py whether eyes attend to eyes.

In each photograph, pairs of regions that belong together are marked by hand. For a patch of one region, only attention
outside this region and outside the patches around the region counts. Two numbers are averaged over both directions: the
share of this attention that the partner region gets, and the share of patches that *find* the partner. A patch finds
the partner if at least three of the five patches with its largest weights lie there.

All pairs of a photograph are measured with one head: the best on the pairs of the *other* photographs; so is the filter
without a network (playground/analysis/colour_nearness.py) with its widths. That each pair's own best head fits proves
nothing: among so many heads, even a random network has one. benchmarks/bundled.py prints the numbers.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import torch
from PIL import Image

import playground
from playground import samples
from playground.analysis import colour_nearness

MODELS = ("dinov2-small", "bundled", "bundled-taught", "DINOv2's shape, random")
FILTER = "filter"
Box = tuple[float, float, float, float]  # top, left, bottom, right, as shares of height and width
PAIRS: dict[str, dict[str, tuple[Box, Box]]] = {
    "chelsea": {
        "the eyes": ((0.28, 0.30, 0.50, 0.46), (0.36, 0.65, 0.56, 0.76)),
        "the whiskers": ((0.78, 0.18, 0.95, 0.42), (0.75, 0.66, 0.92, 0.80)),
    },
    "coffee": {
        "cup and spoon": ((0.05, 0.29, 0.55, 0.70), (0.58, 0.54, 0.82, 0.68)),
        "handle and spoon": ((0.58, 0.32, 0.77, 0.43), (0.58, 0.54, 0.82, 0.68)),
        "the saucer's sides": ((0.45, 0.14, 0.80, 0.28), (0.35, 0.71, 0.75, 0.80)),
    },
    "astronaut": {
        "the badges": ((0.67, 0.26, 0.83, 0.42), (0.66, 0.54, 0.75, 0.64)),
        "the collar's sides": ((0.32, 0.22, 0.44, 0.30), (0.42, 0.52, 0.57, 0.60)),
        "collar and helmet": ((0.30, 0.23, 0.58, 0.60), (0.66, 0.56, 0.98, 0.98)),
    },
    "rocket": {
        "the inner towers": ((0.30, 0.28, 0.85, 0.33), (0.30, 0.68, 0.85, 0.73)),
        "the outer towers": ((0.00, 0.06, 0.90, 0.13), (0.00, 0.88, 0.90, 0.96)),
        "two lamps": ((0.84, 0.20, 0.93, 0.26), (0.88, 0.54, 0.97, 0.60)),
    },
    "camera": {
        "the tripod's legs": ((0.65, 0.47, 0.95, 0.56), (0.67, 0.62, 0.97, 0.77)),
        "face and hand": ((0.24, 0.35, 0.37, 0.48), (0.33, 0.54, 0.42, 0.65)),
    },
}


def answers(vit) -> list[torch.Tensor]:
    """For each photograph (heads of all layers, pairs, 2): the partner's share of the attention, and the share of
    patches that find it."""
    tables = []
    for picture, pairs in PAIRS.items():
        sample = samples.named(picture)
        size = tuple(side * vit.config.patch_size for side in sample.look.grid)
        trace = playground.trace(vit, playground.open_image(sample.path), size=size)
        first_patch, head_numbers = len(trace.prefix), range(trace.heads)
        rows = (
            trace.matrix(layer, head)[first_patch:, first_patch:]
            for layer in range(trace.layers)
            for head in head_numbers
        )
        tables.append(torch.stack([numbers_of_pairs(weights, pairs, sample.look.grid) for weights in rows]))
    return tables


def filter_answers() -> list[torch.Tensor]:
    """For each photograph, the module's two numbers of each filter setting and pair: (settings, pairs, 2)."""
    tables = []
    for picture, pairs in PAIRS.items():
        sample = samples.named(picture)
        grid = sample.look.grid
        image = playground.open_image(sample.path).resize((14 * grid[1], 14 * grid[0]), Image.Resampling.BICUBIC)
        differences = colour_nearness.differences(colour_nearness.mean_colours(np.asarray(image), grid))
        rows = (torch.from_numpy(colour_nearness.weights(*differences, a, b)) for a, b in colour_nearness.SETTINGS)
        tables.append(torch.stack([numbers_of_pairs(weights, pairs, grid) for weights in rows]).float())
    return tables


def numbers_of_pairs(weights: torch.Tensor, pairs: dict[str, tuple[Box, Box]], grid: tuple[int, int]) -> torch.Tensor:
    """The module's two numbers of each pair, (pairs, 2), for a head with these weights (patches, patches)."""
    numbers = []
    for boxes in pairs.values():
        first_box, second_box = (patches_inside(box, grid) for box in boxes)
        both_directions = torch.cat(
            [
                partner_share_and_finds(weights, first_box, second_box),
                partner_share_and_finds(weights, second_box, first_box),
            ],
            dim=1,
        )
        numbers.append(both_directions.mean(dim=1))
    return torch.stack(numbers)


def best_on_other_photographs(tables: list[torch.Tensor]) -> tuple[torch.Tensor, list[int]]:
    """(numbers (pairs, 2), index of each pair's candidate). A candidate is a head or a setting of the filter; each pair
    gets the candidate with the largest mean share in the other photographs."""
    numbers, candidates = [], []
    for number, table in enumerate(tables):
        other_shares = torch.cat(
            [other_table[:, :, 0] for other_number, other_table in enumerate(tables) if other_number != number], dim=1
        )
        candidate = int(other_shares.mean(dim=1).argmax())
        numbers.append(table[candidate])
        candidates += [candidate] * table.shape[1]
    return torch.cat(numbers), candidates


def best_for_each_pair(tables: list[torch.Tensor]) -> tuple[torch.Tensor, list[int]]:
    """As `best_on_other_photographs`, but each pair gets the candidate with the largest share on this very pair."""
    all_shares = torch.cat(tables, dim=1)  # (candidates, pairs, 2)
    best_candidates = all_shares[:, :, 0].argmax(dim=0)  # (pairs,)
    return all_shares[best_candidates, torch.arange(len(best_candidates))], best_candidates.tolist()


def mean_and_error(numbers: torch.Tensor) -> tuple[float, float]:
    """The mean over pairs and its standard error."""
    return float(numbers.mean()), float(numbers.std() / len(numbers) ** 0.5)


def patches_inside(box: Box, grid: tuple[int, int]) -> torch.Tensor:
    """(rows, columns) of bool: whether a patch's middle lies in the box."""
    top, left, bottom, right = box
    rows, columns = ((torch.arange(n) + 0.5) / n for n in grid)
    return ((rows > top) & (rows < bottom))[:, None] & ((columns > left) & (columns < right))[None]


def partner_share_and_finds(weights: torch.Tensor, region: torch.Tensor, partner: torch.Tensor) -> torch.Tensor:
    """(2, patches of `region`): the partner's share of the attention outside the region, and 1 if the patch finds the
    partner, else 0."""
    region_with_border = torch.nn.functional.max_pool2d(region[None, None].float(), 3, stride=1, padding=1)[0, 0].bool()
    rows = weights[region.flatten()].clone()  # (patches of `region`, patches)
    rows[:, (region_with_border & ~partner | region).flatten()] = 0
    # A narrow filter may give no weight outside the region
    partner_share = rows[:, partner.flatten()].sum(dim=-1) / rows.sum(dim=-1).clamp(min=1e-9)
    largest_weights = rows.topk(5, dim=-1).indices  # (patches of `region`, 5)
    return torch.stack([partner_share, (partner.flatten()[largest_weights].sum(dim=-1) >= 3).float()])
