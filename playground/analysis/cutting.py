"""Measures how far a cut moves a token's feature, compared with cuts of as much attention to other patches. A cut sets
attention to zero: the weights that some tokens (the hearers) give to other tokens (the unheard)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground import cuts
from playground.cuts import Cut, Cuts
from playground.errors import PlaygroundError
from playground.tracing import Query, Trace, relative_change

TOLERANCE = 0.1  # a control cuts 1 − 3 · TOLERANCE to 1 + TOLERANCE times as much attention as the real cut


@dataclass(frozen=True)
class Moves:
    move: float  # ‖x' − x‖ / ‖x‖ of the token after the last layer
    control_moves: tuple[float, ...]  # this change by each control, a cut of attention to other patches

    @property
    def times(self) -> float:
        """The feature's move by the cut, divided by the mean of its moves by the controls."""
        return self.move / max(sum(self.control_moves) / len(self.control_moves), 1e-12)


@dataclass(frozen=True)
class CutEffect(Moves):
    attention: float  # share of the hearers' attention that was cut, mean over hearers, layers and heads
    control_attention: tuple[float, ...]  # the same for each control


def feature_move(baseline: Trace, texts: Sequence[str], query: Query) -> float:
    """The relative change of the token's feature by these cuts: ‖x' − x‖ / ‖x‖ after the last layer."""
    token = baseline.token(query)
    features = _features_with(baseline, cuts.read(texts, baseline.cuts.shape))
    return float(relative_change(features[token], baseline.features()[token]))


def _features_with(baseline: Trace, cut_set: Cuts) -> Tensor:
    """The features of a pass with these cuts, (tokens, width)."""
    return replace(baseline, cuts=cut_set).features()


def moved_beside_controls(
    baseline: Trace, texts: Sequence[str], query: Query, give_way: Callable[[], object] = lambda: None,
    controls: int = 3, seed: int = 0,
) -> CutEffect:  # fmt: skip
    """Like `feature_move`, with controls: random cuts of other patches that together get about the same attention. The
    cuts must name the tokens that are not heard. `give_way` is called after each pass."""
    cut_set = cuts.read(texts, baseline.cuts.shape)
    cut_sets = [cut_set]
    for control in range(controls):
        cut_sets.append(cuts.read([_control_cut(baseline, cut, seed + control) for cut in cut_set.all], cut_set.shape))
    token = baseline.token(query)
    feature_before, moves = baseline.features()[token], []
    for cut_set in cut_sets:
        give_way()
        moves.append(float(relative_change(_features_with(baseline, cut_set)[token], feature_before)))
    attention, *controls_attention = (attention_cut(baseline, cut_set.all) for cut_set in cut_sets)
    return CutEffect(moves[0], tuple(moves[1:]), attention, tuple(controls_attention))


def attention_cut(baseline: Trace, cut_list: Sequence[Cut]) -> float:
    """The share of attention that the hearers lose, averaged over hearers, layers, heads and cuts."""
    lost_shares = [float(_attention_received(baseline, cut)[_unheard(baseline, cut)].sum()) for cut in cut_list]
    return sum(lost_shares) / max(len(lost_shares), 1)


def _attention_received(baseline: Trace, cut: Cut) -> Tensor:
    """(tokens,): the attention that each token gets from a cut's hearers, averaged over the cut's layers and heads."""
    hearers = list(cut.hearers) if cut.hearers is not None else baseline.some_patches(256)
    heads = slice(None) if cut.heads is None else list(cut.heads)
    layers = range(baseline.layers) if cut.layers is None else cut.layers
    received = torch.zeros(baseline.tokens)
    for layer in layers:
        rows = baseline.weights(layer, hearers)[heads]  # (h, hearers, N)
        rows[:, range(len(hearers)), hearers] = 0  # a token's own weight is never cut
        received += rows.mean((0, 1))
    return received / len(layers)


def _unheard(baseline: Trace, cut: Cut) -> list[int]:
    if cut.kernel or cut.unheard is None:
        raise PlaygroundError(f"{cut.text!r:.80} silences nearly everybody: there are no other patches to cut instead.")
    return list(cut.unheard)


