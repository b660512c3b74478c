"""Relevance: which patches, through all layers, move an answer.

A weight says how much of a token's vector is mixed in; it does not say whether that mattered. A gradient does: how much
the answer would change if a weight were a little larger. The answer is the score of a label, or the feature of one
token: how far it reaches, after the last layer and its norm, in the direction in which it differs from the mean patch.

    "gradient"  gradient × input: ∂y/∂x · x of each token x that enters the first layer, without its sign
    "chefer"    gradient × attention (Chefer, Gur & Wolf, 2021). Of each layer, Ā is the mean over its heads of
                max(0, ∂y/∂A ⊙ A); the tokens that the answer is read from begin with 1 in all, and from the last layer
                down r ← r + r Ā.
    "legrad"    LeGrad (Bousselham et al., 2024): each layer answers by itself, with the model's last norm and head;
                max(0, ∂y/∂A), averaged over heads and over the tokens that ask, summed over layers

No N × N gradient is held. A's gradient is ∂y/∂A = g Vᵀ, where g is the gradient of what the head mixed, (N, d): so a
row of it is computed when it is needed, as a row of A is, and the gradients of queries, keys and values come of the
same rows. One pass forward keeps what enters each layer and what enters its MLP; one pass back goes through the layers
again, one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from playground.errors import PlaygroundError
from playground.positions import rotate
from playground.vit import QKV, Attention, Block, Heard, Rotation, VisionTransformer, everybody

METHODS = ("gradient", "chefer", "legrad")
DEFAULT = "gradient"  # it foretells best what blanking moves, and never the contrary: benchmarks/relevances.py
BLOCK = 2**20  # weights held at one time: few enough for the cache of a processor

MEMORY = Path("/proc/meminfo")


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


def check_memory(vit: VisionTransformer, tokens: int) -> None:
    """A sentence instead of a machine that stands still."""
    free = free_bytes(vit.patch_embed.proj.weight.device)
    if free is not None and (needed := bytes_held(vit, tokens)) > free:
        raise PlaygroundError(
            f"Relevance over {tokens:,} tokens takes {needed / 1e9:.1f} GB, and {max(0, free) / 1e9:.1f} GB are free: "
            f"choose fewer patches or a smaller model."
        )


def bytes_held(vit: VisionTransformer, tokens: int) -> int:
    """What enters each layer and its MLP, and one layer's tensors with their gradients."""
    c = vit.config
    return 4 * (tokens * (2 * c.depth * c.width + 4 * c.mlp_width + 16 * c.width) + 6 * BLOCK)


def free_bytes(device: torch.device) -> int | None:
    """Of a graphics card, or of the machine; None: nobody says."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        lines = MEMORY.read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), None)


def label_score(vit: VisionTransformer, label: int, tokens: int) -> Answer:
    """A label's score, before the softmax."""
    first, read_from = len(vit.config.prefix), torch.zeros(tokens)
    if vit.config.pool == "token":
        read_from[: 2 if vit.config.dist_token else 1] = 0.5 if vit.config.dist_token else 1
    else:
        read_from[first:] = 1 / (tokens - first)
        read_from[0] += vit.config.pool == "token+avg"
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
    reached, spread = begins, torch.zeros_like(begins)

    def watch(rows: slice, product: Tensor) -> None:
        heads, _, tokens = product.shape
        spread.add_(reached[rows].repeat(heads) @ product.clamp(min=0).view(-1, tokens) / heads)

    for _ in _back(of, answer, watch):  # from the last layer down
        reached, spread = reached + spread, torch.zeros_like(begins)
    return reached - begins  # without what never moved


def _gradient(of: Pass, answer: Answer) -> Tensor:
    *_, gradient = _back(of, answer)
    return (gradient * of.entering)[0].sum(-1).abs()


@torch.no_grad()
def _legrad(of: Pass, answer: Answer) -> Tensor:
    total = torch.zeros(of.entering.shape[1], device=of.entering.device)
    x = of.entering
    for layer, block in enumerate(of.vit.blocks):
        mixture, qkv = block.attn(block.norm1(x), of.scale, of.rotation, of.heard(layer))
        with torch.enable_grad():
            mixture.requires_grad_()
            between = x + block.ls1(mixture)
            after = between + block.ls2(block.mlp(block.norm2(between)))
            (gradient,) = torch.autograd.grad(answer.of(after), mixture)
        x = after.detach()
        for rows in _some(qkv):
            total += (_by_head(gradient @ block.attn.proj.weight, qkv)[:, rows] @ qkv.v[0].mT).clamp(min=0).sum((0, 1))
        of.give_way()
    return total


