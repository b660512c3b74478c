"""Position encodings: how a token knows where its patch lies. Attention treats tokens as a set; without positions it
can't tell left from right.

Three kinds: fixed sines, rotations of queries and keys, or a learned vector for each place, which is interpolated for
another grid. N tokens, D width, d the width of one head.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


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


def rotate(x: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
    """Rotates the vectors of the patches, which are the last tokens; prefix tokens have no place and stay as they
    are."""
    prefix, patches = x.split([x.shape[2] - sin.shape[0], sin.shape[0]], dim=2)  # (B, h, ., d)
    first, second = patches.chunk(2, dim=-1)
    return torch.cat([prefix, patches * cos + torch.cat([-second, first], dim=-1) * sin], dim=2)


def stretched(learned: Tensor, old: tuple[int, int], new: tuple[int, int]) -> Tensor:
    """Interpolates learned positions (1, N, D) from one grid to another, like an image. Those of the prefix tokens,
    which come first, stay as they are."""
    prefix, patches = learned.tensor_split([learned.shape[1] - old[0] * old[1]], dim=1)
    picture = patches.transpose(1, 2).unflatten(2, old)  # (1, D, rows, columns)
    precise = picture.to(torch.promote_types(picture.dtype, torch.float32))  # halves can't be interpolated everywhere
    picture = F.interpolate(precise, size=new, mode="bicubic", antialias=True, align_corners=False).to(picture)
    return torch.cat([prefix, picture.flatten(2).transpose(1, 2)], dim=1)
