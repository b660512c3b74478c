"""Which patches are like a text: the cosine of each patch with it, in the space that pictures and captions share."""

from __future__ import annotations

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.tracing import Trace


def likeness(seen: Trace, direction: Tensor, layer: int | None = None) -> Tensor:
    """(tokens,): what the model would read of each token if that were all there is, as it leaves a layer, beside the
    direction of a text (models/text_tower.py). The model was trained to read its class token, or all patches together,
    after the last layer: of one patch it is what it would say."""
    read = seen.alone(layer)
    if read.shape[1] != len(direction):
        raise PlaygroundError(
            f"{seen.model} reads pictures into {read.shape[1]} numbers and its text tower texts into {len(direction)}: "
            "they do not belong together. Of CLIP, save the whole model, with both projections."
        )
    return torch.cosine_similarity(read, direction[None], dim=-1)
