"""A layer as a whole: its pushes add up, its curves are torch's."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from conftest import SMALL, scramble

import playground
from playground import samples
from playground.analysis import block
from playground.lessons import block_answer, block_read
from playground.scenes.generate import LABELS, presence
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


# Block 5 and 6 explain an answer that is right, and what a model of yes and no says is never a softmax.


ROOT = Path(playground.__file__).parent


@pytest.mark.parametrize("sample", samples.SAMPLES, ids=lambda sample: sample.name)
def test_a_drawing_shows_what_its_scene_holds(sample):
    held = presence(samples.draw_sample(sample.name, 224))
    assert set(sample.shows) == {label for label, there in zip(LABELS, held, strict=True) if there}


def test_a_photograph_shows_what_imagenet_has_a_name_for():
    from timm.data import ImageNetInfo

    info = ImageNetInfo("imagenet-1k")
    names = {info.index_to_description(number).split(",")[0] for number in range(1000)}
    assert {label for sample in samples.PHOTOGRAPHS for label in sample.shows} <= names


@pytest.mark.parametrize("model", block.FOUND)
def test_our_models_answer_their_picture_rightly_and_the_answer_changes_on_the_way(model):
    vit = playground.load(model)
    looks = {sample.name: playground.trace(vit, sample.name) for sample in samples.SAMPLES}
    judged = [block.judged(name, seen, samples.named(name).shows) for name, seen in looks.items()]
    found = block.best([one for one in judged if one])
    assert found.picture == block.FOUND[model]
    shares = looks[found.picture].logits.sigmoid()
    says = {LABELS[number] for number, share in enumerate(shares.tolist()) if share > 0.5}
    assert says == set(samples.named(found.picture).shows), shares.tolist()
    along = block.on_the_way(looks[found.picture])[:, found.label]
    assert along[-1] > 0.5 > along[:-1].min(), along.tolist()


def named(seen, labels, **more):
    seen.vit.config = replace(seen.vit.config, labels=labels, **more)
    return seen


def test_a_model_that_shares_out_is_right_where_its_likeliest_label_is_true(seen):
    likeliest = int(seen.logits.argmax())
    labels = tuple(f"thing {number}" for number in range(10))
    named(seen, labels)
    right = block.judged("x", seen, (labels[likeliest], labels[likeliest - 1]))
    assert (right.wrong, right.label) == (0, likeliest)
    assert block.judged("x", seen, (labels[likeliest - 1],)).wrong == 1
    assert block.judged("x", seen, ("nothing of it",)) is None


def test_what_a_picture_costs_is_torch_s(seen):
    many, one = replace(seen.vit.config, multi_label=True), seen.vit.config
    for label in range(10):
        assert block.cross_entropy(many, seen.logits, label) == pytest.approx(-float(F.logsigmoid(seen.logits[label])))
        by_hand = -float(seen.logits.log_softmax(-1)[label])
        assert block.cross_entropy(one, seen.logits, label) == pytest.approx(by_hand, abs=1e-5)
    so = torch.zeros(10).index_fill(0, torch.tensor([2, 5]), 1)
    assert float(block.costs(seen.logits, [2, 5]).mean()) == pytest.approx(
        float(F.binary_cross_entropy_with_logits(seen.logits, so))
    )


def test_the_stream_of_a_model_of_yes_and_no_is_read_by_a_sigmoid(picture):
    seen = playground.trace(scramble(VisionTransformer(replace(SMALL, multi_label=True))), picture)
    assert block.read_stream(seen, 3).pooled[-1] == pytest.approx(float(seen.logits[3].sigmoid()), abs=1e-5)


def test_no_logits_of_labels_go_through_a_softmax_unasked():
    """One place knows which of both it is: Config.shares; whoever does it for himself asks the same."""
    lines = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in ROOT.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"logits[^#]*\.(log_)?softmax\(", line) and "multi_label" not in line
    ]
    assert not lines


# What is printed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("multi", [True, False])
def test_the_question_on_the_loss_speaks_of_the_model_s_own(multi):
    question = block_answer.loss_question("plant", 0.0983, "textured", 0.88, multi)
    said = " ".join((question.asks, question.says, question.prose))
    assert ("softmax" in said, "sigmoid" in said) == (not multi, multi)
    assert "−log 0.098 = 2.32" in said


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ((60, 70, 80), "It is above one half all the way."),
        ((10, 20, 30), "It is never above one half."),
        ((70, 20, 30), "In the end it is not above one half."),
        ((70, 20, 30, 90), "The last layer brings it above one half."),
        ((10, 60, 70), "It is above one half after 1 layer and stays there."),
        ((10, 60, 20, 70, 90), "It is above one half after 3 layers and stays there."),
        ((10, 50.04, 70), "The last layer brings it above one half."),
    ],
)
def test_the_sentence_on_one_half_is_true(said, sentence):
    assert block_read.above_half(said).strip() == sentence


def test_a_probability_just_above_one_half_is_not_printed_as_one_half():
    assert [block_read.per_cent(p) for p in (0.2, 12.4, 50.4, 99.7)] == ["0.2", "12", "50.4", "99.7"]
