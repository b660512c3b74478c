"""Sinks: tokens that take much of everybody's weight, and which of two things that is.

What lands on a sink may carry next to nothing: the head then adds nothing where it has nothing to add. Or it carries
one thing, which the head hands to everybody. The row looks the same; the lengths of the values and the rank of what the
head writes tell the two apart (Fesser et al., 2026, A Unifying View of Attention Sinks). It says nothing of what the
one thing is, nor whether later layers use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from playground.tracing import Trace
from playground.vit_parts import output_matrices, plainly

SINK_SHARE = 0.2  # a token that takes this share of the mean row is a sink
LITTLE = 0.5  # × the median value's length: below it a sink carries next to nothing
ONE_THING = 2.5  # effective rank of what the head writes, at most, where it writes one thing to all
MOST_QUERIES = 256  # patches whose rows are averaged
Kind = Literal["nothing", "one thing", "neither"]


@dataclass(frozen=True)
class Sink:
    layer: int
    head: int
    token: int
    name: str  # "cls", or "row,column" of a patch
    share: float  # of the mean row of patches
    carried: float  # the length of the sink's value after W_O, divided by the median token's
    rank: float  # the effective rank of what the head writes into the patches: exp(entropy of the singular values)

    @property
    def kind(self) -> Kind:
        if self.carried < LITTLE:
            return "nothing"
        return "one thing" if self.rank <= ONE_THING else "neither"


@plainly
def sinks(trace: Trace, least: float = SINK_SHARE) -> list[Sink]:
    """The sink of each head that has one, in the order of layers and heads."""
    return [sink for layer in trace.record for sink in sinks_of(trace, layer, least)]


@plainly
def sinks_of(trace: Trace, layer: int, least: float = SINK_SHARE) -> list[Sink]:
    weights, found = trace.weights(layer, trace.some_patches(MOST_QUERIES)), []  # (h, queries, N)
    shares, tokens = weights.mean(1).max(-1)  # (h,) each
    heads = (shares >= least).nonzero()[:, 0].tolist()
    if not heads:
        return []
    norms = trace.value_norms(layer)  # (h, N)
    ranks = effective_ranks(weights[heads] @ in_the_stream(trace, layer)[heads])
    for head, rank in zip(heads, ranks.tolist(), strict=True):
        token = int(tokens[head])
        carried = float(norms[head, token] / norms[head].median())
        place = token - len(trace.prefix)
        name = trace.prefix[token] if place < 0 else "{},{}".format(*divmod(place, trace.grid[1]))
        found.append(Sink(layer, head, token, name, float(shares[head]), carried, rank))
    return found


def in_the_stream(trace: Trace, layer: int) -> Tensor:
    """(h, N, d): each value after W_O, up to a rotation of the residual stream, which changes no length, no product and
    no singular value: W_O = Q R, and Q's columns are orthonormal."""
    vit, v = trace._need_vit(), trace.record[layer].v.float().cpu()
    _, upper = torch.linalg.qr(output_matrices(vit.blocks[layer]).float().cpu())  # (h, D, d) -> (h, d, d)
    return v @ upper.mT


def parts_of_written(row: Tensor, values: Tensor) -> Tensor:
    """(N,), (N, d) -> (N,): weight × value along what the head writes. The parts sum to the length of that; one below
    zero points against the others (Cunningham, Muca Cirone, 2026)."""
    written = row @ values  # (d,)
    return row * (values @ written) / written.norm().clamp(min=1e-30)


def effective_ranks(x: Tensor) -> Tensor:
    """(…, n, d) -> (…,): exp of the entropy of the singular values as shares (Roy & Vetterli, 2007)."""
    values = torch.linalg.svdvals(x)
    shares = values / values.sum(-1, keepdim=True).clamp(min=1e-30)
    return torch.special.entr(shares).sum(-1).exp()
