"""A layer as a whole: its pushes add up, its curves are torch's."""

from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from conftest import SMALL, scramble

import playground
from playground.analysis import block
from playground.vit import Config, VisionTransformer

KINDS = {
    "ours": SMALL,
    "layer scale": Config(**{**SMALL.__dict__, "layer_scale": True, "classes": 0}),
    "rotary, average": Config(**{**SMALL.__dict__, "positions": "rotary", "pool": "avg", "norm_place": "pooled"}),
    "pre-norm, map pool": Config(**{**SMALL.__dict__, "pre_norm": True, "pool": "map", "cls_token": False}),
    "pre-training head": Config(**{**SMALL.__dict__, "pre_logits": True}),
}


def test_the_pushes_are_what_the_layer_adds(seen):
    found = block.stream(seen)
    front = len(seen.prefix)
    for layer in (1, 2):
        before, after = (seen.features(i)[front:] for i in (layer - 1, layer))
        torch.testing.assert_close(found.before[layer], before.norm(dim=-1))
        torch.testing.assert_close(found.kept[layer], torch.cosine_similarity(before, after, dim=-1))
    (length, zero), (along, aside) = found.arrows(1, 5)
    assert zero == 0
    pushed = ((length + along) ** 2 + aside**2) ** 0.5
    assert pushed == pytest.approx(float(found.after[1, 5]), rel=1e-4)  # token + push = the token after attention


def test_gelu_is_torch_s_and_the_hidden_numbers_are_the_model_s(seen):
    x = torch.linspace(-5, 5, 101)
    torch.testing.assert_close(block.gelu(x), F.gelu(x))
    kept = []
    hooks = [
        layer.mlp.fc1.register_forward_hook(lambda module, given, made: kept.append(made)) for layer in seen.vit.blocks
    ]
    seen.vit(seen.input)
    for hook in hooks:
        hook.remove()
    for inside, made in zip(block.hidden(seen), kept, strict=True):
        torch.testing.assert_close(inside, made[0, len(seen.prefix) :], atol=1e-4, rtol=1e-4)


def test_post_norm_s_last_gradient_does_not_shrink_with_depth_and_pre_norm_s_does():
    """What Block 4 plots: from 2 to 32 layers."""
    pre, post = (block.LAST_GRADIENTS[place] for place in ("pre", "post"))
    assert min(post) > 0.9 * post[0]
    assert all(deeper < 0.8 * shallower for shallower, deeper in pairwise(pre))


@pytest.mark.parametrize("depth", block.DEPTHS)
@pytest.mark.parametrize("start", [None, block.SMALL_START])
def test_the_plotted_gradients_are_those_of_new_networks(depth, start):
    """With a ViT's small start it makes no difference where the norms stand."""
    at, kept = block.DEPTHS.index(depth), block.LAST_GRADIENTS_SMALL if start else block.LAST_GRADIENTS
    found = block.last_gradients(depth, start)
    assert found == pytest.approx({place: kept[place][at] for place in ("pre", "post")}, rel=0.02)
    if start:
        assert found["pre"] == pytest.approx(found["post"], rel=0.06)


def test_cross_entropy_and_the_look_up_are_torch_s():
    logits, matrix = torch.randn(7), torch.randn(5, 3)
    assert block.cross_entropy(SMALL, logits, 4) == pytest.approx(
        F.cross_entropy(logits[None], torch.tensor([4])).item()
    )
    assert torch.equal(block.look_up(matrix, 2), matrix[2])


def test_a_trace_from_bytes_has_no_stream(seen):
    bare = playground.tracing.Trace.from_bytes(seen.to_bytes())
    for ask in (block.stream, lambda one: next(block.hidden(one))):
        with pytest.raises(playground.PlaygroundError, match="trace the image again"):
            ask(bare)


def test_scrambled_rotary_models_have_a_stream(picture):
    vit = scramble(VisionTransformer(KINDS["rotary, average"]))
    seen = playground.trace(vit, picture)
    assert block.stream(seen).before.shape == (vit.config.depth, seen.tokens - len(seen.prefix))


def test_eval_switches_dropout_off_and_leaves_gradients_on():
    net, x = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Dropout(0.5)), torch.rand(8, 64)
    assert not torch.equal(net(x), net(x))
    net.eval()
    assert torch.equal(net(x), net(x))
    assert net(x).requires_grad


def test_dropout_makes_two_passes_differ_and_eval_makes_them_the_model_s(seen):
    first, second = block.two_passes(seen, True)
    assert first != second
    best = float(seen.logits.max())
    assert block.two_passes(seen, False) == pytest.approx((best, best), rel=1e-4)


def test_the_pre_training_head_has_one_more_matrix():
    c = KINDS["pre-training head"]
    vit = VisionTransformer(c)
    both = sum(p.numel() for part in (vit.pre_logits, vit.head) for p in part.parameters())
    assert block.pretraining_head(c.width, c.classes) == (both, sum(p.numel() for p in vit.head.parameters()))


@pytest.mark.parametrize("config", [KINDS["ours"], KINDS["rotary, average"], KINDS["pre-training head"]])
def test_what_each_layer_would_answer_ends_with_the_answer_and_is_the_logit_lens(config, picture):
    seen = playground.trace(scramble(VisionTransformer(config)), picture)
    found = block.read_stream(seen, 3)
    assert found.patches.shape == (seen.layers + 1, *seen.grid)
    assert found.pooled[-1] == pytest.approx(float(seen.logits.softmax(-1)[3]), abs=1e-5)
    for layer in range(seen.layers):
        torch.testing.assert_close(found.patches[layer + 1], seen.on_grid(seen.answers(layer)[:, 3]))
