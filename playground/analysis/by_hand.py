"""Computes attention without training: queries and keys are set by hand."""

from __future__ import annotations

import math
import re

import torch
from torch import Tensor

LARGEST_COORDINATE = 4.0  # the largest coordinate of an arrow's tip, along each axis


def arrows_from_text(text: str, tokens: int = 9) -> Tensor | None:
    """The arrows of an address: x and y of each in tenths, token by token; None for any other text."""
    if not re.fullmatch(rf"-?\d{{1,2}}(_-?\d{{1,2}}){{{2 * tokens - 1}}}", text, re.ASCII):
        return None
    arrows = torch.tensor([int(number) for number in text.split("_")]).view(tokens, 2) / 10
    return arrows if arrows.abs().max() <= LARGEST_COORDINATE else None


def weights(arrows: Tensor) -> Tensor:
    """(18, 2) arrows, nine queries and then nine keys -> (9, 9) weights softmax(q·k/√2), a row for each query."""
    q, k = arrows.chunk(2)
    return (q @ k.T / math.sqrt(2)).softmax(dim=-1)
