"""The choices in lessons by which a reader tries an idea: each changes what is shown, and what is shown is right."""

import json
import math
from base64 import b64encode

import numpy as np
import pytest
import torch
from torch import nn
from twins import in_javascript

from lessons.playing import flat_parts, meadow, parts_of, stand_in_for_file
from playground.analysis import block, two_ways
from playground.assets import APPETITE
from playground.lessons import experiments, listing
from playground.lessons.parts import Chart, Choice, Picture, Table, Words, plain_parts
from playground.lessons.registry import LESSONS

pytestmark = pytest.mark.usefixtures("nothing_fetched")
TRIED_SETTINGS = [  # (the idea, its lesson, its step, the setting that is changed)
    ("LayerNorm", "block", "norms", "times"),
    ("one-hot", "block", "answer", "supposed"),
    ("the pre-training head", "block", "answer", "top"),
    ("q and k equally wide", "shapes", "walk", "k_wide"),
    ("v of another width", "shapes", "walk", "v_wide"),
    ("cross-attention", "shapes", "walk", "second"),
    ("qkv_bias", "shapes", "walk", "biased"),
    ("heads of full width", "shapes", "walk", "wide"),
    ("128 px as (64, 32): the picture", "shapes", "walk", "side"),
    ("128 px as (64, 32): the patch", "shapes", "walk", "cut"),
    ("Parameter and Sequential", "code", "file", "module"),
    ("Julia", "code", "twice", "line"),
    ("Mamba", "two_ways", "cheaper", "keeps"),
    ("inductive bias and content dependence", "two_ways", "built", "reads"),
]


@pytest.mark.parametrize(("idea", "name", "step", "setting"), TRIED_SETTINGS, ids=[one[0] for one in TRIED_SETTINGS])
def test_each_option_of_a_choice_shows_other_parts(idea, name, step, setting):
    choice = next(
        part for part in flat_parts(parts_of(name, step)) if isinstance(part, Choice) and part.setting == setting
    )
    values = [*choice.options][:3]
    assert len(values) > 1
    records = [plain_parts(parts_of(name, step, **{setting: value}), stand_in_for_file) for value in values]
    assert all(part != earlier_part for n, part in enumerate(records) for earlier_part in records[:n]), idea
    assert LESSONS[name].choices[setting].played, "the folder has it too"


def parts_of_kind(name, step, kind, **state):
    return [part for part in flat_parts(parts_of(name, step, **state)) if isinstance(part, kind)]


def test_layer_norm_is_torch_s_and_does_not_notice_how_long_a_token_is():
    trace = meadow().trace()
    (token, normed_token), (scaled_token, normed_scaled) = (block.normed(trace, 30, times) for times in (1, 10))
    torch.testing.assert_close(scaled_token, 10 * token)
    by_hand = (token - token.mean()) / (((token - token.mean()) ** 2).mean() + trace.vit.blocks[0].norm1.eps).sqrt()
    torch.testing.assert_close(normed_token, by_hand, atol=1e-5, rtol=0)
    torch.testing.assert_close(normed_token, normed_scaled, atol=1e-2, rtol=0)
    (chart,) = parts_of_kind("block", "norms", Chart, times=10)
    assert len(chart.figure.data) == 2


def test_one_hot_times_the_matrix_is_the_row_that_is_drawn():
    *_, chart = parts_of_kind("block", "answer", Chart, supposed="3")
    one_hot, row = (np.array(trace.y, float) for trace in chart.figure.data)
    assert one_hot.nonzero()[0].tolist() == [3]
    np.testing.assert_allclose(row, meadow().vit.head.weight[3].detach().numpy(), atol=1e-6)


@pytest.mark.parametrize(("q", "k", "v"), [(4, 4, 2), (6, 6, 4), (4, 6, 4)])
def test_torch_attends_with_values_of_any_width_and_refuses_unequal_queries_and_keys(q, k, v):
    shapes, refusal = experiments.shapes_of_widths(q, k, v)
    tensors = [torch.ones(1, 3, width) for width in (q, k, v)]
    if q != k:
        assert "cannot be multiplied" in refusal
        with pytest.raises(RuntimeError):
            nn.functional.scaled_dot_product_attention(*tensors)
        return
    assert dict(shapes)["softmax(…) V"] == nn.functional.scaled_dot_product_attention(*tensors).shape[1:]
    assert dict(shapes)["softmax(…) V W_O"] == (3, 8)


def test_a_second_picture_s_queries_meet_this_one_s_keys_and_a_picture_that_asks_itself_attends_to_itself():
    asked, asking = meadow().trace(), meadow().with_other(sample="twins").trace()
    given = {name: b64encode(trace.to_bytes()).decode() for name, trace in (("asking", asking), ("asked", asked))}
    ask = """
const bytes = (text) => Uint8Array.from(Buffer.from(text, "base64"));
const [asking, asked] = [given.asking, given.asked].map((text) => core.unpack(bytes(text)));
return [core.crossRow(asking, asked, 4, 2, 31), core.crossRow(asked, asked, 4, 2, 31), core.rowOf(asked, 4, 2, 31)]
  .map((row) => [...row]);"""
    crossed, own, row = in_javascript(["core"], ask, given)
    q, k = asking.record[4].q[2, 31].float(), asked.record[4].k[2].float()
    np.testing.assert_allclose(crossed, (k @ q * asked.vit.config.scale).softmax(0).numpy(), atol=2e-3)
    np.testing.assert_allclose(own, row, rtol=1e-5)


