"""Measures the lengths of tokens after each layer, and finds outliers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.tracing import Trace
from playground.vit import within


@dataclass(frozen=True)
class Lengths:
    patches: Tensor  # (layers, rows, columns): ‖x‖ after each layer
    prefix: Tensor  # (layers, prefix tokens)

    def largest_ratio(self, layer: int) -> float:
        """The length of the longest patch divided by the median length."""
        return float(self.patches[layer].max() / self.patches[layer].median())

    def outlier_count(self, layer: int) -> int:
        """The number of patches whose tokens are longer than Tukey's bound: the upper quartile plus three times the
        interquartile range, as in microscope/core/features.js."""
        lengths = self.patches[layer].flatten()
        lower_quartile, upper_quartile = (float(lengths.quantile(share)) for share in (0.25, 0.75))
        return int((lengths > upper_quartile + 3 * (upper_quartile - lower_quartile)).sum())

    @property
    def worst_layer(self) -> int:
        """The layer after which the longest patch stands out most."""
        return max(range(len(self.patches)), key=self.largest_ratio)


def lengths(trace: Trace, give_way: Callable[[], object] = lambda: None) -> Lengths:
    first_patch, patches, prefix = len(trace.prefix), [], []
    with torch.no_grad():
        vit, x, rotation = trace.entering()
        at = trace.intervening()
        for layer, block in enumerate(vit.blocks):
            x, _ = block(x, trace.scale, rotation, within(at, layer))
            norms = x[0].float().norm(dim=-1).cpu()
            patches.append(norms[first_patch:].view(trace.grid))
            prefix.append(norms[:first_patch])
            give_way()
    return Lengths(torch.stack(patches), torch.stack(prefix))
