"""The first step of every training: rows that are nearly even."""

from __future__ import annotations

import torch


def even_at_the_start(tokens: int = 197, width: int = 768, heads: int = 12, start: float = 0.02) -> torch.Tensor:
    random, d = torch.Generator().manual_seed(0), width // heads
    x = torch.randn(tokens, width, generator=random)  # tokens as a norm leaves them
    w_q, w_k = torch.randn(2, width, d, generator=random) * start
    scores = (x @ w_q) @ (x @ w_k).T / d**0.5
    return scores.softmax(dim=-1)  # (tokens, tokens)


def evenness(weights: torch.Tensor) -> tuple[float, float, float]:
    """The mean largest weight of a row, an even row's, and to how many tokens a row comes: 2 to its entropy."""
    bits = -(weights * weights.clamp(min=1e-30).log2()).sum(-1)
    return float(weights.amax(-1).mean()), 1 / weights.shape[1], float((2**bits).mean())
