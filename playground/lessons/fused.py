"""Compares attention written by hand with torch's fused kernel: the same results at different speeds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.tracing import softmax_rows
from playground.vit import QKV, attention, attention_by_hand

TOKENS = (64, 197, 577, 1024)
BLOCK = 64  # keys at a time


@dataclass(frozen=True)
class Comparison:
    tokens: int
    by_hand: float  # milliseconds
    fused: float
    apart: float  # the largest absolute difference of their outputs


def apart(qkv: QKV, scale: float) -> float:
    """The largest absolute difference between the outputs of the two implementations."""
    q, k, v = (_batched(t) for t in qkv)
    return float((attention(q, k, v, scale) - attention_by_hand(q, k, v, scale)).abs().max())


def in_blocks(q: Tensor, k: Tensor, v: Tensor, scale: float, block: int = BLOCK) -> Tensor:
    largest = torch.full((*q.shape[:-1], 1), -torch.inf)  # of each row's scores, so far
    total, mixed = torch.zeros_like(largest), torch.zeros_like(q)
    for some_k, some_v in zip(k.split(block, -2), v.split(block, -2), strict=True):
        scores = q @ some_k.mT * scale  # (…, N, block): all that is held of the table
        now = torch.maximum(largest, scores.amax(-1, keepdim=True))
        powers, shrink = (scores - now).exp(), (largest - now).exp()
        total = total * shrink + powers.sum(-1, keepdim=True)
        mixed = mixed * shrink + powers @ some_v
        largest = now
    return mixed / total


def in_blocks_apart(qkv: QKV, scale: float) -> float:
    """The largest absolute difference between the blocks and the whole table."""
    q, k, v = (_batched(t).cpu() for t in qkv)
    return float((in_blocks(q, k, v, scale) - attention_by_hand(q, k, v, scale)).abs().max())


JULIA = """
function attention(Q, K, V, scale)               # each N × d
    scores = Q * K' * scale                      # N × N
    powers = exp.(scores .- maximum(scores, dims=2))
    weights = powers ./ sum(powers, dims=2)      # every row sums to one
    return weights * V                           # N × d
end
"""
PYTHON = """
def attention(Q, K, V, scale):                   # each (N, d)
    scores = Q @ K.T * scale                     # (N, N)
    powers = exp(scores - scores.max(1, keepdims=True))
    weights = powers / powers.sum(1, keepdims=True)
    return weights @ V                           # (N, d)
"""


STEPS = {"scores": "scores", "powers": "powers", "weights": "weights", "mixture": "what is returned"}


def line_by_line(step: str) -> tuple[str, str, Tensor]:
    """A line in Python, the same in Julia, and what it gives for three tokens of two numbers."""
    import numpy as np

    at = 2 + [*STEPS].index(step)  # behind an empty line and the first
    lines = PYTHON.split("\n")
    q, k, v = np.random.default_rng(0).normal(size=(3, 3, 2)).round(1)
    names = {"exp": np.exp, "Q": q, "K": k, "V": v, "scale": 2**-0.5}
    body = "\n".join(line.strip().replace("return ", "mixture = ") for line in lines[2 : at + 1])
    exec(body, names)  # of our own four lines
    return lines[at].strip(), JULIA.split("\n")[at].strip(), torch.from_numpy(names[step])


def turned(qkv: QKV, scale: float, seed: int = 0) -> float:
    """The largest change of a weight when one random rotation is applied to all queries and keys: about 0, because
    their products stay the same."""
    q, k = (_batched(t) for t in qkv[:2])
    square = torch.randn(q.shape[-1], q.shape[-1], generator=torch.Generator().manual_seed(seed))
    rotation = torch.linalg.qr(square).Q.to(q)
    before, after = (softmax_rows(a, b, scale) for a, b in ((q, k), (q @ rotation, k @ rotation)))
    return float((before - after).abs().max())


def measure(
    tokens: int, heads: int = 12, d: int = 64, repeats: int = 7, give_way: Callable[[], object] = lambda: None
) -> Comparison:
    """Median times of both on this machine, measured alternately, so that other load affects both equally. `give_way`
    is called between two measurements."""
    random = torch.Generator().manual_seed(0)
    qkv = QKV(*(torch.randn(1, heads, tokens, d, generator=random) for _ in range(3)))
    scale, times = d**-0.5, {attention_by_hand: [], attention: []}
    with torch.no_grad():
        for repeat in range(repeats + 1):
            for way, taken in times.items():
                start = time.perf_counter()
                way(*qkv, scale)
                if repeat:  # the first warms up
                    taken.append(1000 * (time.perf_counter() - start))
                give_way()
        difference = apart(qkv, scale)
    return Comparison(
        tokens, statistics.median(times[attention_by_hand]), statistics.median(times[attention]), difference
    )


def _batched(t: Tensor) -> Tensor:
    return t.float() if t.dim() == 4 else t.float()[None]  # (B, h, N, d)
