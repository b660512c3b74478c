"""Lengths of tokens equal the lengths of the features, and a planted outlier is counted."""

import torch

from playground.analysis import token_norms


def test_a_patch_far_longer_than_the_others_is_counted_as_an_outlier():
    lengths = torch.ones(2, 8, 8) + torch.rand(2, 8, 8, generator=torch.Generator().manual_seed(0))
    lengths[1, 3, 4] = 15
    token_lengths = token_norms.Lengths(lengths, torch.ones(2, 1))
    assert (token_lengths.outlier_count(0), token_lengths.outlier_count(1), token_lengths.worst_layer) == (0, 1, 1)
    assert token_lengths.largest_ratio(0) < 2 < 8 < token_lengths.largest_ratio(1)
