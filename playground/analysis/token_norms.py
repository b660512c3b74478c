"""How long tokens are after each layer: whether some of them stand far out, as in large models without registers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from playground.tracing import Trace

# Lengths that stand apart. The bound is Tukey's for what is far out; microscope/core/features.js has the same.


def bound(values: np.ndarray) -> float:
    """What is longer stands apart: the upper quartile and three times the distance between the quartiles."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high + 3 * (high - low))


@dataclass(frozen=True)
class Lengths:
    patches: Tensor  # (layers, rows, columns): ‖x‖ after each layer
    prefix: Tensor  # (layers, prefix tokens)

    def largest(self, layer: int) -> float:
        """The longest patch, × the median one."""
        return float(self.patches[layer].max() / self.patches[layer].median())

    def far_out(self, layer: int) -> int:
        """How many patches are longer than Tukey's bound: the upper quartile and three times the distance between the
        quartiles."""
        lengths = self.patches[layer].flatten()
        low, high = (float(lengths.quantile(q)) for q in (0.25, 0.75))
        return int((lengths > high + 3 * (high - low)).sum())

    @property
    def worst(self) -> int:
        """The layer after which the longest patch stands out most."""
        return max(range(len(self.patches)), key=self.largest)


def lengths(seen: Trace, give_way: Callable[[], object] = lambda: None) -> Lengths:
    front, patches, prefix = len(seen.prefix), [], []
    with torch.no_grad():
        vit, x, rotation = seen.entering()
        heard = seen.heard_on(x.device)
        for layer, block in enumerate(vit.blocks):
            x, _ = block(x, seen.scale, rotation, heard(layer))
            long = x[0].float().norm(dim=-1).cpu()
            patches.append(long[front:].view(seen.grid))
            prefix.append(long[:front])
            give_way()
    return Lengths(torch.stack(patches), torch.stack(prefix))
