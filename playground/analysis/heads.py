"""Measures the average behaviour of each head over the patches of an image, and names its habit. Only the rows of
patches are measured, not those of prefix tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from playground.analysis.sinks import sinks_of
from playground.tracing import Trace, entropy
from playground.vit import VisionTransformer
from playground.vit_parts import output_matrices

MOST_FULLY_MEASURED = 1024  # number of patches up to which all rows are measured
SAMPLE_SIZE = 400  # number of patches that are drawn from a larger grid


def measured_tokens(trace: Trace) -> list[int]:
    """The token indices of the patches whose rows are measured. In a large grid the patches are drawn at random,
    because every eighth patch of a grid with 56 columns would lie in the same seven columns."""
    first_patch = len(trace.prefix)
    patch_count = trace.tokens - first_patch
    if patch_count <= MOST_FULLY_MEASURED:
        return list(range(first_patch, trace.tokens))
    sample = torch.randperm(patch_count, generator=torch.Generator().manual_seed(0))[:SAMPLE_SIZE]
    return (first_patch + sample.sort().values).tolist()


def sampling_note(seen: Trace) -> str:
    """A sentence that says that only some rows were measured; "" if all rows were."""
    patch_count, measured_count = seen.tokens - len(seen.prefix), len(measured_tokens(seen))
    if measured_count == patch_count:
        return ""
    return f"Measured on the rows of {measured_count:,} of {patch_count:,} patches, drawn at random."


REACH = 3  # the largest offset, in patches, that is searched for a habit
OWN_OBJECT_SHARE = 0.5  # a head with a larger share on the query's own object prefers that object: see `habit`


@dataclass(frozen=True)
class Habit:
    """A habit of heads: its name, and how this habit is drawn on pages, in figures and in the browser."""

    label: str
    short: str  # a shorter label, for a small cell
    colour: str  # a colour other than those of queries, keys, values and convolution
    symbol: str  # plotly's name of a marker, for people who can't tell the colours apart
    means: str  # what the name says about a head, on average over one picture's patches


CONTENT = Habit(
    "same object or colour", "alike", "#E69F00", "star",
    "Where it looks depends on what the patches show: it prefers those of the same colour or the same object.",
)  # fmt: skip
FIXED = Habit(
    "fixed offset", "", "#CC79A7", "triangle-left",  # a small cell shows the direction instead of a label
    "More than 30 % of the weight goes to the patch at one distance in one direction.",
)  # fmt: skip
LOCAL = Habit(
    "local", "local", "#6A51A3", "circle",
    "More than half of the weight for other patches goes to the eight neighbours.",
)  # fmt: skip
ITSELF = Habit(
    "looks at itself", "itself", "#B5A000", "square", "More than half of the weight goes to the patch that asks."
)  # fmt: skip
PREFIX = Habit(
    "class token or registers", "CLS, reg", "#882255", "diamond",
    "More than half of the weight goes to tokens that have no place in the picture: the class token or registers.",
)  # fmt: skip
ONE = Habit(
    "one patch for all", "one", "#8C2D04", "cross",
    "One and the same patch gets more than 30 % of the weight of all patches.",
)  # fmt: skip
MIXED = Habit(
    "no single habit", "mixed", "#9A9CA5", "circle-open", "None of the habits that are measured describes this head."
)  # fmt: skip
EVERYWHERE = Habit(
    "everywhere", "all", "#C4C6CC", "hexagon",
    "The weight is spread widely: the effective number of tokens (2^entropy) is more than half of all.",
)  # fmt: skip
IDLE = Habit(
    "idle", "idle", "#5B5D66", "x-thin-open",
    "What it adds to the tokens is less than a fifth as long as what an average head of its layer adds.",
)  # fmt: skip
HABITS = (CONTENT, FIXED, LOCAL, ITSELF, PREFIX, ONE, MIXED, EVERYWHERE, IDLE)  # legends have this order


@dataclass(frozen=True)
class Head:
    """One head's numbers. Shares are parts of a row, which sums to 1."""

    entropy: float  # bits, from 0 (one token gets all) to log₂ of the number of tokens (all get the same)
    breadth: float  # 2^entropy / tokens: the effective share of the tokens that the head listens to
    distance: float  # mean distance from the query to the attended patches, in patches
    to_self: float  # share of the query itself
    to_class: float  # share of the class token and the distillation token
    to_registers: float  # share of the registers
    to_one: float  # share of the patch that gets most, averaged over the queries
    near: float  # share of the eight neighbours
    offset: tuple[int, int]  # (down, right): the offset from the query that gets the largest mean share
    offset_share: float  # the mean share of the patch at `offset`
    content: float  # 0: every row is the head's mean pattern of offsets; 1: no row resembles this pattern
    colour: float  # 1 − colour distance to attended patches / distance by offsets alone; 0: ignores colour
    effect: float  # length of the vector that the head adds to a token, relative to the mean over its layer's heads


