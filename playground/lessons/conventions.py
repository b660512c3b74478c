"""The shapes of other texts: attention without matrices, heads of full width, patches of a small picture, the head for
pre-training. Each is computed with random numbers; only the shapes are told."""

from __future__ import annotations

import torch
from torch import Tensor

Shapes = list[tuple[str, tuple[int, ...]]]  # (what it is, its shape), in the order of the computation


def without_matrices(batch: int = 1, tokens: int = 4, dim: int = 8) -> Shapes:
    """The shortest attention of all: Q = K = V = X."""
    x = _numbers(batch, tokens, dim)
    weights = (x @ x.mT / dim**0.5).softmax(-1)
    return [
        ("X, which is also Q, K and V", tuple(x.shape)),
        ("X Xᵀ / √d and its softmax", tuple(weights.shape)),
        ("softmax(…) X", tuple((weights @ x).shape)),
    ]


def full_heads(tokens: int = 5, dim: int = 3, heads: int = 5) -> Shapes:
    """Some texts give every head matrices of the full width: W_V is (dim, dim), and W_msa brings heads · dim numbers
    back to dim. Most code shares the width among the heads instead, so that more heads cost nothing."""
    x, per_head = _numbers(tokens, dim), [_numbers(3, dim, dim) for _ in range(heads)]
    answers = []
    for w_q, w_k, w_v in per_head:
        q, k, v = x @ w_q, x @ w_k, x @ w_v
        answers.append((q @ k.T / dim**0.5).softmax(-1) @ v)
    together = torch.cat(answers, dim=-1)
    w_msa = _numbers(dim, heads * dim)
    return [
        ("tokens", tuple(x.shape)),
        ("W_V of one head", tuple(per_head[0][2].shape)),
        ("one head's answer", tuple(answers[0].shape)),
        (f"{heads} answers side by side", tuple(together.shape)),
        ("W_msa", tuple(w_msa.shape)),
        ("answer", tuple((together @ w_msa.T).shape)),
    ]


def parameters_of_heads(heads: int, dim: int = 3) -> tuple[int, int]:
    """Of the matrices of heads of full width, W_msa among them, and of heads that share the width."""
    full = heads * 3 * dim * dim + dim * heads * dim
    return full, 4 * dim * dim


def answering(which: str, width: int, classes: int) -> Shapes:
    """From the vector that is read out to the logits, as in pre-training or as in fine-tuning."""
    y = _numbers(1, width)
    shapes = [("y, the vector that is read out", tuple(y.shape))]
    if which == "pre":
        hidden = _numbers(width, width)
        y = (y @ hidden).tanh()
        shapes += [("W of the hidden layer", tuple(hidden.shape)), ("tanh(y W + b)", tuple(y.shape))]
    matrix = _numbers(width, classes)
    return [*shapes, ("W of the classes", tuple(matrix.shape)), ("logits", tuple((y @ matrix).shape))]


def patches(image: int = 128, patch: int = 16, width: int = 32) -> Shapes:
    """A picture becomes a table of tokens."""
    pixels = _numbers(1, 3, image, image)
    rows = torch.nn.functional.unfold(pixels, patch, stride=patch).mT[0]  # (patches, 3·P·P)
    matrix = _numbers(3 * patch * patch, width)
    return [
        ("picture", tuple(pixels.shape[1:])),
        (f"patches of {patch} × {patch}, each laid out in a row", tuple(rows.shape)),
        ("E", tuple(matrix.shape)),
        ("tokens", tuple((rows @ matrix).shape)),
    ]


def fused(batch: int = 13, tokens: int = 100, dim: int = 49, chan: int = 64, heads: int = 4) -> Shapes:
    """Q, K and V come out of one matrix, and one view shares them out."""
    x, w = _numbers(batch, tokens, dim), _numbers(dim, 3 * chan)
    qkv = x @ w
    split = qkv.view(batch, tokens, 3, heads, chan // heads).permute(2, 0, 3, 1, 4)
    return [
        ("tokens", tuple(x.shape)),
        ("x W_QKV: Q, K and V side by side", tuple(qkv.shape)),
        ("viewed and permuted: 3, batch, heads, tokens, d_k", tuple(split.shape)),
        ("Q", tuple(split[0].shape)),
    ]


def _numbers(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def rows_without_matrices(tokens: int = 4, dim: int = 8) -> Tensor:
    """(tokens, tokens): the weights of Q = K = V = X."""
    x = _numbers(1, tokens, dim)[0]
    return (x @ x.mT / dim**0.5).softmax(-1)


def biased(which: str, tokens: int = 4, dim: int = 8) -> tuple[Tensor, Tensor]:
    """(N, N) weights and (N, dim) mixtures when all queries, all keys, or all values get one random vector more: what
    qkv_bias adds."""
    random = torch.Generator().manual_seed(1)
    q, k = torch.randn(2, tokens, dim, generator=random)
    bias = torch.randn(dim, generator=random)
    v = torch.randn(tokens, dim, generator=random)
    weights = ((q + bias * (which == "query")) @ (k + bias * (which == "key")).mT / dim**0.5).softmax(-1)
    return weights, weights @ (v + bias * (which == "value"))


def a_bias_of(which: str) -> float:
    """The largest change of a weight with it."""
    return float((biased(which)[0] - biased("none")[0]).abs().max())


def largest_with(qk_scale: float | None, tokens: int = 100, dim: int = 49, chan: int = 64) -> float:
    """The mean largest weight of a row in the teaching layer with one head and this scale; None: 1/√d_k."""
    from playground.lessons.walk import TeachingAttention

    layer, random = TeachingAttention(dim, chan, qk_scale=qk_scale), torch.Generator().manual_seed(0)
    x, matrices = torch.randn(tokens, dim, generator=random), torch.randn(2, chan, dim, generator=random) * dim**-0.5
    q, k = x @ matrices[0].T, x @ matrices[1].T
    return float((q @ k.T * layer.scale).softmax(-1).amax(-1).mean())
