"""Occlusion: how pixels are blanked, how far a blanked block moves the answer, and how well relevance predicts this."""

import pytest
import torch

import playground
from playground.analysis import occlusion
from playground.analysis.occlusion import Blanking, Target, blanked_picture, spearman


def mask_of(*patches: tuple[int, int]) -> torch.Tensor:
    mask = torch.zeros(8, 8, dtype=torch.bool)
    for patch in patches:
        mask[patch] = True
    return mask


@pytest.mark.parametrize("by", occlusion.FILLINGS)
def test_blanking_hides_the_patch_s_pixels_and_leaves_the_others_unchanged(small_trace, by):
    pixels, altered_pixels = small_trace.input, small_trace.input.clone()
    altered_pixels[:, :, 16:24, 40:48] = 9.0  # the same patch with other pixels
    blanked_pixels, blanked_altered_pixels = (
        blanked_picture(x, mask_of((2, 5)), 8, by) for x in (pixels, altered_pixels)
    )
    is_outside = torch.ones(64, 64, dtype=torch.bool)
    is_outside[16:24, 40:48] = False
    assert torch.equal(blanked_pixels[..., is_outside], pixels[..., is_outside])
    assert not torch.equal(blanked_pixels, pixels)
    if by == "neighbours":
        assert torch.equal(blanked_pixels, blanked_altered_pixels), "it is filled from what is around it alone"


def test_moves_equal_those_of_a_pass_over_the_blanked_picture(small, small_trace):
    mask = mask_of((2, 5), (2, 6))
    pixels = blanked_picture(small_trace.input, mask, 8)
    with torch.no_grad():
        old_feature, new_feature = (
            small.norm(small.features(x, 2))[0, small_trace.token((4, 4))] for x in (small_trace.input, pixels)
        )
        margins = [margin_by_hand(small(x)[0], 7) for x in (small_trace.input, pixels)]
    assert Blanking(small_trace, Target(query=(4, 4))).moved([mask])[0] == pytest.approx(
        float((new_feature - old_feature).norm() / old_feature.norm()), rel=1e-4
    )
    assert Blanking(small_trace, Target(label=7)).moved([mask])[0] == pytest.approx(margins[0] - margins[1], abs=1e-5)


def margin_by_hand(logits, label: int) -> float:
    values = logits.tolist()
    return values[label] - max(value for i, value in enumerate(values) if i != label)


def test_the_margin_of_a_multi_label_model_is_the_label_s_own_logit():
    logits = torch.tensor([[3.0, -1.0, 2.0], [0.5, 4.0, 1.0]])
    assert occlusion.margin(logits, 0, multi_label=False).tolist() == [1.0, -3.5]
    assert occlusion.margin(logits, 0, multi_label=True).tolist() == [3.0, 0.5]
    assert occlusion.margin(logits[:, :1], 0, multi_label=False).tolist() == [3.0, 0.5], "there is no other"


def test_the_last_step_says_whether_no_block_moves_the_answer(small_trace, small):
    """If the class token attends only to itself, blanking does not move the label."""
    deaf_trace = playground.trace(small, small_trace.shown, cut="cls>*")
    for target, answer_stays in ((Target(label=7), True), (Target(query=(4, 4)), False)):
        *_, last_step = occlusion.occlusion(Blanking(deaf_trace, target))
        assert last_step.answer_stays is answer_stays, (target, last_step.largest)
        assert (last_step.largest < target.least_move) is answer_stays


@pytest.mark.parametrize(
    ("grid", "side", "coarsest"), [((14, 14), 2, 4), ((8, 8), 1, 2), ((18, 27), 4, 4), ((3, 4), 1, 1)]
)
def test_maps_are_compared_with_the_smallest_blocks_that_are_all_blanked(grid, side, coarsest):
    assert occlusion.side_of(grid) == side
    assert occlusion.side_of(grid, most=0) == coarsest


def test_the_map_becomes_finer_and_the_number_of_passes_is_bounded(small_trace):
    steps = list(occlusion.occlusion(Blanking(small_trace, Target(query=(4, 4))), most=40))
    assert [step.passes for step in steps] == [4, 20, 40], "blocks of 4 × 4, of 2 × 2, and some patches"
    assert [step.complete_side for step in steps] == [4, 2, 2]
    assert steps[-1].map.shape == (8, 8)
    assert len(steps[-1].map.unique()) > len(steps[0].map.unique())
    assert occlusion.passes_of((8, 8), most=40) == 40
    assert occlusion.passes_of((8, 8)) == 84


def test_on_a_fine_grid_only_the_half_of_blocks_that_move_most_is_divided(small, picture):
    trace = playground.trace(small, picture, size=(160, 160))
    *_, last_step = occlusion.occlusion(Blanking(trace, Target(query=(9, 9))))
    assert last_step.complete_side == 4, "a grid of 20 × 20 has 25 blocks of 4 × 4 and 100 of 2 × 2"
    assert last_step.passes == occlusion.passes_of((20, 20)) == 9 + 25 + 48 + 96
    assert len(last_step.moves) == 25


def test_without_attention_only_a_block_with_the_patch_moves_it(small, picture):
    for block in small.blocks:
        torch.nn.init.zeros_(block.attn.proj.weight)
        torch.nn.init.zeros_(block.attn.proj.bias)
    trace = playground.trace(small, picture)
    measurement = Blanking(trace, Target(query=(4, 5)))
    *_, last_step = occlusion.occlusion(measurement)
    occlusion_map = last_step.map
    assert occlusion_map.flatten().argmax().item() == 8 * 4 + 5
    assert (occlusion_map > 1e-6).sum() == 1
    true_map = torch.zeros(8, 8)
    true_map[4, 5] = 1
    moves = measurement.moved(occlusion.blocks(trace.grid, 2))
    assert occlusion.foretells(true_map, 2, moves) == pytest.approx(1, abs=1e-6)
    assert occlusion.deletion(true_map, measurement).area > occlusion.deletion(-true_map, measurement).area
    assert occlusion.insertion(true_map, measurement).area < occlusion.insertion(-true_map, measurement).area


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1, 2, 3], [10, 20, 30], 1), ([1, 2, 3], [3, 2, 1], -1), ([1, 1, 1], [1, 2, 3], 0),
        ([1, 2, 2, 4], [1, 3, 2, 4], 0.9487),
    ],
)  # fmt: skip
def test_the_rank_correlation_is_right_in_cases_worked_out_by_hand(a, b, expected):
    assert spearman(a, b) == pytest.approx(expected, abs=1e-4)
