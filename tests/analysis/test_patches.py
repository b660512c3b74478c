from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import SMALL, scramble
from PIL import Image

from playground.analysis import patches
from playground.analysis.patches import (
    by_convolution,
    by_unfolding,
    cut_picture,
    place_vectors,
    random_order,
    rearranged,
    shuffle,
    stretched,
    strongest_filters,
    without_positions,
)
from playground.pictures import images
from playground.vit import VisionTransformer


@pytest.mark.parametrize("patch", [8, 14, 16, 20, 32, 48])
@pytest.mark.parametrize("size", [(224, 224), (149, 224)], ids=str)
def test_unfolding_equals_a_strided_convolution(patch, size):
    random = torch.Generator().manual_seed(patch)
    image, matrix = (torch.randn(*s, generator=random) for s in ((1, 3, *size), (12, 3, patch, patch)))
    matrix, bias = matrix / (3 * patch**2) ** 0.5, torch.randn(12, generator=random)
    tokens = by_unfolding(image, matrix, bias)
    assert tokens.shape == (1, (size[0] // patch) * (size[1] // patch), 12)
    assert (tokens - by_convolution(image, matrix, bias)).abs().max() < 1e-5
    tokens, convolved_tokens = (
        by(image.double(), matrix.double(), bias.double()) for by in (by_unfolding, by_convolution)
    )
    assert (tokens - convolved_tokens).abs().max() < 1e-12


def test_a_number_of_a_token_equals_a_loop_over_the_patch_s_pixels(small, picture):
    cut = cut_picture(small, picture, 8)
    pixels = torch.from_numpy(np.array(picture.resize((224, 224), Image.Resampling.BICUBIC)))
    proj = small.patch_embed.proj
    row, column, number = 3, 5, 7
    total = proj.bias[number].item()
    for channel in range(3):
        for y in range(8):
            for x in range(8):
                value = (pixels[row * 8 + y, column * 8 + x, channel].item() / 255 - 0.5) / 0.5
                total += value * proj.weight[number, channel, y, x].item()
    assert cut.tokens[row * cut.grid[1] + column, number].item() == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize(("old_side", "new_side"), [(8, 16), (8, 20), (14, 8), (16, 32), (16, 8)])
def test_stretched_filters_are_timm_s(old_side, new_side):
    from timm.layers import resample_patch_embed

    filters = torch.randn(5, 3, old_side, old_side, generator=torch.Generator().manual_seed(0))
    timm_filters = resample_patch_embed(filters, [new_side, new_side], verbose=False)
    assert (stretched(filters, new_side) - timm_filters).abs().max() < 1e-4


def test_the_strongest_filter_comes_first_and_answers_every_patch(small, picture):
    filters = strongest_filters(small, picture, most=10)
    lengths = filters.filters.flatten(1).norm(dim=1)
    assert (lengths.diff() <= 0).all()
    assert filters.answers.shape == (10, 14, 14)
    assert filters.titles[0] == f"number {small.patch_embed.proj.weight.flatten(1).norm(dim=1).argmax()} of the token"


@pytest.mark.parametrize("positions", ["learned", "patches", "sinusoidal", "rotary", "none"])
def test_every_kind_of_position_has_one_vector_for_each_patch(positions):
    vit = scramble(VisionTransformer(replace(SMALL, positions=positions)))
    place_table = place_vectors(vit, (5, 7), "learned")
    if positions == "none":
        assert place_table is None
    else:
        assert place_table[0].shape[0] == 35
        assert place_table[1] == {"patches": "learned"}.get(positions, positions)
    assert place_vectors(vit, (5, 7), "sinusoidal")[0].shape == (35, SMALL.width)


@pytest.mark.parametrize("kind", ["learned", "patches", "sinusoidal", "rotary"])
def test_without_positions_shuffling_only_shuffles_the_output(kind):
    vit = scramble(VisionTransformer(replace(SMALL, positions=kind)))
    pixels, order = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(0)), random_order(64, 1)
    shuffled_pixels = rearranged(pixels, 8, order)
    token_order = torch.cat([torch.arange(3), order + 3])  # the class token and the registers stay
    unplaced_vit = without_positions(vit)
    with torch.no_grad():
        tokens_before, tokens_after = (unplaced_vit.features(p, SMALL.depth - 1)[0] for p in (pixels, shuffled_pixels))
        assert (tokens_before[token_order] - tokens_after).abs().max() < 1e-5 * tokens_before.abs().max()
        tokens_before, tokens_after = (vit.features(p, SMALL.depth - 1)[0] for p in (pixels, shuffled_pixels))
        assert (tokens_before[token_order] - tokens_after).abs().max() > 1e-2 * tokens_before.abs().max()
    assert vit.config.positions == kind


def test_shuffled_patches_change_attention_only_with_positions(small, picture):
    unplaced_shuffle = shuffle(small, picture, layer=2, seed=5, with_positions=False)
    placed_shuffle = shuffle(small, picture, layer=2, seed=5, with_positions=True)
    assert unplaced_shuffle.difference < 1e-5
    assert placed_shuffle.difference > 1e-2 * placed_shuffle.largest
    assert sorted(unplaced_shuffle.order.tolist()) == list(range(14 * 14))


def test_scores_of_rotated_queries_and_keys_depend_on_the_offset_alone():
    rotated_range, added_range = patches.score_ranges_at_one_offset((9, 12))
    assert rotated_range < 1e-3 < 1 < added_range


def test_the_answers_of_three_colours_and_the_bias_sum_to_a_number_of_the_token(small, picture):
    answers = patches.answers_by_channel(small, picture, [5, 7], (2, 3))
    c, size = small.config, patches.small_size(small, picture)
    pixels = images.model_input(picture, size, c.mean, c.std, c.interpolation)
    with torch.no_grad():
        token = small.patch_embed(pixels)[0, 2 * (size[1] // c.patch_size) + 3]
        torch.testing.assert_close(answers.sum(1), token[[5, 7]], atol=1e-4, rtol=0)
