"""Windowed and linear attention, compared with loops over all pairs."""

import torch
import torch.nn.functional as F

from playground.analysis import benchmark
from playground.vit import attention_by_hand

SIDE = 8


def random_qkv():
    return torch.randn(3, 2, 3, SIDE**2, 5, generator=torch.Generator().manual_seed(0))


def test_windowed_attention_is_attention_masked_to_each_window():
    row, column = torch.arange(SIDE**2) // SIDE // benchmark.WINDOW, torch.arange(SIDE**2) % SIDE // benchmark.WINDOW
    window = row * SIDE + column
    mask = (window[:, None] == window)[None]
    q, k, v = random_qkv()
    torch.testing.assert_close(benchmark.window_attention(q, k, v, 0.6), attention_by_hand(q, k, v, 0.6, mask))


def test_linear_attention_is_the_mean_of_all_values_weighted_by_the_products_of_features():
    q, k, v = random_qkv()
    weights = (F.elu(q) + 1) @ (F.elu(k) + 1).mT
    weights = weights / weights.sum(-1, keepdim=True)
    torch.testing.assert_close(benchmark.linear_attention(q, k, v, 0.6), weights @ v)