def test_the_pre_training_head_has_a_hidden_layer_and_the_other_has_not():
    fine_tuning, pretraining = (dict(experiments.readout_shapes(head_name, 384, 1000)) for head_name in ("fine", "pre"))
    assert fine_tuning["logits"] == pretraining["logits"] == (1, 1000)
    assert pretraining["W of the hidden layer"] == (384, 384)
    hidden, matrix = block.pretraining_head(384, 1000)
    count = lambda shapes: sum(math.prod(shape) + shape[1] for what, shape in shapes.items() if what.startswith("W"))  # noqa: E731
    assert (count(pretraining), count(fine_tuning)) == (hidden, matrix)


def test_a_bias_of_queries_changes_weights_one_of_values_mixtures_and_one_of_keys_nothing():
    weights, mixtures = experiments.biased_attention("none")
    changes = {
        bias_name: [
            not torch.allclose(changed_tensor, plain_tensor, atol=1e-5)
            for changed_tensor, plain_tensor in zip(results, (weights, mixtures), strict=True)
        ]
        for bias_name, results in (
            (bias_name, experiments.biased_attention(bias_name)) for bias_name in ("query", "key", "value")
        )
    }
    assert changes == {"query": [True, True], "key": [False, False], "value": [False, True]}


@pytest.mark.parametrize("heads", [1, 5, 8])
def test_each_head_of_full_width_adds_parameters_and_heads_that_share_the_width_add_none(heads):
    full_count, shared_count = experiments.parameters_of_heads(heads)
    layers = [nn.Linear(3, 9, bias=False) for _ in range(heads)] + [nn.Linear(3 * heads, 3, bias=False)]
    assert full_count == sum(p.numel() for layer in layers for p in layer.parameters())
    assert shared_count == sum(p.numel() for p in nn.MultiheadAttention(3, 1, bias=False).parameters())
    assert dict(experiments.full_head_shapes(heads=heads))["W_msa"] == (3, 3 * heads)


@pytest.mark.parametrize(("side", "cut"), [(128, 16), (64, 32), (224, 8)])
def test_the_table_of_a_picture_has_a_row_for_each_patch(side, cut):
    *_, (_, tokens) = experiments.patch_shapes(side, cut)
    assert tokens == ((side // cut) ** 2, 32)
    text = " ".join(part.text for part in parts_of_kind("shapes", "walk", Words, side=side, cut=cut))
    assert f"(**{tokens[0]}, 32**)" in text


def test_a_parameter_is_found_kept_and_trained_and_a_tensor_is_not():
    assert listing.try_module("parameter") == listing.ModuleTrial(["gamma"], ["gamma"], ["gamma"], "2 × 3 numbers")
    tensor_trial = listing.try_module("tensor")
    assert (tensor_trial.parameter_names, tensor_trial.state_names, tensor_trial.changed_names) == ([], [], [])


def test_sequential_calls_what_it_holds_and_a_module_list_does_not():
    module, x = listing.MODULE_MAKERS["sequential"](), torch.ones(2, 3)
    torch.testing.assert_close(module(x), module[1](module[0](x)))
    assert "module[1](module[0](x))" in listing.try_module("sequential").call_words
    assert "no `forward`" in listing.try_module("list").call_words
    with pytest.raises(NotImplementedError):
        listing.MODULE_MAKERS["list"]()(x)


def test_the_line_beside_julia_gives_these_numbers():
    q, k, v = np.random.default_rng(0).normal(size=(3, 3, 2)).round(1)
    scores = np.array(
        [[sum(a * b for a, b in zip(query, key_vector, strict=True)) / 2**0.5 for key_vector in k] for query in q]
    )
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    expected = {"scores": scores, "weights": weights, "mixture": weights @ v}
    for step, numbers in expected.items():
        python, julia, computed = experiments.line_by_line(step)
        np.testing.assert_allclose(computed.numpy(), numbers, atol=1e-12)
        assert python.split()[0] == julia.split()[0]  # both assign to the same name, or both return


def test_a_state_forgets_by_powers_and_one_that_chooses_keeps():
    np.testing.assert_allclose(
        two_ways.parts_of_first_token("0.9"), 0.9 ** np.arange(two_ways.SEQUENCE_LENGTH), rtol=1e-5
    )
    chosen_shares = two_ways.parts_of_first_token("chosen")
    assert set(chosen_shares[: two_ways.SECOND_INDEX]) == {1.0}
    assert set(chosen_shares[two_ways.SECOND_INDEX :]) == {0.5}


def test_the_appetite_that_is_drawn_is_what_was_measured():
    measured = json.loads(APPETITE.read_text())
    (chart,) = parts_of_kind("two_ways", "built", Chart)
    drawn = {trace.name: trace.y for trace in chart.figure.data}
    for net, name in (("vit", "ViT"), ("convolution", "convolutions")):
        means = [100 * sum(runs) / len(runs) for runs in measured["nets"][net]["tested"]]
        np.testing.assert_allclose(drawn[name], means)
    learned = {net: [sum(runs) / len(runs) for runs in of["learned"]] for net, of in measured["nets"].items()}
    assert measured["counts"] == [100, 1000, 10000]
    assert learned["vit"][0] == learned["convolution"][0] == 1, "by heart"
    assert drawn["convolutions"][0] > drawn["ViT"][0], "convolutions know more of new ones"
    assert learned["vit"][-1] < 0.6 < learned["convolution"][-1], "lacks training, not drawings"


def test_the_kernel_stays_and_attention_s_shares_follow_the_picture():
    (kernel_here, attention_here), (kernel_other, attention_other) = (
        [part.data for part in parts_of_kind("two_ways", "built", Picture, reads=reads)] for reads in ("here", "other")
    )
    assert attention_here != attention_other
    assert kernel_here != kernel_other  # the photographs differ
    tables = [parts_of_kind("two_ways", "built", Table, reads=reads) for reads in ("here", "other")]
    assert tables[0] == tables[1]
