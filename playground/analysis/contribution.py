"""Attention weight versus contribution: the patch with the largest weight need not contribute most.

A token adds weight × value to the query's output, so at equal weights a longer value contributes more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.analysis import heads
from playground.tracing import Trace, entropy


@dataclass(frozen=True)
class Differing:
    """How often the patch that contributes most is not the one with the largest weight."""

    share: Tensor  # (layers, heads)
    queries: int  # per head
    breadth: float  # 2^entropy, averaged over these rows: the effective number of tokens

    @property
    def overall(self) -> float:
        return float(self.share.mean())

    @property
    def rows(self) -> int:
        return self.queries * self.share.numel()


def differing(seen: Trace, give_way: Callable[[], object] = lambda: None) -> Differing:
    """Over all layers and heads and the patches of `heads.asking`. Both maxima are taken over the patches, without the
    prefix tokens. `give_way` is called after every layer."""
    front = len(seen.prefix)
    asked = heads.asking(seen)
    share, breadth = torch.empty(seen.layers, seen.heads), 0.0
    for layer in range(seen.layers):
        weights = seen.weights(layer, asked)  # (heads, queries, tokens)
        breadth += float((2 ** entropy(weights)).mean(-1).sum())
        heaviest = weights[..., front:].argmax(-1)  # (heads, queries)
        greatest = (weights * seen.value_norms(layer)[:, None])[..., front:].argmax(-1)
        share[layer] = (heaviest != greatest).float().mean(-1)
        give_way()
    return Differing(share, len(asked), breadth / share.numel())
