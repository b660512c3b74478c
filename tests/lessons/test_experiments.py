"""Shapes and numbers of small experiments that the lessons print."""

import pytest
import torch

from playground.lessons import experiments
from playground.vit import QKV, attention_by_hand


def test_the_fused_tensor_is_split_into_heads():
    x, w = torch.randn(13, 100, 49), torch.randn(49, 192)
    qkv = x @ w
    heads = qkv.view(13, 100, 3, 4, 16).permute(2, 0, 3, 1, 4)
    assert [shape for _, shape in experiments.fused_shapes()] == [t.shape for t in (x, qkv, heads, heads[0])]


def test_without_matrices_rows_sum_to_one_and_columns_do_not():
    weights = experiments.rows_without_matrices()
    torch.testing.assert_close(weights.sum(1), torch.ones(4))
    assert (weights.sum(0) - 1).abs().max() > 0.1


def test_a_scale_of_one_makes_rows_sharper_than_the_usual_one():
    assert experiments.mean_largest_weight(None) == experiments.mean_largest_weight(64**-0.5)
    assert experiments.mean_largest_weight(1.0) > 4 * experiments.mean_largest_weight(None)


@pytest.mark.parametrize("block", [1, 7, 64, 200])
def test_attention_in_blocks_is_the_same(block):
    q, k, v = torch.randn(3, 1, 4, 100, 16, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(experiments.in_blocks(q, k, v, 0.7, block), attention_by_hand(q, k, v, 0.7))
    assert experiments.block_difference(QKV(q[0], k[0], v[0]), 0.7) < 1e-5


def test_the_python_beside_julia_is_attention():
    import numpy as np

    names = {"exp": np.exp}
    exec(experiments.PYTHON, names)
    q, k, v = np.random.default_rng(0).normal(size=(3, 10, 4))
    result = names["attention"](q, k, v, 0.5)
    expected = attention_by_hand(*(torch.from_numpy(x)[None, None] for x in (q, k, v)), 0.5)[0, 0]
    np.testing.assert_allclose(result, expected.numpy())


def test_a_small_start_is_nearly_even_and_a_large_one_is_not():
    largest, even_weight, mean_breadth = experiments.evenness(experiments.even_at_the_start())
    assert largest < 3 * even_weight
    assert mean_breadth > 0.9 * 197
    assert experiments.evenness(experiments.even_at_the_start(start=0.1))[2] < 40


@pytest.mark.parametrize(("deviation", "expected"), [(0.02, 0.31), (0.1, 7.7)])
def test_the_deviation_of_a_scaled_score_is_width_times_the_square_of_the_start(deviation, expected):
    assert 768 * deviation**2 == pytest.approx(expected, rel=0.02)
    weights = experiments.even_at_the_start(start=deviation).clamp(min=1e-30).log()
    if deviation < 0.05:  # larger deviations give weights too small for 32-bit numbers
        assert float(weights.std(-1).mean()) == pytest.approx(expected, rel=0.1)
