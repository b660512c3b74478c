"""Whose rows a mean is taken over: those of all patches, or, of a grid that has too many, of some that are drawn."""

from __future__ import annotations

import torch

from playground.tracing import Trace

ALL = 1024  # patches, whose rows are all measured
DRAWN = 400  # of more


def asking(seen: Trace) -> list[int]:
    """The token indices of the patches whose rows are measured. They are drawn at random: every eighth patch of a grid
    with 56 columns would be the same seven columns in every row."""
    front = len(seen.prefix)
    patches = seen.tokens - front
    if patches <= ALL:
        return list(range(front, seen.tokens))
    drawn = torch.randperm(patches, generator=torch.Generator().manual_seed(0))[:DRAWN]
    return (front + drawn.sort().values).tolist()


def words(seen: Trace) -> str:
    """A sentence where some were drawn, and nothing where all were asked."""
    patches, asked = seen.tokens - len(seen.prefix), len(asking(seen))
    return "" if asked == patches else f"Measured on the rows of {asked:,} of {patches:,} patches, drawn at random."
