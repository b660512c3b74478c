"""Queries and keys as a living file holds them, and what eight bits instead of sixteen change."""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playground.tracing import Trace


PACKS = ("float16", "int8")
MEASURED = 48  # patches, evenly spread, whose rows are measured in each head


def text(pack: bytes) -> str:
    """For a <script> of the page; the browser's own DecompressionStream opens it. The same pack is the same text."""
    return base64.b64encode(gzip.compress(pack, 6, mtime=0)).decode()


@dataclass(frozen=True)
class Loss:
    """Between the rows that a file answers with and those of the trace."""

    most: float  # of all weights
    mean: float
    kept: float  # the share of rows whose strongest patch is still the same

    def __str__(self) -> str:
        return (
            f"a weight is off by at most {100 * self.most:.2g} percentage points and by {100 * self.mean:.1g} on "
            f"average; {100 * self.kept:.3g} % of the rows keep their strongest patch"
        )


def loss(seen: Trace, pack: bytes, layers: list[int], heads: list[int]) -> Loss:
    """Measured on the rows of some patches in every head that the file holds, at the scale of the pass."""
    from playground.tracing import Trace

    held, asked, patches = Trace.from_bytes(pack), seen.some_patches(MEASURED), slice(len(seen.prefix), None)
    most, mean, kept = 0.0, [], []
    for layer in layers:
        ours, theirs = held.weights(layer, asked), seen.weights(layer, asked)[heads]
        off = (ours - theirs).abs()
        most = max(most, float(off.max()))
        mean.append(float(off.mean()))
        kept.append(float((ours[..., patches].argmax(-1) == theirs[..., patches].argmax(-1)).float().mean()))
    return Loss(most, sum(mean) / len(mean), sum(kept) / len(kept))
