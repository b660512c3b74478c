"""Measurements of a layer: the additions of its parts sum to the tokens, and its curves equal torch's."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from conftest import SMALL, scramble
from torch import Tensor

import playground
from playground import samples
from playground.analysis import block
from playground.lessons import block_answer
from playground.vit import VisionTransformer
from workshop.samples import draw_sample
from workshop.scenes.generate import LABELS, presence

KINDS = [SMALL, replace(SMALL, positions="rotary", pool="avg", norm_place="pooled")]


def test_the_stream_s_lengths_and_arrows_are_those_of_the_tokens(small_trace):
    lengths = block.stream(small_trace)
    first_patch = len(small_trace.prefix)
    for layer in (1, 2):
        old_tokens, new_tokens = (small_trace.features(i)[first_patch:] for i in (layer - 1, layer))
        torch.testing.assert_close(lengths.before[layer], old_tokens.norm(dim=-1))
        torch.testing.assert_close(lengths.layer_cosine[layer], torch.cosine_similarity(old_tokens, new_tokens, dim=-1))
    block_1, x = small_trace.vit.blocks[1], small_trace.features(0)[None]
    push = block_1.ls1(block_1.attn(block_1.norm1(x), small_trace.scale, None)[0])[0, first_patch:]
    torch.testing.assert_close(lengths.attention_length[1], push.norm(dim=-1), rtol=1e-4, atol=1e-4)
    cosines = torch.cosine_similarity(push, x[0, first_patch:], dim=-1)
    torch.testing.assert_close(lengths.attention_cosine[1], cosines, rtol=1e-4, atol=1e-4)


def test_a_patch_far_longer_than_the_others_is_counted_as_an_outlier():
    lengths = torch.ones(2, 8, 8) + torch.rand(2, 8, 8, generator=torch.Generator().manual_seed(0))
    lengths[1, 3, 4] = 15
    token_lengths = block.Lengths(lengths, torch.ones(2, 1))
    assert (token_lengths.outlier_count(0), token_lengths.outlier_count(1), token_lengths.worst_layer) == (0, 1, 1)
    assert token_lengths.largest_ratio(0) < 2 < 8 < token_lengths.largest_ratio(1)


def test_gelu_equals_torch_s_and_hidden_yields_the_inputs_of_the_activation(small_trace):
    x = torch.linspace(-5, 5, 101)
    torch.testing.assert_close(block.gelu(x), F.gelu(x))
    activations = []
    hooks = [
        layer.mlp.fc1.register_forward_hook(lambda module, given, made: activations.append(made))
        for layer in small_trace.vit.blocks
    ]
    small_trace.vit(small_trace.input)
    for hook in hooks:
        hook.remove()
    for hidden_layer, activation in zip(block.hidden(small_trace), activations, strict=True):
        torch.testing.assert_close(hidden_layer, activation[0, len(small_trace.prefix) :], atol=1e-4, rtol=1e-4)


def test_post_norm_s_last_gradient_does_not_shrink_with_depth_and_pre_norm_s_does():
    pre, post = (block.LAST_GRADIENTS[norm_place] for norm_place in ("pre", "post"))
    assert min(post) > 0.9 * post[0]
    assert all(deeper < 0.8 * shallower for shallower, deeper in pairwise(pre))


def gradients(
    layers: int = 12, width: int = 64, tokens: int = 24, seed: int = 0, initial_std: float | None = None
) -> dict[str, list[float]]:
    """The gradient's norm at the second matrix of each layer's MLP in a new network: with norms before the branches
    ("pre"), and with norms after the sums ("post"), as in the first transformers. Both networks have the same
    parameters, tokens and target. The initial parameters have a standard deviation of 1/√D, as in Xiong et al. (2020),
    or of `initial_std`."""
    gradient_norms = {}
    for norm_place in ("pre", "post"):
        generator = torch.Generator().manual_seed(seed)
        layer_matrices = [_new_layer(width, generator, initial_std) for _ in range(layers)]
        x, target = (torch.randn(1, tokens, width, generator=generator) for _ in range(2))
        for layer in layer_matrices:
            x = _apply_layer(layer, x, norm_place)
        F.mse_loss(F.layer_norm(x, (width,)), target).backward()
        gradient_norms[norm_place] = [layer["w2"].grad.norm().item() for layer in layer_matrices]
    return gradient_norms


def last_gradients(depth: int, initial_std: float | None = None) -> dict[str, float]:
    """The gradient's norm at the last layer of networks with `depth` layers: the median over SEEDS networks."""
    runs = [gradients(depth, seed=seed, initial_std=initial_std) for seed in range(block.SEEDS)]
    return {norm_place: float(np.median([run[norm_place][-1] for run in runs])) for norm_place in ("pre", "post")}


