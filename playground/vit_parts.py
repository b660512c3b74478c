"""What vit.py uses and the paper does not have: other kinds of positions, parts of few models, facts about weights.

N tokens, D width, h heads, d the width of one head.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Positions: how a token knows where its patch lies. Attention treats tokens as a set; without positions it can't tell
# left from right. Three kinds: fixed sines, rotations of queries and keys, or a learned vector for each place, which is
# interpolated for another grid; some models have both of the latter.


def sinusoidal(tokens: int, width: int) -> Tensor:
    """Fixed positions (Attention Is All You Need): sines and cosines of falling frequency, side by side."""
    position = torch.arange(tokens)[:, None]  # (N, 1)
    frequency = 10_000 ** (-torch.arange(0, width, 2) / width)  # (D/2,)
    angle = position * frequency  # (N, D/2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width]  # (N, D): sin, cos, sin, cos, …


def rotary(grid: tuple[int, int], d: int) -> tuple[Tensor, Tensor]:
    """Rotary positions as in DINOv3: a patch's queries and keys are rotated by angles that depend on its place."""
    rows, columns = ((torch.arange(n) + 0.5) / n * 2 - 1 for n in grid)  # centres of the patches, from -1 to 1
    place = torch.cartesian_prod(rows, columns)  # (patches, 2)
    periods = 100 ** (torch.arange(d // 4) / (d // 4))  # (d/4,)
    angle = (2 * math.pi * place[:, :, None] / periods).flatten(1).tile(2)  # (patches, d)
    return angle.sin(), angle.cos()


def counted(
    grid: tuple[int, int], d: int, rows: int, columns: int, first: int, swapped: int
) -> tuple[Tensor, Tensor, bool]:
    """The same as in EVA-02 and the Perception Encoder: places are counted from `first` on, in a grid of so many rows
    and columns, to which any other is stretched (of 0: none is); `swapped`: the column's angles stand before the row's.
    Neighbours in the vector turn together."""
    lines = (torch.arange(n) + first for n in grid)
    if rows:
        lines = (line / n * of for line, n, of in zip(lines, grid, (rows, columns), strict=True))
    place = torch.cartesian_prod(*lines)  # (patches, 2)
    periods = 10_000 ** (torch.arange(d // 4) / (d // 4))  # (d/4,)
    angle = (place.flip(1) if swapped else place)[:, :, None] / periods
    angle = angle.flatten(1).repeat_interleave(2, dim=1)  # (patches, d)
    return angle.sin(), angle.cos(), True


def rotate(x: Tensor, sin: Tensor, cos: Tensor, neighbours: bool = False) -> Tensor:
    """Rotates the vectors of the patches, which are the last tokens; prefix tokens have no place and stay as they
    are. What turns together is a number of the first half and one of the second, or two `neighbours`."""
    prefix, patches = x.split([x.shape[2] - sin.shape[0], sin.shape[0]], dim=2)  # (B, h, ., d)
    if neighbours:
        other = torch.stack([-patches[..., 1::2], patches[..., ::2]], dim=-1).flatten(-2)
    else:
        first, second = patches.chunk(2, dim=-1)
        other = torch.cat([-second, first], dim=-1)
    return torch.cat([prefix, patches * cos + other * sin], dim=2)


def stretched(learned: Tensor, old: tuple[int, int], new: tuple[int, int]) -> Tensor:
    """Interpolates learned positions (1, N, D) from one grid to another, like an image. Those of the prefix tokens,
    which come first, stay as they are."""
    prefix, patches = learned.tensor_split([learned.shape[1] - old[0] * old[1]], dim=1)
    picture = patches.transpose(1, 2).unflatten(2, old)  # (1, D, rows, columns)
    precise = picture.to(torch.promote_types(picture.dtype, torch.float32))  # halves can't be interpolated everywhere
    picture = F.interpolate(precise, size=new, mode="bicubic", antialias=True, align_corners=False).to(picture)
    return torch.cat([prefix, picture.flatten(2).transpose(1, 2)], dim=1)


# Parts that few models have


class QuickGELU(nn.Module):
    """OpenAI's first CLIP models were trained with this cheaper GELU."""

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(1.702 * x)


ACTIVATIONS = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "gelu_tanh": lambda: nn.GELU(approximate="tanh"),
    "quick_gelu": QuickGELU,
    "silu": nn.SiLU,
}


class LayerScale(nn.Module):
    def __init__(self, c: Any):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((c.width,), 1e-5))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gamma


class AttentionPool(nn.Module):
    """SigLIP's way to read an image out: one learned query asks all tokens."""

    def __init__(self, c: Any, mlp: nn.Module):
        super().__init__()
        self.heads = c.pool_heads or c.heads
        self.scale = (c.width // self.heads) ** -0.5
        self.latent = nn.Parameter(torch.zeros(1, 1, c.width))
        self.q = nn.Linear(c.width, c.width)
        self.kv = nn.Linear(c.width, 2 * c.width)
        self.proj = nn.Linear(c.width, c.width)
        self.norm = nn.LayerNorm(c.width, c.eps)
        self.mlp = mlp

    def forward(self, x: Tensor) -> Tensor:
        B, N, D = x.shape
        q = self.q(self.latent).view(1, 1, self.heads, -1).transpose(1, 2).expand(B, -1, -1, -1)  # (B, h, 1, d)
        k, v = self.kv(x).view(B, N, 2, self.heads, -1).permute(2, 0, 3, 1, 4)  # (B, h, N, d) each
        x = self.proj(F.scaled_dot_product_attention(q, k, v, scale=self.scale).transpose(1, 2).reshape(B, 1, D))
        return (x + self.mlp(self.norm(x)))[:, 0]  # (B, D)


# What is known of a model's weights

State = tuple[tuple[object, ...], ...]  # of a model's weights: see Weights.state


class Told(NamedTuple):
    """A head whose attention weights were asked for by a loss during training: see analysis/heads.py."""

    layer: int
    head: int
    query: str  # whose rows: those of every "patch", or those of a prefix token, such as "cls"
    what: str  # the end of the sentence "this head was told to …"


class Assumed(NamedTuple):
    """What nothing says of a model, and what is taken instead."""

    word: str  # the option of `load` that says otherwise
    value: str  # "mean 0.5 0.5 0.5"


class Weights(nn.Module):
    """What is known of a model's weights: whose they are, and what was assumed of them. vit.py has the model itself."""

    config: Any  # a Config of vit.py

    def __init__(self) -> None:
        super().__init__()
        self.name = "untrained"
        self.random_weights = True  # until others are loaded
        self.file: Path | None = None  # of the weights, if a person gave a file
        self.told: tuple[Told, ...] = ()  # heads whose attention a loss steered in training
        self.assumed: tuple[Assumed, ...] = ()  # facts about the model that its file lacks
        self.no_answer = ""  # why what its classifier says may be wrong, and is not shown

    @property
    def classes(self) -> int:
        """How many labels it is asked about: none where what it says of them may be wrong."""
        return 0 if self.no_answer else self.config.classes

    def load_state_dict(self, *given, **how):
        self.random_weights = False
        return super().load_state_dict(*given, **how)

    def state(self) -> State:
        """Another one after a step of training or with a tensor in another's place; the same on another device. torch
        counts the changes of each tensor, but for those that are written through `.data`."""
        tensors = [*self.named_parameters(), *self.named_buffers()]
        return tuple((name, id(t), 0 if t.is_inference() else t._version, t.dtype) for name, t in tensors)

    def initialise(self, seed: int) -> None:
        """Random weights with a generator of their own, so that a seed means the same weights in any thread."""
        random = torch.Generator().manual_seed(seed)
        for name, p in self.named_parameters():
            if p.is_meta:  # only a shape so far, weights are about to be put in
                continue
            if name.endswith(".bias"):
                nn.init.zeros_(p)
            elif p.dim() > 1:  # matrices, tokens and positions; the gains of norms stay at one
                nn.init.trunc_normal_(p, std=0.02, generator=random)


def value_norms(block: Any, v: Tensor) -> Tensor:
    """(h, N, d) -> (h, N): ‖W_O v‖, how long the vector is that a token adds to the stream at a weight of 1; with the
    gain of its layer if there is one."""
    out = block.attn.proj.weight.detach().float()  # (D, D)
    if isinstance(block.ls1, LayerScale):
        out = block.ls1.gamma.detach().float()[:, None] * out
    of_heads = out.unflatten(1, (len(v), -1)).transpose(0, 1)  # (h, D, d)
    gram = of_heads.mT @ of_heads  # (h, d, d): ‖W v‖² = vᵀ(WᵀW)v, with no (N, D) for each head
    return ((v @ gram) * v).sum(-1).clamp(min=0).sqrt()
