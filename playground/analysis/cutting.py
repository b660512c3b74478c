"""Measures a cut: how far a token's feature moves, compared with cuts of the same attention to other patches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground import cuts
from playground.cuts import Cut, Cuts
from playground.errors import PlaygroundError
from playground.tracing import Query, Trace

SMALLEST = 1e-12
NEAR = 0.1  # a control may cut this share more attention, or three times this share less


@dataclass(frozen=True)
class Moved:
    by: float  # ‖x' − x‖ / ‖x‖ of the token after the last layer
    others: tuple[float, ...]  # the same for the controls, which cut attention to other patches
    attention: float  # share of the hearers' attention that was cut, mean over hearers, layers and heads
    others_attention: tuple[float, ...]

    @property
    def times(self) -> float:
        """How many times as far the feature moves as with the controls."""
        return self.by / max(sum(self.others) / len(self.others), SMALLEST)


def moved(whole: Trace, texts: Sequence[str], query: Query) -> float:
    """How far these cuts move the token's feature: ‖x' − x‖ / ‖x‖ after the last layer."""
    token = whole.token(query)
    return _far(whole.features()[token], _features(whole, cuts.read(texts, whole.cuts.shape))[token])


def _features(whole: Trace, made: Cuts) -> Tensor:
    """The features of a pass with these cuts, (tokens, width). Nothing else of the pass is kept."""
    return replace(whole, cuts=made).features()


def _far(before: Tensor, after: Tensor) -> float:
    return float((after - before).norm() / before.norm().clamp(min=SMALLEST))


def beside_others(
    whole: Trace, texts: Sequence[str], query: Query, give_way: Callable[[], object] = lambda: None, times: int = 3,
    seed: int = 0,
) -> Moved:  # fmt: skip
    """Like `moved`, with controls: the same cuts of other patches, drawn at random, with the same attention. The cuts
    must name the tokens that are not heard. `give_way` is called after each pass."""
    made = cuts.read(texts, whole.cuts.shape)
    several = [made]
    for n in range(times):
        several.append(cuts.read([_of_others(whole, one, seed + n) for one in made.all], made.shape))
    token = whole.token(query)
    before, moves = whole.features()[token], []
    for one in several:
        give_way()
        moves.append(_far(before, _features(whole, one)[token]))
    taken, *others = (attention_cut(whole, one.all) for one in several)
    return Moved(moves[0], tuple(moves[1:]), taken, tuple(others))


def attention_cut(whole: Trace, made: Sequence[Cut]) -> float:
    """The share of their attention that hearers lose, on average over them and the layers and heads of each cut."""
    shares = [float(_given(whole, cut)[_unheard(whole, cut)].sum()) for cut in made]
    return sum(shares) / max(len(shares), 1)


def _given(whole: Trace, cut: Cut) -> Tensor:
    """(tokens,): the attention that each token gets from the hearers of a cut, on average over its layers and heads."""
    hearers = list(cut.hearers) if cut.hearers is not None else whole.some_patches(256)
    heads = slice(None) if cut.heads is None else list(cut.heads)
    layers = range(whole.layers) if cut.layers is None else cut.layers
    total = torch.zeros(whole.tokens)
    for layer in layers:
        rows = whole.weights(layer, hearers)[heads]  # (h, hearers, N)
        rows[:, range(len(hearers)), hearers] = 0  # what a token hears of itself is never cut
        total += rows.mean((0, 1))
    return total / len(layers)


def _unheard(whole: Trace, cut: Cut) -> list[int]:
    if cut.kernel or cut.unheard is None:
        raise PlaygroundError(f"{cut.text!r:.80} silences nearly everybody: there are no other patches to cut instead.")
    return list(cut.unheard)


def _of_others(whole: Trace, cut: Cut, seed: int) -> str:
    """Control: cuts other patches with about the same total attention."""
    given, unheard = _given(whole, cut), set(_unheard(whole, cut))
    wanted = float(given[list(unheard)].sum())
    hearers = set(cut.hearers or ())
    free = [t for t in range(len(whole.prefix), whole.tokens) if t not in unheard | hearers]
    order = [free[i] for i in torch.randperm(len(free), generator=torch.Generator().manual_seed(seed))]
    chosen: list[int] = []
    held = 0.0
    for token in order:
        share = float(given[token])
        if held + share <= wanted * (1 + NEAR):
            chosen.append(token)
            held += share
    if held < wanted * (1 - 3 * NEAR):
        raise PlaygroundError(f"No other patches get as much attention as {cut.text!r:.80} takes: nothing is like it.")
    who, _, where = cut.text.partition(">")
    _, at, where = where.partition("@")
    columns = whole.grid[1]
    names = (divmod(token - len(whole.prefix), columns) for token in sorted(chosen))
    return f"{who}>{'+'.join(f'{row},{column}' for row, column in names)}{at}{where}"


# One edge -------------------------------------------------------------------------------------------------------------

NEARBY = 5  # a twin is at least the longer side / NEARBY away from the hearer
AROUND = 14  # patches within the longer side / AROUND of the twin are cut with it, since an eye is several patches
MOST_AROUND = 4  # patches: with a larger block, the cut as text is too long for an address
BLOCKS = 4  # controls: blocks elsewhere in the picture
PASSES = 2 + BLOCKS  # without a cut, with the cut, and with each control


@dataclass(frozen=True)
class Edge:
    """Measures a cut: in no layer does a patch hear its twin, the far patch most like it, or the patches around
    that."""

    twin: tuple[int, int]
    around: int  # patches on each side of it
    cut: str  # as a text
    by: float  # how far the hearer's feature moves
    others: tuple[float, ...]  # the same for the controls
    before: float  # the cosine of the features of hearer and twin
    after: float

    @property
    def times(self) -> float:
        return self.by / max(sum(self.others) / len(self.others), SMALLEST)


def far_twin(seen: Trace, query: tuple[int, int], features: Tensor) -> tuple[int, int]:
    """Among the patches far from `query`, the one whose feature is most like its feature."""
    alike = seen.on_grid(torch.cosine_similarity(features, features[seen.token(query)], dim=-1))
    near = _near(seen.grid)
    row, column = (slice(max(0, at - near), at + near + 1) for at in query)
    alike[row, column] = -2
    return divmod(int(alike.argmax()), seen.grid[1])


def cut_edge(seen: Trace, query: tuple[int, int], give_way: Callable[[], object], seed: int = 0) -> Edge | None:
    """Cuts the edge and measures it; None if the grid is too small for a far twin. `give_way` is called after each
    pass."""
    before = seen.features()
    twin = far_twin(seen, query, before)
    far = [
        (row, column) for row in range(seen.grid[0]) for column in range(seen.grid[1])
        if min(_apart((row, column), query), _apart((row, column), twin)) > _near(seen.grid)
    ]  # fmt: skip
    if not far:
        return None
    order = torch.randperm(len(far), generator=torch.Generator().manual_seed(seed))[:BLOCKS].tolist()
    reach = around(seen.grid)
    texts, after = [_without(query, spot, reach, seen.grid) for spot in (twin, *(far[n] for n in order))], []
    for text in texts:
        give_way()
        after.append(_features(seen, cuts.read(text, seen.cuts.shape)))
    at, there = seen.token(query), seen.token(twin)
    by, *others = (_far(before[at], features[at]) for features in after)
    alike = (float(torch.cosine_similarity(x[at], x[there], dim=0)) for x in (before, after[0]))
    return Edge(twin, reach, texts[0], by, tuple(others), *alike)


def around(grid: tuple[int, int]) -> int:
    """How far the block that is cut reaches beyond the twin, in patches on each side."""
    return min(MOST_AROUND, max(1, max(grid) // AROUND))


def _near(grid: tuple[int, int]) -> int:
    return max(2, max(grid) // NEARBY)  # blocks that are farther apart share no patch


def _apart(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def _without(query: tuple[int, int], spot: tuple[int, int], around: int, grid: tuple[int, int]) -> str:
    """A cut as text: `query` does not hear the block of patches around `spot`."""
    rows, columns = (
        range(max(0, at - around), min(side, at + around + 1)) for at, side in zip(spot, grid, strict=True)
    )
    return f"{query[0]},{query[1]}>" + "+".join(f"{row},{column}" for row in rows for column in columns)
