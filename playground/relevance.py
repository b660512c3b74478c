"""Relevance: which patches, through all layers, move an answer.

A weight says how much of a token's vector is mixed in; it does not say whether that mattered. A gradient does: how much
the answer would change if a weight were a little larger. The answer is the score of a label, or the feature of one
token: how far it reaches, after the last layer and its norm, in the direction in which it differs from the mean patch.

    "chefer"    gradient × attention (Chefer, Gur & Wolf, 2021). Of each layer, Ā is the mean over its heads of
                max(0, ∂y/∂A ⊙ A); the tokens that the answer is read from begin with 1 in all, and from the last layer
                down r ← r + r Ā.
    "gradient"  gradient × input: ∂y/∂x · x of each token x that enters the first layer, without its sign
    "legrad"    LeGrad (Bousselham et al., 2024): each layer answers by itself, with the model's last norm and head;
                max(0, ∂y/∂A), averaged over heads and over the tokens that ask, summed over layers

No N × N gradient is held. A's gradient is ∂y/∂A = g Vᵀ, where g is the gradient of what the head mixed, (N, d): so a
row of it is computed when it is needed, as a row of A is. One pass forward keeps what enters each layer; one pass back
goes through the layers again, one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.vit import QKV, Heard, Rotation, VisionTransformer, everybody

METHODS = ("chefer", "gradient", "legrad")
DEFAULT = "chefer"
BLOCK = 2**22  # weights held at one time


@dataclass(frozen=True)
class Answer:
    """The number that is explained."""

    of: Callable[[Tensor], Tensor]  # the tokens as they leave the last layer, (1, N, D) -> that number
    read_from: Tensor  # (N,): the tokens that it is read from, in all 1


@dataclass(frozen=True)
class Pass:
    """A forward pass to go back through."""

    vit: VisionTransformer
    entering: Tensor  # (1, N, D): the tokens that enter the first layer
    rotation: Rotation
    scale: float
    heard: Heard = everybody
    give_way: Callable[[], object] = lambda: None  # called between layers: a server lets others come in between


def relevance(of: Pass, answer: Answer, method: str = DEFAULT) -> Tensor:
    """(N,): how much each token moves the answer, as shares that sum to 1; zeros where nothing moves it."""
    found = {"chefer": _chefer, "gradient": _gradient, "legrad": _legrad}[method](of, answer)
    return (found / found.sum().clamp(min=torch.finfo(found.dtype).tiny)).detach()


def label_score(vit: VisionTransformer, label: int, tokens: int) -> Answer:
    """A label's score, before the softmax."""
    first, read_from = len(vit.config.prefix), torch.zeros(tokens)
    if vit.config.pool == "token":
        read_from[: 2 if vit.config.dist_token else 1] = 0.5 if vit.config.dist_token else 1
    else:
        read_from[first:] = 1 / (tokens - first)
    return Answer(lambda x: vit.classify(x)[0, label], read_from)


def feature(vit: VisionTransformer, token: int, tokens: int) -> Answer:
    """A token's feature. Its length would say nothing: a norm makes all equally long."""

    def reach(x: Tensor) -> Tensor:
        x = vit.norm(x)[0]  # (N, D)
        apart = (x[token] - x[len(vit.config.prefix) :].mean(0)).detach()
        return x[token] @ (apart / apart.norm().clamp(min=1e-12))

    return Answer(reach, torch.eye(tokens)[token])


# The three ways -------------------------------------------------------------------------------------------------------


def _chefer(of: Pass, answer: Answer) -> Tensor:
    begins = answer.read_from.to(of.entering)
    reached = begins
    for layer, qkv, of_mixed, _ in _back(of, answer):
        spread = torch.zeros_like(reached)
        for rows, weights, gradients in _rows(of, layer, qkv, of_mixed):
            spread += reached[rows] @ (weights * gradients).clamp(min=0).mean(0)  # (rows,) @ (rows, N)
        reached = reached + spread
    return reached - begins  # without what never moved


def _gradient(of: Pass, answer: Answer) -> Tensor:
    *_, (*_, gradient) = _back(of, answer)
    return (gradient * of.entering)[0].sum(-1).abs()


def _legrad(of: Pass, answer: Answer) -> Tensor:
    total = torch.zeros(of.entering.shape[1], device=of.entering.device)
    x = of.entering
    for layer, block in enumerate(of.vit.blocks):
        with torch.enable_grad():
            x, qkv, mixture = _step(of, layer, x.detach().requires_grad_())
            (gradient,) = torch.autograd.grad(answer.of(x), mixture)
        for _, _, gradients in _rows(of, layer, qkv, gradient @ block.attn.proj.weight):
            total += gradients.clamp(min=0).mean(0).sum(0) / len(total)
        of.give_way()
    return total


# Going back -----------------------------------------------------------------------------------------------------------


def _back(of: Pass, answer: Answer) -> Iterator[tuple[int, QKV, Tensor, Tensor]]:
    """From the last layer down: (layer, its queries, keys and values, ∂y/∂ what its heads mixed, ∂y/∂ what entered)."""
    entered = [of.entering]
    with torch.no_grad():
        for x, _ in of.vit.layers(of.entering, of.rotation, of.scale, heard=of.heard):
            entered.append(x)
            of.give_way()
    with torch.enable_grad():
        last = entered.pop().requires_grad_()
        (gradient,) = torch.autograd.grad(answer.of(last), last)
    for layer in reversed(range(len(of.vit.blocks))):
        with torch.enable_grad():
            x = entered.pop().detach().requires_grad_()
            out, qkv, mixture = _step(of, layer, x)
            of_mixture, gradient = torch.autograd.grad(out, (mixture, x), gradient)
        yield layer, qkv, of_mixture @ of.vit.blocks[layer].attn.proj.weight, gradient
        of.give_way()


def _step(of: Pass, layer: int, x: Tensor) -> tuple[Tensor, QKV, Tensor]:
    """A layer: (the tokens as they leave it, its queries, keys and values, what its attention adds before γ)."""
    block = of.vit.blocks[layer]
    mixture, qkv = block.attn(block.norm1(x), of.scale, of.rotation, of.heard(layer))
    between = x + block.ls1(mixture)
    return between + block.ls2(block.mlp(block.norm2(between))), QKV(*(t.detach() for t in qkv)), mixture


def _rows(of: Pass, layer: int, qkv: QKV, of_mixed: Tensor) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """A and ∂y/∂A of all heads, some rows at a time: (which rows, (h, rows, N), (h, rows, N))."""
    q, k, v = (t[0] for t in qkv)  # (h, N, d) each
    heads, tokens, d = q.shape
    of_heads = of_mixed[0].unflatten(-1, (heads, d)).transpose(0, 1)  # (h, N, d)
    heard = of.heard(layer)
    step = max(1, BLOCK // (heads * tokens))
    for start in range(0, tokens, step):
        rows = slice(start, start + step)
        scores = q[:, rows] @ k.mT * of.scale
        if heard is not None:
            scores = scores.masked_fill(~heard[:, rows], -torch.inf)
        yield rows, scores.softmax(-1), of_heads[:, rows] @ v.mT
