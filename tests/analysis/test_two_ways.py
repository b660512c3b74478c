"""Convolution and attention side by side: receptive fields by brute force, and the effect of a shift on both."""

import pytest
import torch
from timm.models.swin_transformer import SwinTransformerBlock
from torch.utils.flop_counter import FlopCounterMode
from twins import in_javascript

from playground.analysis import two_ways
from playground.vit import Config, VisionTransformer


def test_a_convolution_s_output_shifts_with_the_picture_and_attention_s_does_not_quite(small, picture):
    result = two_ways.compare_shifted(small, picture, 1, 0)
    assert result.convolution < 1e-4
    assert result.one_pixel > 0.01  # a shift by one pixel, which is less than a stride
    assert result.apart > 1e-3
    assert result.features.shape == (result.grid[0], result.grid[1] - 1)
    assert result.features.max() < 0.99999
    for row in result.rows:
        assert row.shape == result.grid


def test_without_positions_attention_shifts_with_a_cyclically_shifted_picture():
    """Both pictures have the same patches, shifted cyclically: only positions could distinguish them."""
    torch.manual_seed(0)
    c = Config(image_size=(32, 32), patch_size=8, depth=2, width=32, mlp_width=64, heads=2, classes=0, cls_token=False,
               pool="avg", positions="none")  # fmt: skip
    vit = VisionTransformer(c).eval()
    image = torch.randn(1, 3, 32, 32)
    rolled_image = image.roll(8, dims=3)
    old_features, new_features = (vit.features(x, 1)[0].unflatten(0, (4, 4)) for x in (image, rolled_image))
    torch.testing.assert_close(old_features.roll(1, dims=1), new_features, atol=1e-5, rtol=1e-4)


def test_product_flops_are_what_torch_counts_and_linear_attention_needs_no_table():
    tokens, window, dim = 98, 49, 64
    q, k, v = torch.rand(3, tokens, dim)
    flop_counts = []
    for product in (
        lambda: q @ k.mT,
        lambda: q.unflatten(0, (-1, window)) @ k.unflatten(0, (-1, window)).mT,
        lambda: k.mT @ v,
    ):
        with FlopCounterMode(display=False) as counter:
            product()
        flop_counts.append(counter.get_total_flops())
    assert tuple(flop_counts) == two_ways.product_flops(tokens, window, dim)
    assert torch.allclose((q @ k.mT) @ v, q @ (k.mT @ v), rtol=1e-4)
    standard_products, _, linear_products = two_ways.product_flops(dim, window, dim)
    assert standard_products == linear_products


def test_any_convolution_is_unfold_multiply_fold(picture):
    result = two_ways.unfolding_results(picture)
    assert [(unfolding.kernel, unfolding.stride) for unfolding in result] == [(3, 1), (3, 2), (16, 16)]
    for unfolding in result:
        assert unfolding.apart < 1e-4 * unfolding.typical * 10, unfolding
        assert unfolding.columns == (3 * unfolding.kernel**2, unfolding.answer[0] * unfolding.answer[1])


@pytest.mark.parametrize("shifts", [False, True])
def test_what_a_patch_has_heard_of_in_windows_is_what_timm_s_swin_lets_through(shifts):
    grid, window, at = (12, 16), 4, 3 * 16 + 5
    torch.manual_seed(0)
    x = torch.randn(1, *grid, 8, requires_grad=True)
    y, reached = x, []
    for layer in range(4):
        shift = window // 2 if shifts and layer % 2 else 0
        y = SwinTransformerBlock(8, grid, num_heads=1, window_size=window, shift_size=shift).eval()(y)
        (gradient,) = torch.autograd.grad(y.flatten(1, 2)[0, at].square().sum(), x, retain_graph=True)
        rows, columns = (gradient[0].abs().sum(-1) > 1e-20).nonzero().T  # its mask adds −100, not −∞
        reached.append([int(n) for n in (rows.min(), columns.min(), rows.max() + 1, columns.max() + 1)])
        assert len(rows) == (reached[-1][2] - reached[-1][0]) * (reached[-1][3] - reached[-1][1]), "a rectangle"
    ask = "return [1, 2, 3, 4].map((n) => grid.heardInWindows(given.at, given.grid, 4, n, given.shifts));"
    assert in_javascript(["grid"], ask, {"at": at, "grid": grid, "shifts": shifts}) == reached
    assert (reached[-1] == [0, 4, 4, 8]) == (not shifts)
