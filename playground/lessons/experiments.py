"""Experiments of lessons on random numbers: shapes as other texts have them, rows before training, our attention
compared with torch's kernel. This module imports torch, so lessons import it only when a step needs it."""

from __future__ import annotations

import torch
from torch import Tensor

from playground.tracing import softmax_rows
from playground.vit import QKV, attention, attention_by_hand

# Shapes as other texts have them: attention without matrices, heads of full width, patches of a small picture.

Shapes = list[tuple[str, tuple[int, ...]]]  # (a tensor's name in words, its shape), in the order of the computation


def shapes_without_matrices(batch: int = 1, tokens: int = 4, dim: int = 8) -> Shapes:
    x = batch, tokens, dim
    return [
        ("X, which is also Q, K and V", x),
        ("X Xᵀ / √d and its softmax", (batch, tokens, tokens)),
        ("softmax(…) X", x),
    ]


def full_head_shapes(tokens: int = 5, dim: int = 3, heads: int = 5) -> Shapes:
    """Heads of full width, as in some texts: W_V is (dim, dim), and W_msa maps heads · dim numbers back to dim. Most
    code shares the width among the heads instead, so that more heads cost nothing."""
    return [
        ("tokens", (tokens, dim)),
        ("W_V of one head", (dim, dim)),
        ("one head's answer", (tokens, dim)),
        (f"{heads} answers side by side", (tokens, heads * dim)),
        ("W_msa", (dim, heads * dim)),
        ("answer", (tokens, dim)),
    ]


def parameters_of_heads(heads: int, dim: int = 3) -> tuple[int, int]:
    """(parameters with heads of full width and W_msa, parameters with heads that share the width)"""
    full_count = heads * 3 * dim * dim + dim * heads * dim
    return full_count, 4 * dim * dim


def readout_shapes(phase: str, width: int, classes: int) -> Shapes:
    """The shapes from the vector that is read out to the logits, as in pre-training ("pre") or in fine-tuning."""
    hidden = [("W of the hidden layer", (width, width)), ("tanh(y W + b)", (1, width))] if phase == "pre" else []
    matrix = ("W of the classes", (width, classes))
    return [("y, the vector that is read out", (1, width)), *hidden, matrix, ("logits", (1, classes))]