def habit_name(head: Head, own_object: float = 0.0) -> str:
    """The name of a head's habit; for a fixed offset, with its direction."""
    head_habit = habit(head, own_object)
    return f"{head_habit.label}: {direction(head.offset)}" if head_habit is FIXED else head_habit.label


def short_label(head: Head, head_habit: Habit) -> str:
    return direction(head.offset) if head_habit is FIXED else head_habit.short


def habit(head: Head, own_object: float = 0.0) -> Habit:
    """The habit of a head. `own_object`: the share on the query's own object, which is known for drawn scenes only."""
    other_share = 1 - head.to_self - head.to_class - head.to_registers
    if head.effect < 0.2:
        return IDLE
    if head.to_class + head.to_registers > 0.5:
        return PREFIX
    if head.to_one > 0.3:  # tested before CONTENT, because such rows are the same for all queries
        return ONE
    if head.to_self > 0.5:
        return ITSELF
    if head.offset_share > 0.3:
        return FIXED
    is_alike = head.colour > 0.2 or own_object > OWN_OBJECT_SHARE
    if head.content > 0.35 and is_alike:  # tested before LOCAL, because similar patches are often near
        return CONTENT
    if head.near > 0.5 * other_share:
        return LOCAL
    return EVERYWHERE if head.breadth > 0.5 else MIXED


def direction(offset: tuple[int, int]) -> str:
    """(0, -1) is "left", (2, 1) is "2 down, right"."""
    steps = [
        (n, (less, more)[n > 0]) for n, less, more in ((offset[0], "up", "down"), (offset[1], "left", "right")) if n
    ]
    return ", ".join(f"{abs(n)} {word}" if abs(n) > 1 else word for n, word in steps)


def training_task(vit: VisionTransformer, layer: int, head: int, query: str = "patch") -> str | None:
    """The task that a training loss gave to this head, as the end of "this head was told to …"; None if no loss read
    the head's weights. `query`: whose rows the loss read, "patch" for all patches or a prefix token such as "cls"."""
    tasks = [task.what for task in vit.told_heads if (task.layer, task.head, task.query) == (layer, head, query)]
    return " and ".join(tasks) or None


