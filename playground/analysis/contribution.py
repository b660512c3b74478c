"""What a weight is not: the most-weighted patch need not be the one that contributes most.

A token adds weight × value to the one that listens. A long value counts for more than a short one of the same weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.tracing import Trace, entropy

ALL = 1024  # patches: of a larger grid MOST_QUERIES are asked, evenly spread
MOST_QUERIES = 400


@dataclass(frozen=True)
class Differing:
    """How often another patch contributes most than the one that has the largest weight."""

    share: Tensor  # (layers, heads)
    queries: int  # patches that were asked in each head
    breadth: float  # 2^entropy, averaged over all these rows: as if so many tokens were listened to, each alike

    @property
    def overall(self) -> float:
        return float(self.share.mean())

    @property
    def rows(self) -> int:
        return self.queries * self.share.numel()


def differing(seen: Trace) -> Differing:
    """Over all layers, heads and patches. Both maxima are taken over the patches, without the prefix tokens."""
    front = len(seen.prefix)
    asked = seen.some_patches(ALL if seen.tokens - front <= ALL else MOST_QUERIES)
    share, breadth = torch.empty(seen.layers, seen.heads), 0.0
    for layer in range(seen.layers):
        weights = seen.weights(layer, asked)  # (heads, queries, tokens)
        breadth += float((2 ** entropy(weights)).mean(-1).sum())
        heaviest = weights[..., front:].argmax(-1)  # (heads, queries)
        greatest = (weights * seen.value_norms(layer)[:, None])[..., front:].argmax(-1)
        share[layer] = (heaviest != greatest).float().mean(-1)
    return Differing(share, len(asked), breadth / share.numel())