def _control_cut(baseline: Trace, cut: Cut, seed: int) -> str:
    """A control as text: a cut of other patches with about the same total attention."""
    attention, unheard = _attention_received(baseline, cut), set(_unheard(baseline, cut))
    target_share = float(attention[list(unheard)].sum())
    hearers = set(cut.hearers or ())
    candidates = [number for number in range(len(baseline.prefix), baseline.tokens) if number not in unheard | hearers]
    chosen_tokens: list[int] = []
    total = 0.0
    for number in torch.randperm(len(candidates), generator=torch.Generator().manual_seed(seed)).tolist():
        token = candidates[number]
        share = float(attention[token])
        if total + share <= target_share * (1 + TOLERANCE):
            chosen_tokens.append(token)
            total += share
    if total < target_share * (1 - 3 * TOLERANCE):
        raise PlaygroundError(f"No other patches get as much attention as {cut.text!r:.80} takes: nothing is like it.")
    hearer_text, _, layers_text = cut.text.partition(">")
    _, at_sign, layers_text = layers_text.partition("@")
    columns = baseline.grid[1]
    patch_places = (divmod(token - len(baseline.prefix), columns) for token in sorted(chosen_tokens))
    return f"{hearer_text}>{'+'.join(f'{row},{column}' for row, column in patch_places)}{at_sign}{layers_text}"


NEAR_DIVISOR = 5  # a patch is far from another if it is more than the grid's longer side / NEAR_DIVISOR away
CUT_DIVISOR = 14  # a cut also covers patches within the grid's longer side / CUT_DIVISOR, as an eye has several
LARGEST_CUT_RADIUS = 4  # patches on each side of a block's middle; a larger cut is too long for an address
CONTROL_COUNT = 4  # the number of controls, which cut blocks elsewhere in the picture
PASSES = 2 + CONTROL_COUNT  # passes of `cut_edge`: without a cut, with the cut, and with each control


@dataclass(frozen=True)
class Edge(Moves):
    """The effect of a cut: in all layers, one patch (the hearer) no longer attends to its twin, the most similar far
    patch, and to the patches around the twin."""

    twin: tuple[int, int]
    cut_radius: int  # patches on each side of the twin
    cut: str  # the cut as text
    cosine_before: float  # the cosine of the features of hearer and twin, without the cut
    cosine_after: float  # the same with the cut


def far_twin(trace: Trace, query: tuple[int, int], features: Tensor) -> tuple[int, int]:
    """The patch far from `query` whose feature is most similar to that of `query`."""
    cosines = trace.on_grid(torch.cosine_similarity(features, features[trace.token(query)], dim=-1))
    radius = _near_radius(trace.grid)
    row, column = (slice(max(0, position - radius), position + radius + 1) for position in query)
    cosines[row, column] = -2
    return divmod(int(cosines.argmax()), trace.grid[1])


def cut_edge(trace: Trace, query: tuple[int, int], give_way: Callable[[], object], seed: int = 0) -> Edge | None:
    """Cuts the edge from a patch to its twin and measures the effect; None if the grid is too small for controls.
    `give_way` is called before each changed pass."""
    features_before = trace.features()
    twin = far_twin(trace, query, features_before)
    far_patches = [
        (row, column) for row in range(trace.grid[0]) for column in range(trace.grid[1])
        if min(_distance((row, column), query), _distance((row, column), twin)) > _near_radius(trace.grid)
    ]  # fmt: skip
    if not far_patches:
        return None
    order = torch.randperm(len(far_patches), generator=torch.Generator().manual_seed(seed)).tolist()
    radius, places = cut_radius(trace.grid), [twin, *(far_patches[n] for n in order[:CONTROL_COUNT])]
    texts = [_cut_around(query, place, radius, trace.grid) for place in places]
    features_after = []
    for text in texts:
        give_way()
        features_after.append(_features_with(trace, cuts.read(text, trace.cuts.shape)))
    hearer, twin_token = trace.token(query), trace.token(twin)
    move, *control_moves = (float(relative_change(x[hearer], features_before[hearer])) for x in features_after)
    cosines = (
        float(torch.cosine_similarity(x[hearer], x[twin_token], dim=0)) for x in (features_before, features_after[0])
    )
    return Edge(move, tuple(control_moves), twin, radius, texts[0], *cosines)


def cut_radius(grid: tuple[int, int]) -> int:
    """The number of patches on each side of the twin that a cut covers as well."""
    return min(LARGEST_CUT_RADIUS, max(1, max(grid) // CUT_DIVISOR))


def _near_radius(grid: tuple[int, int]) -> int:
    return max(2, max(grid) // NEAR_DIVISOR)  # blocks around two patches at a larger distance share no patch


def _distance(first: tuple[int, int], second: tuple[int, int]) -> int:
    return max(abs(a - b) for a, b in zip(first, second, strict=True))


def _cut_around(query: tuple[int, int], centre: tuple[int, int], radius: int, grid: tuple[int, int]) -> str:
    """A cut as text: `query` does not hear the block of patches around `centre`."""
    rows, columns = (
        range(max(0, position - radius), min(side, position + radius + 1))
        for position, side in zip(centre, grid, strict=True)
    )
    return f"{query[0]},{query[1]}>" + "+".join(f"{row},{column}" for row in rows for column in columns)
