"""A pass with heads switched off equals a pass with zeros in these heads' columns of W_O."""

import copy

import pytest
import torch

import playground
from playground.analysis.ablation import ablation_effect, additivity, contributions

LABELS = tuple("abcdefghij")


def zeroed(vit, off_heads):
    """Reference: a network whose W_O has zeros in the columns of these heads."""
    vit = copy.deepcopy(vit)
    d = vit.config.width // vit.config.heads
    for layer, head in off_heads:
        vit.blocks[layer].attn.proj.weight.data[:, head * d : (head + 1) * d] = 0
    return vit


@pytest.mark.parametrize("off_heads", [{(0, 0)}, {(1, 2)}, {(2, 3)}, {(0, 1), (2, 0), (2, 1)}], ids=str)
def test_switching_a_head_off_equals_zeros_in_its_columns_of_w_o(small_trace, off_heads):
    muted_vit = zeroed(small_trace.vit, off_heads)
    ablation = ablation_effect(small_trace, off_heads)
    torch.testing.assert_close(ablation.after, muted_vit(small_trace.input)[0].softmax(-1), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(ablation.before, small_trace.logits.softmax(-1), atol=1e-5, rtol=1e-4)
    for layer in range(small_trace.layers):
        x, muted_tokens = (vit.features(small_trace.input, layer)[0] for vit in (small_trace.vit, muted_vit))
        expected = (muted_tokens - x).norm(dim=-1) / x.norm(dim=-1)
        torch.testing.assert_close(ablation.change[layer], expected, atol=1e-5, rtol=1e-4)


def test_ablation_keeps_the_scale_of_the_pass(small, picture):
    trace = playground.trace(small, picture, scale="off")
    off_heads = {(1, 1)}
    expected = zeroed(small, off_heads)(trace.input, scale=1.0)[0].softmax(-1)
    torch.testing.assert_close(ablation_effect(trace, off_heads).after, expected, atol=1e-5, rtol=1e-4)


def test_losses_without_single_heads_and_without_a_whole_layer_equal_a_loop_s(small_trace):
    losses = additivity(small_trace, 1, to="zero")
    final_tokens = small_trace.vit.features(small_trace.input, small_trace.layers - 1)[0]

    def loss(off_heads):
        muted_tokens = zeroed(small_trace.vit, off_heads).features(small_trace.input, small_trace.layers - 1)[0]
        return (
            ((muted_tokens - final_tokens).norm(dim=-1) / final_tokens.norm(dim=-1))[len(small_trace.prefix) :]
            .mean()
            .item()
        )

    assert losses.single == pytest.approx([loss({(1, head)}) for head in range(small_trace.heads)], rel=1e-3)
    assert losses.whole == pytest.approx(loss({(1, head) for head in range(small_trace.heads)}), rel=1e-3)
    assert losses.together == pytest.approx(sum(losses.single))
    added_vectors, first_patch = contributions(small_trace, 1), len(small_trace.prefix)
    pairs = [
        torch.cosine_similarity(added_vectors[a, n], added_vectors[b, n], dim=0).item()
        for a in range(small_trace.heads) for b in range(a) for n in range(first_patch, small_trace.tokens)
    ]  # fmt: skip
    assert losses.cosine == pytest.approx(sum(pairs) / len(pairs), abs=1e-5)
    means, heads = additivity(small_trace, 1), range(small_trace.heads)  # each head gives its mean
    without = [*([(1, head)] for head in heads), [(1, head) for head in heads]]
    moves = [float(ablation_effect(small_trace, off, to="mean").change[-1, first_patch:].mean()) for off in without]
    assert [*means.single, means.whole] == pytest.approx(moves, rel=1e-3)


def test_what_heads_add_sums_up_to_what_attention_adds(small_trace):
    block = small_trace.vit.blocks[2]
    x = small_trace.vit.features(small_trace.input, 1)
    mixture, _ = block.attn(block.norm1(x), small_trace.scale, None)
    torch.testing.assert_close(
        contributions(small_trace, 2).sum(0) + block.attn.proj.bias, mixture[0], atol=1e-4, rtol=1e-3
    )


def test_predictions_hold_each_label_with_its_probability_before_and_after(small_trace):
    ablation = ablation_effect(small_trace, {(1, 0)})
    rows = ablation.predictions(LABELS, top=3)
    assert [label for label, *_ in rows][:1] == [LABELS[int(ablation.before.argmax())]]
    assert LABELS[int(ablation.after.argmax())] in [label for label, *_ in rows]
    for label, share_before, share_after in rows:
        i = LABELS.index(label)
        assert (share_before, share_after) == pytest.approx((ablation.before[i].item(), ablation.after[i].item()))
    assert ablation.predictions(()) == []


def test_without_a_classifier_the_output_vector_turns(picture):
    from conftest import scramble

    from playground.vit import Config, VisionTransformer

    c = Config(
        image_size=(64, 64), patch_size=8, depth=2, width=48, mlp_width=96, heads=4, classes=0, cls_token=False,
        pool="avg", positions="rotary",
    )  # fmt: skip
    vit = scramble(VisionTransformer(c))
    trace = playground.trace(vit, picture)
    ablation = ablation_effect(trace, {(0, 2)})
    assert (ablation.before, ablation.after, ablation.predictions(LABELS)) == (None, None, [])
    a, b = (model(trace.input)[0] for model in (vit, zeroed(vit, {(0, 2)})))
    assert ablation.cosine_change == pytest.approx(1 - torch.cosine_similarity(a, b, dim=0).item(), abs=1e-5)
    assert ablation.cosine_change > 1e-4


@pytest.mark.parametrize("head", [0, 3])
def test_a_head_s_mean_in_its_place_is_the_pass_of_the_cut_mean(small, picture, small_trace, head):
    cut_trace = playground.trace(small, picture, cut=[f"mean@1.{head}"])
    ablation = ablation_effect(small_trace, {(1, head)}, to="mean")
    torch.testing.assert_close(ablation.after, cut_trace.logits.softmax(-1), atol=1e-5, rtol=1e-4)
