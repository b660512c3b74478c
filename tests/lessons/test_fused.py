"""Attention in blocks, the cell of code, and the words beside Python."""

import pytest
import torch

from playground.lessons import fused, start
from playground.vit import QKV, attention_by_hand


@pytest.mark.parametrize("block", [1, 7, 64, 200])
def test_in_blocks_it_is_the_same(block):
    q, k, v = torch.randn(3, 1, 4, 100, 16, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(fused.in_blocks(q, k, v, 0.7, block), attention_by_hand(q, k, v, 0.7))
    assert fused.in_blocks_apart(QKV(q[0], k[0], v[0]), 0.7) < 1e-5


def test_the_python_beside_julia_is_attention():
    import numpy as np

    there = {"exp": np.exp}
    exec(fused.PYTHON, there)
    q, k, v = np.random.default_rng(0).normal(size=(3, 10, 4))
    found = there["attention"](q, k, v, 0.5)
    expected = attention_by_hand(*(torch.from_numpy(x)[None, None] for x in (q, k, v)), 0.5)[0, 0]
    np.testing.assert_allclose(found, expected.numpy())


def test_a_small_start_is_nearly_even_and_a_large_one_is_not():
    largest, even, broad = start.evenness(start.even_at_the_start())
    assert largest < 3 * even
    assert broad > 0.9 * 197
    assert start.evenness(start.even_at_the_start(start=0.1))[2] < 40


@pytest.mark.parametrize(("deviation", "expected"), [(0.02, 0.31), (0.1, 7.7)])
def test_the_deviation_of_a_scaled_score_is_width_times_the_square_of_the_start(deviation, expected):
    assert 768 * deviation**2 == pytest.approx(expected, rel=0.02)
    weights = start.even_at_the_start(start=deviation).clamp(min=1e-30).log()
    if deviation < 0.05:  # a larger one gives weights that no 32-bit number holds
        assert float(weights.std(-1).mean()) == pytest.approx(expected, rel=0.1)