def patch_shapes(image: int = 128, patch: int = 16, width: int = 32) -> Shapes:
    tokens, numbers = (image // patch) ** 2, 3 * patch * patch
    return [
        ("picture", (3, image, image)),
        (f"patches of {patch} × {patch}, each laid out in a row", (tokens, numbers)),
        ("E", (numbers, width)),
        ("tokens", (tokens, width)),
    ]


def shapes_of_widths(q: int, k: int, v: int, tokens: int = 3, dim: int = 8) -> tuple[Shapes, str]:
    """The shapes in a head whose queries, keys and values have these widths; and torch's words if q · k is not
    defined."""
    made = {name: torch.ones(tokens, dim) @ torch.ones(dim, width) for name, width in (("Q", q), ("K", k), ("V", v))}
    refusal = ""
    try:
        made["softmax(Q Kᵀ / √d)"] = (made["Q"] @ made["K"].mT / q**0.5).softmax(-1)
        made["softmax(…) V"] = made["softmax(Q Kᵀ / √d)"] @ made["V"]
        made["W_O"] = torch.ones(v, dim)
        made["softmax(…) V W_O"] = made["softmax(…) V"] @ made["W_O"]
    except RuntimeError as error:
        refusal = str(error)
    return [(name, tuple(tensor.shape)) for name, tensor in made.items()], refusal


def fused_shapes(batch: int = 13, tokens: int = 100, dim: int = 49, chan: int = 64, heads: int = 4) -> Shapes:
    """The shapes if one matrix makes Q, K and V, and its output is split into heads."""
    q = batch, heads, tokens, chan // heads
    return [
        ("tokens", (batch, tokens, dim)),
        ("x W_QKV: Q, K and V side by side", (batch, tokens, 3 * chan)),
        ("viewed and permuted: 3, batch, heads, tokens, d_k", (3, *q)),
        ("Q", q),
    ]


def rows_without_matrices(tokens: int = 4, dim: int = 8) -> Tensor:
    """(tokens, tokens): the weights of Q = K = V = X."""
    x = torch.randn(tokens, dim, generator=torch.Generator().manual_seed(0))
    return (x @ x.mT / dim**0.5).softmax(-1)


def biased_attention(target: str, tokens: int = 4, dim: int = 8) -> tuple[Tensor, Tensor]:
    """Weights (N, N) and mixtures (N, dim) when one random vector is added to all queries, all keys, or all values
    (`target`), as qkv_bias does."""
    generator = torch.Generator().manual_seed(1)
    q, k = torch.randn(2, tokens, dim, generator=generator)
    bias = torch.randn(dim, generator=generator)
    v = torch.randn(tokens, dim, generator=generator)
    weights = ((q + bias * (target == "query")) @ (k + bias * (target == "key")).mT / dim**0.5).softmax(-1)
    return weights, weights @ (v + bias * (target == "value"))


def change_by_bias(target: str) -> float:
    """The largest change of an attention weight when a bias is added to the queries, keys or values (`target`)."""
    return float((biased_attention(target)[0] - biased_attention("none")[0]).abs().max())


def mean_largest_weight(qk_scale: float | None, tokens: int = 100, dim: int = 49, chan: int = 64) -> float:
    """The mean largest weight of a row in the teaching layer with one head and this scale; None: 1/√d_k."""
    from playground.lessons.walk import TeachingAttention

    layer, generator = TeachingAttention(dim, chan, qk_scale=qk_scale), torch.Generator().manual_seed(0)
    x, matrices = (
        torch.randn(tokens, dim, generator=generator),
        torch.randn(2, chan, dim, generator=generator) * dim**-0.5,
    )
    q, k = x @ matrices[0].T, x @ matrices[1].T
    return float((q @ k.T * layer.scale).softmax(-1).amax(-1).mean())


# Before training, rows of attention weights are nearly even.


def even_at_the_start(tokens: int = 197, width: int = 768, heads: int = 12, start: float = 0.02) -> torch.Tensor:
    random, d = torch.Generator().manual_seed(0), width // heads
    x = torch.randn(tokens, width, generator=random)  # as after a norm: mean 0, deviation 1
    w_q, w_k = torch.randn(2, width, d, generator=random) * start
    scores = (x @ w_q) @ (x @ w_k).T / d**0.5
    return scores.softmax(dim=-1)  # (tokens, tokens)


def evenness(weights: torch.Tensor) -> tuple[float, float, float]:
    """(the mean of each row's largest weight, the weight in an even row, the mean number of tokens over which a row
    spreads: 2 to the power of its entropy)"""
    entropies = -(weights * weights.clamp(min=1e-30).log2()).sum(-1)
    return float(weights.amax(-1).mean()), 1 / weights.shape[1], float((2**entropies).mean())


# Compares attention written by hand with torch's fused kernel: the same results.

BLOCK = 64  # keys at a time


def largest_difference(qkv: QKV, scale: float) -> float:
    """The largest absolute difference between the outputs of attention by hand and of the fused kernel."""
    q, k, v = (_with_batch_axis(t) for t in qkv)
    return float((attention(q, k, v, scale) - attention_by_hand(q, k, v, scale)).abs().max())


def in_blocks(q: Tensor, k: Tensor, v: Tensor, scale: float, block: int = BLOCK) -> Tensor:
    largest = torch.full((*q.shape[:-1], 1), -torch.inf)  # the largest score of each row so far
    total, mixed = torch.zeros_like(largest), torch.zeros_like(q)
    for some_k, some_v in zip(k.split(block, -2), v.split(block, -2), strict=True):
        scores = q @ some_k.mT * scale  # (…, N, block): the only part of the table in memory
        new_largest = torch.maximum(largest, scores.amax(-1, keepdim=True))
        powers, shrink = (scores - new_largest).exp(), (largest - new_largest).exp()
        total = total * shrink + powers.sum(-1, keepdim=True)
        mixed = mixed * shrink + powers @ some_v
        largest = new_largest
    return mixed / total


def block_difference(qkv: QKV, scale: float) -> float:
    q, k, v = (_with_batch_axis(t).cpu() for t in qkv)
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


STEP_TITLES = {"scores": "scores", "powers": "powers", "weights": "weights", "mixture": "what is returned"}


def line_by_line(step: str) -> tuple[str, str, Tensor]:
    """A line in Python, the same in Julia, and its result for three tokens of two numbers."""
    import numpy as np

    line_number = 2 + [*STEP_TITLES].index(step)  # after an empty line and the function's head
    lines = PYTHON.split("\n")
    q, k, v = np.random.default_rng(0).normal(size=(3, 3, 2)).round(1)
    namespace = {"exp": np.exp, "Q": q, "K": k, "V": v, "scale": 2**-0.5}
    code = "\n".join(line.strip().replace("return ", "mixture = ") for line in lines[2 : line_number + 1])
    exec(code, namespace)  # runs the lines of PYTHON above, nothing from outside
    return lines[line_number].strip(), JULIA.split("\n")[line_number].strip(), torch.from_numpy(namespace[step])


def change_by_rotation(qkv: QKV, scale: float, seed: int = 0) -> float:
    """The largest change of a weight when one random rotation is applied to all queries and keys: about 0, because
    their products stay the same."""
    q, k = (_with_batch_axis(t) for t in qkv[:2])
    random_matrix = torch.randn(q.shape[-1], q.shape[-1], generator=torch.Generator().manual_seed(seed))
    rotation = torch.linalg.qr(random_matrix).Q.to(q)
    plain_weights, turned_weights = (softmax_rows(a, b, scale) for a, b in ((q, k), (q @ rotation, k @ rotation)))
    return float((plain_weights - turned_weights).abs().max())


def _with_batch_axis(t: Tensor) -> Tensor:
    return t.float() if t.dim() == 4 else t.float()[None]  # (B, h, N, d)
