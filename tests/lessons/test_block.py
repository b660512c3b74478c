"""A layer as a whole: its boxes have all weights, its pushes add up, its curves are torch's."""

import pytest
import torch
import torch.nn.functional as F
from conftest import SMALL, scramble

import playground
from playground.lessons import block
from playground.vit import Config, VisionTransformer

KINDS = {
    "ours": SMALL,
    "layer scale": Config(**{**SMALL.__dict__, "layer_scale": True, "classes": 0}),
    "rotary, average": Config(**{**SMALL.__dict__, "positions": "rotary", "pool": "avg", "norm_place": "pooled"}),
    "pre-norm, map pool": Config(**{**SMALL.__dict__, "pre_norm": True, "pool": "map", "cls_token": False}),
    "pre-training head": Config(**{**SMALL.__dict__, "pre_logits": True}),
}


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
def test_the_boxes_hold_every_weight_once(config):
    vit = VisionTransformer(config)
    found = block.boxes(vit, 67, (64, 64))
    assert sum(box.weights for box in found) == sum(p.numel() for p in vit.parameters())


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
    inside, layer = block.hidden(seen, 1), seen.vit.blocks[1]
    kept = []
    hook = layer.mlp.fc1.register_forward_hook(lambda module, given, made: kept.append(made))
    seen.vit(seen.input)
    hook.remove()
    torch.testing.assert_close(inside, kept[0][0, len(seen.prefix) :], atol=1e-4, rtol=1e-4)


def test_post_norm_lets_less_and_less_through_to_the_first_layers_of_a_new_network():
    for seed in range(3):
        found = block.gradients(seed=seed)
        post, pre = found["post"], found["pre"]
        assert post[-1] > pre[-1], (post, pre)
        assert post[-1] / post[0] > 1.5 * pre[-1] / pre[0], (post, pre)


def test_cross_entropy_and_the_look_up_are_torch_s():
    logits, matrix = torch.randn(7), torch.randn(5, 3)
    assert block.cross_entropy(logits, 4) == pytest.approx(F.cross_entropy(logits[None], torch.tensor([4])).item())
    assert torch.equal(block.look_up(matrix, 2), matrix[2])


def test_a_trace_from_bytes_has_no_stream(seen):
    bare = playground.tracing.Trace.from_bytes(seen.to_bytes())
    for ask in (block.stream, lambda one: block.hidden(one, 0)):
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
