"""Relevance equals the papers' formulas with explicit N × N gradients, and finds the answer in planted cases."""

import math
from dataclasses import replace

import pytest
import torch
from conftest import SMALL, scramble

import playground
from playground import relevance
from playground.errors import PlaygroundError
from playground.vit import VisionTransformer


def explicit_pass(vit, x, read_answer):
    """A pass that keeps gradients: (the answer; each layer's weights, (heads, tokens, tokens))."""
    weights_of_layers = []
    for block in vit.blocks:
        h = block.attn.heads
        q, k, v = block.attn.qkv(block.norm1(x))[0].unflatten(-1, (3, h, -1)).permute(1, 2, 0, 3)
        weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)
        weights.retain_grad()
        weights_of_layers.append(weights)
        x = x + block.ls1(block.attn.proj((weights @ v).transpose(0, 1).flatten(1)[None]))
        x = x + block.ls2(block.mlp(block.norm2(x)))
    return read_answer(x), weights_of_layers


def explained_numbers(small, trace):
    """Kind -> (arguments of relevance(), the number that it explains, the token from which that number is read)."""
    with torch.no_grad():
        last_features = small.norm(trace.features()[None])[0]
    t = trace.token((2, 5))
    direction = last_features[t] - last_features[3:].mean(0)
    return {
        "label": ({"label": 7}, lambda x: small.classify(x)[0, 7], 0),
        "query": ({"query": (2, 5)}, lambda x: small.norm(x)[0, t] @ (direction / direction.norm()), t),
    }


@pytest.mark.parametrize("kind", ["label", "query"])
def test_gradient_times_attention_is_chefer_s_product_of_explicit_matrices(small, small_trace, kind):
    arguments, number, token = explained_numbers(small, small_trace)[kind]
    _, x, _ = small_trace.entering()
    y, weights_of_layers = explicit_pass(small, x.detach(), number)
    y.backward()
    product = torch.eye(small_trace.tokens)
    for weights in weights_of_layers:  # Chefer et al.: R ← R + Ā R, from the first layer to the last
        product = product + (weights.grad * weights).clamp(min=0).mean(0).detach() @ product
    expected = (product - torch.eye(small_trace.tokens))[token]
    relevance = small_trace.relevance(**arguments, method="chefer")
    torch.testing.assert_close(relevance, expected / expected.sum(), atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("method", ["chefer", "legrad"])
def test_where_one_patch_alone_says_something_it_has_all_the_relevance(small, picture, method):
    trace = playground.trace(small, picture)
    planted_token = trace.token((6, 1))

    class OnePatchSpeaks(torch.nn.Module):
        def __init__(self, qkv):
            super().__init__()
            self.qkv = qkv

        def forward(self, x):
            mask = torch.ones(x.shape[1], 3 * x.shape[2])
            mask[:, 2 * x.shape[2] :] = (torch.arange(x.shape[1]) == planted_token)[:, None]
            return self.qkv(x) * mask

    for block in small.blocks:
        block.attn.qkv = OnePatchSpeaks(block.attn.qkv)
    relevance = playground.trace(small, picture).relevance(label=3, method=method)
    assert relevance.argmax().item() == planted_token
    assert relevance[planted_token].item() == pytest.approx(1, abs=1e-5)


def test_models_that_read_all_patches_are_explained_from_all_of_them(picture):
    vit = scramble(VisionTransformer(replace(SMALL, pool="avg", cls_token=False, norm_place="pooled")))
    answer = relevance.label_score(vit, 0, 66)
    assert answer.read_from.tolist() == [0] * 2 + [1 / 64] * 64
    assert playground.trace(vit, picture).relevance(label=0).abs().sum().item() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "give one of the two"), ({"query": (0, 0), "label": 1}, "give one of the two"),
        ({"label": 10}, "no label 10"), ({"label": "cat"}, "no label 'cat'"), ({"label": True}, "no label True"),
        ({"query": (9, 9)}, "no patch (9, 9)"), ({"label": 1, "method": "magic"}, "no method 'magic'"),
        ({"label": 1, "method": "chefer", "signed": True}, "chefer knows only what speaks for an answer"),
    ],
)  # fmt: skip
def test_an_impossible_question_gets_a_sentence(small_trace, arguments, sentence):
    with pytest.raises(PlaygroundError) as refusal:
        small_trace.relevance(**arguments)
    assert sentence in str(refusal.value)