@dataclass(frozen=True)
class Habits:
    """The numbers of every head, each (layers, heads); Head explains each number."""

    entropy: np.ndarray
    breadth: np.ndarray
    distance: np.ndarray
    to_self: np.ndarray
    to_class: np.ndarray
    to_registers: np.ndarray
    to_one: np.ndarray
    near: np.ndarray
    content: np.ndarray
    colour: np.ndarray  # NaN if the trace has no image
    effect: np.ndarray  # NaN if the trace has no values
    offsets: np.ndarray  # (layers, heads, 7, 7): the mean share of each offset, the query in the middle

    def head(self, layer: int, head: int) -> Head:
        numbers = {f.name: float(getattr(self, f.name)[layer, head]) for f in fields(self) if f.name != "offsets"}
        shares = self.offsets[layer, head].copy()
        shares[REACH, REACH] = 0  # the query itself
        down, right = (int(place) - REACH for place in np.unravel_index(shares.argmax(), shares.shape))
        return Head(**numbers, offset=(down, right), offset_share=float(shares.max()))

    def habit_names(self, own_object: np.ndarray | None = None) -> list[list[str]]:
        """The name of every head's habit: [layer][head]. `own_object` (layers, heads): see `habit`."""
        return self._of_every_head(habit_name, own_object)

    def habits(self, own_object: np.ndarray | None = None) -> list[list[Habit]]:
        """Every head's habit: [layer][head]."""
        return self._of_every_head(habit, own_object)

    def _of_every_head(self, rule: Callable, own_object: np.ndarray | None) -> list[list]:
        layers, heads = self.entropy.shape
        shares = np.zeros((layers, heads)) if own_object is None else own_object
        return [[rule(self.head(i, head), shares[i, head]) for head in range(heads)] for i in range(layers)]


def measure_heads(seen: Trace) -> Habits:
    """Measures every head on one image."""
    return measure_layers(seen, range(seen.layers))


def stacked(layers: Sequence[Habits]) -> Habits:
    """One Habits for all layers, from the Habits of each layer."""
    return Habits(**{f.name: np.concatenate([getattr(layer, f.name) for layer in layers]) for f in fields(Habits)})


def measure_layers(trace: Trace, layers: Sequence[int], grid: Grid | None = None) -> Habits:
    """Measures the heads of these layers."""
    grid = grid or Grid.of(trace)
    layer_numbers = [_layer_numbers(trace, layer, grid) for layer in layers]
    return Habits(**{name: np.stack([layer[name].numpy() for layer in layer_numbers]) for name in layer_numbers[0]})


def even_distance(rows: int, columns: int) -> float:
    """The mean distance, in patches, of a head with uniform attention."""
    down, right = (torch.arange(n)[:, None] - torch.arange(n) for n in (rows, columns))
    return (down[:, :, None, None] ** 2 + right**2).sqrt().mean().item()


@dataclass(frozen=True)
class Grid:
    """Relative positions and colours of S queries and P patches (keys)."""

    queries: Tensor  # (S,) patch numbers
    down: Tensor  # (S, P) patches from the query to the key
    right: Tensor  # (S, P)
    colour: Tensor | None  # (S, P) distance between the mean colours of query and key

    @staticmethod
    def of(seen: Trace) -> Grid:
        rows, columns = seen.grid
        patches = torch.arange(rows * columns)
        queries = torch.tensor(measured_tokens(seen)) - len(seen.prefix)
        row, column = patches // columns, patches % columns
        colour = None
        if seen.input is not None:
            mean_colours = F.avg_pool2d(seen.input.detach().cpu(), seen.patch_size)[0].flatten(1).T  # (P, 3)
            colour = torch.cdist(mean_colours[queries], mean_colours)
        return Grid(queries, row - row[queries, None], column - column[queries, None], colour)