def _new_layer(width: int, generator: torch.Generator, initial_std: float | None) -> dict[str, Tensor]:
    sizes = {"qkv": (width, 3 * width), "out": (width, width), "w1": (width, 4 * width), "w2": (4 * width, width)}
    return {
        name: (torch.randn(rows, columns, generator=generator) * (initial_std or rows**-0.5)).requires_grad_()
        for name, (rows, columns) in sizes.items()
    }


def _apply_layer(layer: dict[str, Tensor], x: Tensor, norm_place: str) -> Tensor:
    def attend(x: Tensor) -> Tensor:
        q, k, v = (x @ layer["qkv"]).chunk(3, dim=-1)
        return F.scaled_dot_product_attention(q, k, v) @ layer["out"]

    for branch in (attend, lambda x: F.gelu(x @ layer["w1"]) @ layer["w2"]):
        shape = (x.shape[-1],)
        x = x + branch(F.layer_norm(x, shape)) if norm_place == "pre" else F.layer_norm(x + branch(x), shape)
    return x


@pytest.mark.parametrize("depth", block.DEPTHS)
@pytest.mark.parametrize("initial_std", [None, block.SMALL_INITIAL_STD])
def test_the_plotted_gradients_are_those_of_new_networks(depth, initial_std):
    """With a ViT's small initial weights (`initial_std`), pre-norm and post-norm have nearly the same gradients."""
    index, stored_gradients = (
        block.DEPTHS.index(depth),
        block.LAST_GRADIENTS_SMALL if initial_std else block.LAST_GRADIENTS,
    )
    gradients = last_gradients(depth, initial_std)
    assert gradients == pytest.approx(
        {norm_place: stored_gradients[norm_place][index] for norm_place in ("pre", "post")}, rel=0.02
    )
    if initial_std:
        assert gradients["pre"] == pytest.approx(gradients["post"], rel=0.06)


def test_cross_entropy_and_look_up_equal_torch_s():
    logits, matrix = torch.randn(7), torch.randn(5, 3)
    assert block.cross_entropy(SMALL, logits, 4) == pytest.approx(
        F.cross_entropy(logits[None], torch.tensor([4])).item()
    )
    assert torch.equal(block.look_up(matrix, 2), matrix[2])


def test_the_gradient_of_cross_entropy_by_the_logits_is_p_less_y():
    logits = torch.randn(7, requires_grad=True)
    loss = F.cross_entropy(logits[None], torch.tensor([4]))
    (gradient,) = torch.autograd.grad(loss, logits)
    shares, by_hand = block.one_of_all(logits.detach(), 4)
    torch.testing.assert_close(by_hand, gradient)
    assert -shares[4].log().item() == pytest.approx(loss.item())


@pytest.mark.parametrize("config", KINDS)
def test_read_stream_equals_the_logit_lens_and_ends_with_the_model_s_answer(config, picture):
    trace = playground.trace(scramble(VisionTransformer(config)), picture)
    lens = block.read_stream(trace, 3)
    assert lens.patches.shape == (trace.layers + 1, *trace.grid)
    assert lens.pooled[-1] == pytest.approx(float(trace.logits.softmax(-1)[3]), abs=1e-5)
    for layer in range(trace.layers):
        torch.testing.assert_close(lens.patches[layer + 1], trace.on_grid(trace.answers(layer)[:, 3]))


# The next tests check that steps 5 and 6 of the lesson Block explain a correct answer, and that a multi-label model
# uses sigmoids, not a softmax.