# Going back -----------------------------------------------------------------------------------------------------------

Watch = Callable[[slice, Tensor], None]  # gets some rows of A ⊙ ∂y/∂A, (h, rows, N)


def _back(of: Pass, answer: Answer, watch: Watch = lambda rows, product: None) -> Iterator[Tensor]:
    """From the last layer down: ∂y/∂ the tokens that enter it, (1, N, D)."""
    kept, x = [], of.entering
    with torch.no_grad():
        for layer, block in enumerate(of.vit.blocks):
            between = x + block.ls1(block.attn(block.norm1(x), of.scale, of.rotation, of.heard(layer))[0])
            kept.append((x, between))
            x = between + block.ls2(block.mlp(block.norm2(between)))
            of.give_way()
    with torch.enable_grad():
        x.requires_grad_()
        (gradient,) = torch.autograd.grad(answer.of(x), x)
    for layer in reversed(range(len(of.vit.blocks))):
        gradient = _through(of, layer, *kept.pop(), gradient, watch)
        yield gradient
        of.give_way()


def _through(of: Pass, layer: int, x: Tensor, between: Tensor, gradient: Tensor, watch: Watch) -> Tensor:
    """∂y/∂ what leaves a layer -> ∂y/∂ what enters it. The MLP's second matrix and the attention need not run again:
    nothing goes back through what they gave."""
    block = of.vit.blocks[layer]
    with torch.no_grad():
        gradient = gradient + _mlp_back(block, between, gradient)
        with torch.enable_grad():
            qkv = _queries_keys_values(block.attn, block.norm1(x.requires_grad_()), of.rotation)
        of_mixed = block.ls1(gradient) @ block.attn.proj.weight
        of_qkv = _attention_back(of, layer, QKV(*(t.detach() for t in qkv)), of_mixed, watch)
        return gradient + torch.autograd.grad(qkv, x, of_qkv)[0]


def _mlp_back(block: Block, between: Tensor, gradient: Tensor) -> Tensor:
    with torch.enable_grad():
        hidden = block.mlp.hidden(block.norm2(between.requires_grad_()))
    return torch.autograd.grad(hidden, between, block.ls2(gradient) @ block.mlp.fc2.weight)[0]  # ls2 only multiplies


def _attention_back(of: Pass, layer: int, qkv: QKV, of_mixed: Tensor, watch: Watch) -> QKV:
    """∂y/∂ what the heads mixed, (1, N, D) -> ∂y/∂ queries, keys and values."""
    q, k, v = (t[0] for t in qkv)  # (h, N, d) each
    of_heads = _by_head(of_mixed, qkv)
    of_q, of_k, of_v = (torch.zeros_like(t) for t in (q, k, v))
    heard = of.heard(layer)
    for rows in _some(qkv):
        scores = q[:, rows] @ k.mT * of.scale  # (h, rows, N)
        if heard is not None:
            scores = scores.masked_fill(~heard[:, rows], -torch.inf)
        weights = scores.softmax(-1)
        product = weights * (of_heads[:, rows] @ v.mT)  # A ⊙ ∂y/∂A
        watch(rows, product)
        of_scores = product.addcmul(weights, product.sum(-1, keepdim=True), value=-1)  # back through the softmax
        of_q[:, rows] = of_scores @ k
        of_k += of_scores.mT @ q[:, rows]
        of_v += weights.mT @ of_heads[:, rows]
    return QKV(*(t[None] for t in (of_q * of.scale, of_k * of.scale, of_v)))


def _by_head(of_mixed: Tensor, qkv: QKV) -> Tensor:
    """(1, N, D) -> (h, N, d)"""
    return of_mixed[0].unflatten(-1, (qkv.q.shape[1], -1)).transpose(0, 1)


def _some(qkv: QKV) -> Iterator[slice]:
    """All queries, in slices so short that the rows of one stay below BLOCK weights."""
    _, heads, tokens, _ = qkv.q.shape
    step = max(1, BLOCK // (heads * tokens))
    return (slice(start, start + step) for start in range(0, tokens, step))


def _queries_keys_values(attn: Attention, x: Tensor, rotation: Rotation) -> QKV:
    """See vit.Attention."""
    q, k, v = attn.qkv(x).unflatten(-1, (3, attn.heads, -1)).permute(2, 0, 3, 1, 4)
    q, k = attn.q_norm(q), attn.k_norm(k)
    if rotation is not None:
        q, k = rotate(q, *rotation), rotate(k, *rotation)
    return QKV(q, k, v)