def head_report(
    trace: Trace, query: tuple[int, int], scale: float | None, give_way: Callable[[], object] = lambda: None
) -> dict:
    """The numbers of all heads that lessons state, as plain data; measureHeads in microscope/core/measures.js gives the
    same, without sinks, where the browser has made the pass. `scale`: another scale for the rows. `far`: the sum of the
    query's weights on a few far patches, less the mean row; that excludes heads whose rows are all alike."""
    rows, columns = trace.grid
    queries, first_patch, grid = measured_tokens(trace), len(trace.prefix), Grid.of(trace)
    first_register = first_patch - sum(name.startswith("reg") for name in trace.prefix)
    distances = (grid.down**2 + grid.right**2).sqrt()  # (queries, patches)
    down, right = torch.arange(rows)[:, None] - query[0], torch.arange(columns) - query[1]
    is_far = torch.maximum(down.abs(), right.abs()) > REACH  # (rows, columns)
    all_heads, sinks = [], []
    for layer in range(trace.layers):
        weights = trace.weights(layer, queries, scale)  # (heads, queries, tokens)
        q, k, _ = trace.record[layer]
        scores = (q[:, queries].float() @ k.float().mT).cpu() * (scale or trace.native_scale)
        mean, patches = weights.mean(1), weights[..., first_patch:]
        added_lengths = patches * trace.value_norms(layer)[:, None, first_patch:]
        surplus = trace.on_grid((trace.rows(layer, query, scale) - mean).clamp(min=0)) * is_far
        numbers = {
            "entropy": entropy(weights).mean(-1),
            "peak": weights.amax(-1).mean(-1),
            "deviation": scores.std(-1, correction=0).mean(-1),
            "distance": ((patches * distances).sum(-1) / patches.sum(-1).clamp(min=1e-9)).mean(-1),
            "differing": (patches.argmax(-1) != added_lengths.argmax(-1)).float().mean(-1),
            "to_one": mean[:, first_patch:].amax(-1),
            "to_class": mean[:, :first_register].sum(-1),
            "to_registers": mean[:, first_register:first_patch].sum(-1),
            "far": surplus.flatten(1).topk(max(1, rows * columns // 20)).values.sum(-1),
        }
        all_heads += [
            {"layer": layer, "head": head} | {name: float(values[head]) for name, values in numbers.items()}
            for head in range(trace.heads)
        ]
        sinks += [{"layer": layer, "head": sink.head, "kind": sink.kind} for sink in sinks_of(trace, layer)]
        give_way()
    return {"tokens": trace.tokens, "measured": len(queries), "all": all_heads, "sinks": sinks}


def _layer_numbers(trace: Trace, layer: int, grid: Grid) -> dict[str, Tensor]:
    """{field of Habits: (heads,)} for one layer."""
    first_patch = len(trace.prefix)
    weights = trace.weights(layer, (first_patch + grid.queries).tolist())  # (heads, S, tokens)
    bits = entropy(weights)  # (heads, S)
    patch_weights, is_itself = weights[..., first_patch:], (grid.down == 0) & (grid.right == 0)
    distances, patch_share = (grid.down**2 + grid.right**2).sqrt(), patch_weights.sum(-1).clamp(min=1e-9)
    register_count = sum(name.startswith("reg") for name in trace.prefix)
    pattern, offset_maps = _pattern(patch_weights, grid)
    other_weights, expected_weights = (_without_itself(rows, is_itself) for rows in (patch_weights, pattern))
    return {
        "entropy": bits.mean(-1),
        "breadth": (2**bits).mean(-1) / weights.shape[-1],
        "distance": ((patch_weights * distances).sum(-1) / patch_share).mean(-1),
        "to_self": patch_weights[:, is_itself].mean(-1),
        "to_class": weights[..., : first_patch - register_count].sum(-1).mean(-1),
        "to_registers": weights[..., first_patch - register_count : first_patch].sum(-1).mean(-1),
        "to_one": patch_weights.mean(-2).amax(-1),
        "near": (patch_weights * ((distances < 2) & ~is_itself)).sum(-1).mean(-1),
        "content": (other_weights - expected_weights).abs().sum(-1).mean(-1) / 2,
        "colour": _colour(other_weights, expected_weights, grid),
        "effect": _effect(trace, layer, weights),
        "offsets": offset_maps,
    }


def _pattern(patch_weights: Tensor, grid: Grid) -> tuple[Tensor, Tensor]:
    """(rows, maps) of the mean weight of each head at each offset, over the queries with a patch at this offset. rows:
    each head's rows if a weight depended on the offset alone (heads, S, P); maps: around the query (heads, 7, 7)"""
    heads, top, left = len(patch_weights), int(grid.down.min()), int(grid.right.min())
    row_length = int(grid.right.max()) - left + 1
    offset_numbers = (grid.down - top) * row_length + grid.right - left  # (S, P): a number for each offset
    counts = torch.bincount(offset_numbers.flatten(), minlength=int(offset_numbers.max()) + 1)
    totals = torch.zeros(heads, len(counts)).index_add_(1, offset_numbers.flatten(), patch_weights.flatten(1))
    mean_weights = totals / counts.clamp(min=1)
    offset_map = torch.zeros(heads, 2 * REACH + 1, 2 * REACH + 1)
    for down in range(max(-REACH, top), min(REACH, -top) + 1):
        for right in range(max(-REACH, left), min(REACH, -left) + 1):
            offset = (down - top) * row_length + right - left
            if 2 * counts[offset] >= len(grid.queries):  # a mean over fewer queries would be noise
                offset_map[:, down + REACH, right + REACH] = mean_weights[:, offset]
    return mean_weights[:, offset_numbers], offset_map


def _without_itself(rows: Tensor, is_itself: Tensor) -> Tensor:
    """Rows without the query's own patch, renormalised to sum to 1."""
    rows = rows.masked_fill(is_itself, 0)
    return rows / rows.sum(-1, keepdim=True).clamp(min=1e-9)


def _colour(other_weights: Tensor, expected_weights: Tensor, grid: Grid) -> Tensor:
    if grid.colour is None:
        return torch.full((len(other_weights),), torch.nan)
    distance, expected_distance = ((rows * grid.colour).sum((-2, -1)) for rows in (other_weights, expected_weights))
    return torch.where(expected_distance > 1e-6, 1 - distance / expected_distance.clamp(min=1e-6), 0)


def _effect(trace: Trace, layer: int, weights: Tensor) -> Tensor:
    """The mean length of the vector that each head adds to a patch, divided by the layer's average."""
    v = trace.record[layer].v
    if v is None or trace.vit is None:
        return torch.full((len(weights),), torch.nan)
    matrices = output_matrices(trace.vit.blocks[layer]).cpu()
    lengths = (weights @ v.float().cpu() @ matrices.mT).norm(dim=-1).mean(-1)
    return lengths / lengths.mean().clamp(min=1e-9)


# A token adds weight × value to the query's output. So the patch with the largest weight need not contribute most: at
# equal weights, the token with the longer value contributes more.


@dataclass(frozen=True)
class Disagreement:
    """How often the patch that contributes most is not the one with the largest weight."""

    share: Tensor  # (layers, heads)
    queries: int  # per head
    breadth: float  # 2^entropy, the effective number of tokens, averaged over the rows

    @property
    def overall(self) -> float:
        return float(self.share.mean())

    @property
    def rows(self) -> int:
        return self.queries * self.share.numel()


def disagreement(trace: Trace, give_way: Callable[[], object] = lambda: None) -> Disagreement:
    """Compares weights and contributions, over all layers and heads and the patches of `measured_tokens`. Both maxima
    are over patches, without prefix tokens. `give_way` is called after every layer."""
    first_patch = len(trace.prefix)
    queries = measured_tokens(trace)
    shares, breadth = torch.empty(trace.layers, trace.heads), 0.0
    for layer in range(trace.layers):
        weights = trace.weights(layer, queries)  # (heads, queries, tokens)
        breadth += float((2 ** entropy(weights)).mean(-1).sum())
        heaviest_patch = weights[..., first_patch:].argmax(-1)  # (heads, queries)
        largest_contributor = (weights * trace.value_norms(layer)[:, None])[..., first_patch:].argmax(-1)
        shares[layer] = (heaviest_patch != largest_contributor).float().mean(-1)
        give_way()
    return Disagreement(shares, len(queries), breadth / shares.numel())
