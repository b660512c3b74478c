"""What a cut changes: how far a token's feature moves, beside cuts of as much attention to other patches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.cuts import Cut
from playground.errors import PlaygroundError
from playground.tracing import Query, Trace

SMALLEST = 1e-12
NEAR = 0.1  # so much more attention may be cut from others, or three times so much less


@dataclass(frozen=True)
class Moved:
    by: float  # ‖x' − x‖ / ‖x‖ of the token after the last layer
    others: tuple[float, ...]  # the same, where the attention to other patches was cut instead
    attention: float  # what the cut took of the hearers' attention, on average over them, the layers and the heads
    others_attention: tuple[float, ...]

    @property
    def times(self) -> float:
        """How many times as far as where other patches were cut."""
        return self.by / max(sum(self.others) / len(self.others), SMALLEST)


def moved(whole: Trace, cut: Trace, query: Query) -> float:
    """How far the token's feature moved: ‖x' − x‖ / ‖x‖ after the last layer."""
    token = whole.token(query)
    before, after = (seen.features()[token] for seen in (whole, cut))
    return float((after - before).norm() / before.norm().clamp(min=SMALLEST))


def beside_others(
    whole: Trace, cut: Trace, query: Query, run: Callable[[list[str]], Trace], times: int = 3, seed: int = 0
) -> Moved:
    """The same, and what happens where as much attention is cut from other patches, which are drawn at random.
    `run(texts)` traces the same picture with these cuts. Of cuts that name whom they silence."""
    taken, others = attention_cut(whole, cut.cuts.all), []
    for n in range(times):
        texts = [_of_others(whole, one, seed + n) for one in cut.cuts.all]
        other = run(texts)
        others.append((moved(whole, other, query), attention_cut(whole, other.cuts.all)))
    return Moved(moved(whole, cut, query), tuple(by for by, _ in others), taken, tuple(a for _, a in others))


def attention_cut(whole: Trace, cuts: tuple[Cut, ...]) -> float:
    """The share of their attention that hearers lose, on average over them and the layers and heads of each cut."""
    shares = [float(_given(whole, cut)[_unheard(whole, cut)].sum()) for cut in cuts]
    return sum(shares) / max(len(shares), 1)


def _given(whole: Trace, cut: Cut) -> Tensor:
    """(tokens,): the attention that each token gets from the hearers of a cut, on average over its layers and heads."""
    hearers = list(cut.hearers) if cut.hearers is not None else whole.some_patches(256)
    heads = slice(None) if cut.heads is None else list(cut.heads)
    layers = range(whole.layers) if cut.layers is None else cut.layers
    total = torch.zeros(whole.tokens)
    for layer in layers:
        rows = whole.weights(layer, hearers)[heads]  # (h, hearers, N)
        rows[:, range(len(hearers)), hearers] = 0  # what one hears of oneself is never cut
        total += rows.mean((0, 1))
    return total / len(layers)


def _unheard(whole: Trace, cut: Cut) -> list[int]:
    if cut.kernel or cut.unheard is None:
        raise PlaygroundError(f"{cut.text!r:.80} silences nearly everybody: there are no other patches to cut instead.")
    return list(cut.unheard)


def _of_others(whole: Trace, cut: Cut, seed: int) -> str:
    """A cut that takes about as much attention from patches that this one leaves alone."""
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

NEARBY = 5  # the longer side, divided by it: so near to the hearer no twin is looked for
BLOCKS = 4  # elsewhere in the picture, which are cut instead
PASSES = 1 + BLOCKS
AS_MANY = 4  # passes without a cut take as long as one with a cut, whose mask slows the fused kernel down


@dataclass(frozen=True)
class Edge:
    """A patch no longer hears the far patch that is most like it, nor those around that one, in any layer."""

    twin: tuple[int, int]
    by: float  # how far the hearer's feature moves
    others: tuple[float, ...]  # the same, where it does not hear such a block elsewhere
    before: float  # the cosine of both features
    after: float

    @property
    def times(self) -> float:
        return self.by / max(sum(self.others) / len(self.others), SMALLEST)


def far_twin(seen: Trace, query: tuple[int, int]) -> tuple[tuple[int, int], float]:
    """The patch whose feature is most like this one's, of those that are not near it; and their cosine."""
    features = torch.nn.functional.normalize(seen.features(), dim=-1)
    alike = seen.on_grid(features @ features[seen.token(query)])
    near = _near(seen.grid)
    row, column = (slice(max(0, at - near), at + near + 1) for at in query)
    alike = alike.clone()
    alike[row, column] = -2
    return divmod(int(alike.argmax()), seen.grid[1]), float(alike.max())


def cut_edge(
    seen: Trace, query: tuple[int, int], run: Callable[[list[str]], Trace],
    give_way: Callable[[], object] = lambda: None, seed: int = 0,
) -> Edge | None:  # fmt: skip
    """`run(texts)` traces the same picture with these cuts; `give_way` is called after each. None: the grid is so small
    that nothing is far."""
    twin, before = far_twin(seen, query)
    far = [
        (row, column) for row in range(seen.grid[0]) for column in range(seen.grid[1])
        if min(_apart((row, column), query), _apart((row, column), twin)) > _near(seen.grid)
    ]  # fmt: skip
    if not far:
        return None
    order = torch.randperm(len(far), generator=torch.Generator().manual_seed(seed))[:BLOCKS].tolist()
    moves = []
    for spot in (twin, *(far[n] for n in order)):
        cut = run([f"{query[0]},{query[1]}>{_around(spot, seen.grid)}"])
        moves.append(moved(seen, cut, query))
        if spot == twin:
            features = torch.nn.functional.normalize(cut.features(), dim=-1)
            after = float(features[cut.token(query)] @ features[cut.token(twin)])
        give_way()
    return Edge(twin, moves[0], tuple(moves[1:]), before, after)


def _near(grid: tuple[int, int]) -> int:
    return max(2, max(grid) // NEARBY)  # blocks of 3 × 3 that are farther apart share no patch


def _apart(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def _around(spot: tuple[int, int], grid: tuple[int, int]) -> str:
    rows, columns = (range(max(0, at - 1), min(side, at + 2)) for at, side in zip(spot, grid, strict=True))
    return "+".join(f"{row},{column}" for row in rows for column in columns)
