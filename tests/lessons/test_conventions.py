"""The shapes that other texts print."""

import torch

from playground.lessons import conventions


def last(shapes):
    return shapes[-1][1]


def test_without_matrices_the_shape_stays():
    shapes = conventions.without_matrices()
    assert [shape for _, shape in shapes] == [(1, 4, 8), (1, 4, 4), (1, 4, 8)]


def test_five_heads_of_full_width_on_five_tokens_of_three():
    shapes = dict(conventions.full_heads())
    assert shapes["tokens"] == (5, 3)
    assert shapes["W_V of one head"] == (3, 3)
    assert shapes["5 answers side by side"] == (5, 15)
    assert shapes["W_msa"] == (3, 15)
    assert shapes["answer"] == (5, 3)


def test_128_pixels_are_64_patches_of_32_numbers():
    shapes = conventions.patches()
    assert shapes[1][1] == (64, 768)
    assert last(shapes) == (64, 32)


def test_the_fused_tensor_is_shared_out():
    assert [shape for _, shape in conventions.fused()] == [
        (13, 100, 49), (13, 100, 192), (3, 13, 4, 100, 16), (13, 4, 100, 16),
    ]  # fmt: skip


def test_without_matrices_rows_sum_to_one_and_columns_do_not():
    weights = conventions.rows_without_matrices()
    torch.testing.assert_close(weights.sum(1), torch.ones(4))
    assert (weights.sum(0) - 1).abs().max() > 0.1


def test_a_bias_of_the_keys_changes_no_weight_and_one_of_the_queries_does():
    assert conventions.a_bias_of("key") < 1e-6
    assert conventions.a_bias_of("query") > 0.01


def test_a_scale_of_one_makes_rows_sharper_than_the_usual_one():
    assert conventions.largest_with(None) == conventions.largest_with(64**-0.5)
    assert conventions.largest_with(1.0) > 4 * conventions.largest_with(None)