def test_no_matrix_of_tokens_by_tokens_is_held(small, picture, monkeypatch):
    """Relevance is computed in blocks of rows, and blocks of a single row give the same numbers."""
    trace = playground.trace(small, picture)
    expected = trace.relevance(label=7)
    monkeypatch.setattr(relevance, "MOST_WEIGHTS", 4 * trace.tokens)
    real_chunks, block_sizes = relevance._chunks, []
    monkeypatch.setattr(
        relevance, "_chunks", lambda qkv: (block_sizes.append(r.stop - r.start) or r for r in real_chunks(qkv))
    )
    torch.testing.assert_close(trace.relevance(label=7), expected, atol=1e-6, rtol=1e-4)
    assert set(block_sizes) == {1}


@pytest.mark.slow
@pytest.mark.parametrize("method", relevance.METHODS)
def test_layers_that_are_computed_again_and_blocks_of_rows_change_nothing(small_trace, monkeypatch, method):
    expected = small_trace.relevance(label=7, method=method)
    for kept_bytes, block in ((0, 2**20), (2**27, 10_000), (0, 10_000)):
        monkeypatch.setattr(relevance, "MOST_KEPT_BYTES", kept_bytes)
        monkeypatch.setattr(relevance, "MOST_WEIGHTS", block)
        values = small_trace.relevance(label=7, method=method)
        torch.testing.assert_close(values, expected, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize(
    "changes",
    [
        {"qk_norm": True}, {"positions": "rotary"}, {"gated_mlp": True, "activation": "silu"}, {"layer_scale": True},
        {"dist_token": True}, {"pool": "map", "cls_token": False}, {"pre_norm": True, "activation": "quick_gelu"},
    ],
    ids=str,
)  # fmt: skip
def test_the_gradient_equals_autograd_s_in_every_kind_of_model(picture, changes):
    vit = scramble(VisionTransformer(replace(SMALL, **changes)))
    trace = playground.trace(vit, picture, cut="2,3>4,4@1", scale=0.3)
    _, x, rotation = trace.entering()
    x = x.detach().requires_grad_()
    for last_features, _ in vit.layers(x, rotation, 0.3, at=trace.intervening()):  # noqa: B007
        pass
    vit.classify(last_features)[0, 4].backward()
    expected = (x.grad * x).sum(-1)[0].detach()
    relevance = trace.relevance(label=4, method="gradient")
    torch.testing.assert_close(relevance, expected / expected.abs().sum(), atol=1e-6, rtol=1e-4)
    assert torch.equal(trace.relevance((1, 1)), trace.relevance((1, 1), signed=True).abs()), "a patch's has no sign"


def test_relevance_that_needs_more_memory_than_is_free_is_refused_in_a_sentence(small_trace, tmp_path, monkeypatch):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 99 kB\nMemAvailable: 7000 kB\n")
    monkeypatch.setattr(relevance, "MEMORY_FILE", meminfo)
    with pytest.raises(PlaygroundError, match=r"over 67 tokens takes 0\.0 GB, and 0\.0 GB are free: choose fewer"):
        small_trace.relevance((1, 1))
    meminfo.write_text("MemAvailable: 9000000 kB\n")
    assert small_trace.relevance((1, 1)).sum() > 0
    monkeypatch.setattr(relevance, "MEMORY_FILE", tmp_path / "nowhere")
    assert small_trace.relevance((1, 1)).sum() > 0


def test_the_logit_lens_reads_each_token_as_the_model_reads_its_class_token(small, small_trace):
    with torch.no_grad():
        x = small.norm(small_trace.features(1)[None])
        expected = (x @ small.head.weight.T + small.head.bias)[0].softmax(-1)
    torch.testing.assert_close(small_trace.answers(1), expected, atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(small_trace.answers()[0], small_trace.logits.softmax(-1), atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize(
    "changes",
    [{"pool": "avg", "cls_token": False, "norm_place": "pooled"}, {"pool": "map", "cls_token": False}],
    ids=str,
)
def test_the_logit_lens_reads_each_patch_of_a_model_that_pools_all_patches(picture, changes):
    vit = scramble(VisionTransformer(replace(SMALL, registers=0, **changes)))
    trace = playground.trace(vit, picture)
    answers = trace.answers(2)
    assert answers.shape == (64, 10)
    with torch.no_grad():
        patch_answers = vit.classify(trace.features(2)[None, 5:6])[0].softmax(-1)
    torch.testing.assert_close(answers[5], patch_answers, atol=1e-6, rtol=1e-4)


def test_a_model_without_labels_says_so(picture):
    trace = playground.trace(scramble(VisionTransformer(replace(SMALL, classes=0))), picture)
    with pytest.raises(PlaygroundError, match="has no labels"):
        trace.answers(1)
