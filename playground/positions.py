"""Position encodings: how a token knows where its patch lies. Attention treats tokens as a set; without positions it
can't tell left from right.

Three kinds: fixed sines, rotations of queries and keys, or a learned vector for each place, which is interpolated for
another grid; some models have both of the latter. N tokens, D width, d the width of one head.
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