@pytest.mark.parametrize("sample", samples.SAMPLES, ids=lambda sample: sample.name)
def test_the_labels_of_a_drawing_are_those_of_the_things_in_its_scene(sample):
    labels_held = presence(draw_sample(sample.name, 224))
    assert set(sample.labels) == {label for label, is_present in zip(LABELS, labels_held, strict=True) if is_present}


@pytest.mark.parametrize("model", block.BEST_SAMPLES)
def test_our_models_label_their_best_sample_correctly_though_not_after_every_layer(model):
    vit = playground.load(model)
    sample = samples.named(block.BEST_SAMPLES[model])
    trace = playground.trace(vit, sample.name)
    example = block.example_of(trace, sample.labels)
    assert example.wrong_count == 0
    shares = trace.logits.sigmoid()
    labels_said = {LABELS[number] for number, share in enumerate(shares.tolist()) if share > 0.5}
    assert labels_said == set(sample.labels), shares.tolist()
    layer_shares = block.layer_probabilities(trace)[:, example.label]
    assert layer_shares[-1] > 0.5 > layer_shares[:-1].min(), layer_shares.tolist()


def with_labels(trace, labels, **options):
    trace.vit.config = replace(trace.vit.config, labels=labels, **options)
    return trace


def test_a_model_with_a_softmax_is_right_if_its_likeliest_label_is_true(small_trace):
    likeliest = int(small_trace.logits.argmax())
    labels = tuple(f"thing {number}" for number in range(10))
    with_labels(small_trace, labels)
    example = block.example_of(small_trace, (labels[likeliest], labels[likeliest - 1]))
    assert (example.wrong_count, example.label) == (0, likeliest)
    assert block.example_of(small_trace, (labels[likeliest - 1],)).wrong_count == 1
    assert block.example_of(small_trace, ("nothing of it",)) is None


def test_the_losses_of_labels_equal_torch_s(small_trace):
    multi_label, single_label = replace(small_trace.vit.config, multi_label=True), small_trace.vit.config
    for label in range(10):
        assert block.cross_entropy(multi_label, small_trace.logits, label) == pytest.approx(
            -float(F.logsigmoid(small_trace.logits[label]))
        )
        by_hand = -float(small_trace.logits.log_softmax(-1)[label])
        assert block.cross_entropy(single_label, small_trace.logits, label) == pytest.approx(by_hand, abs=1e-5)
    targets = torch.zeros(10).index_fill(0, torch.tensor([2, 5]), 1)
    assert float(block.costs(small_trace.logits, [2, 5]).mean()) == pytest.approx(
        float(F.binary_cross_entropy_with_logits(small_trace.logits, targets))
    )


def test_the_stream_of_a_multi_label_model_is_read_by_a_sigmoid(picture):
    trace = playground.trace(scramble(VisionTransformer(replace(SMALL, multi_label=True))), picture)
    assert block.read_stream(trace, 3).pooled[-1] == pytest.approx(float(trace.logits[3].sigmoid()), abs=1e-5)


@pytest.mark.parametrize("multi_label", [True, False])
def test_the_question_on_the_loss_names_the_model_s_own_sigmoid_or_softmax(multi_label):
    question = block_answer.loss_question("plant", 0.0983, "textured", 0.88, multi_label)
    text = " ".join((question.asks, question.says, question.prose))
    assert ("softmax" in text, "sigmoid" in text) == (not multi_label, multi_label)
    assert "−log 0.098 = 2.32" in text


@pytest.mark.parametrize(
    ("percentages", "sentence"),
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
def test_the_sentence_on_one_half_is_true(percentages, sentence):
    assert block_answer.above_half(percentages).strip() == sentence


def test_two_passes_differ_with_dropout_and_without_it_have_the_model_s_logit(small_trace):
    first_logit, second_logit = block.two_passes(small_trace, True)
    assert first_logit != second_logit
    likeliest = float(small_trace.logits.max())
    assert block.two_passes(small_trace, False) == pytest.approx((likeliest, likeliest), rel=1e-4)
