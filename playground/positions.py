"""How a token is told where its patch lies. Tokens are a set: attention by itself can't tell left from right.

Fixed waves, angles, or a learned vector for each place, which is stretched where the grid is another one. N tokens, D
width, d the width of one head.
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
    """Positions as angles, DINOv3's way: a patch's queries and keys are turned by where it lies in the image."""
    rows, columns = ((torch.arange(n) + 0.5) / n * 2 - 1 for n in grid)  # centres of the patches, from -1 to 1
    place = torch.cartesian_prod(rows, columns)  # (patches, 2)
    periods = 100 ** (torch.arange(d // 4) / (d // 4))  # (d/4,)
    angle = (2 * math.pi * place[:, :, None] / periods).flatten(1).tile(2)  # (patches, d)
    return angle.sin(), angle.cos()


def rotate(x: Tensor, sin: Tensor, cos: Tensor) -> Tensor:
    """Turns the patches' vectors (the last tokens); prefix tokens have no place and stay as they are."""
    prefix, patches = x.split([x.shape[2] - sin.shape[0], sin.shape[0]], dim=2)  # (B, h, ., d)
    first, second = patches.chunk(2, dim=-1)
    return torch.cat([prefix, patches * cos + torch.cat([-second, first], dim=-1) * sin], dim=2)


def stretched(learned: Tensor, old: tuple[int, int], new: tuple[int, int]) -> Tensor:
    """Learned positions (1, N, D) of one grid for another: stretched like a picture. Those of the prefix tokens, which
    stand in front, stay as they are."""
    prefix, patches = learned.tensor_split([learned.shape[1] - old[0] * old[1]], dim=1)
    picture = patches.transpose(1, 2).unflatten(2, old)  # (1, D, rows, columns)
    picture = F.interpolate(picture, size=new, mode="bicubic", antialias=True, align_corners=False)
    return torch.cat([prefix, picture.flatten(2).transpose(1, 2)], dim=1)
