"""Direct logit attribution: the parts equal products by hand and sum to the label's logit."""

from dataclasses import replace

import pytest
import torch
from conftest import SMALL, scramble

import playground
from playground.analysis.ablation import contributions
from playground.errors import PlaygroundError
from playground.vit import VisionTransformer

LABEL = 4


@torch.no_grad()
def test_a_head_s_part_is_what_it_writes_into_the_class_token_on_the_label_s_direction(small, small_trace):
    parts = small_trace.direct(LABEL)
    last = small_trace.features()[0]
    deviation = (last.var(unbiased=False) + small.norm.eps).sqrt()
    weights = small.norm.weight * small.head.weight[LABEL] / deviation

    def part(written):
        return float((written - written.mean()) @ weights)

    for layer in range(small_trace.layers):
        for head, written in enumerate(contributions(small_trace, layer)[:, 0]):
            assert float(parts.heads[layer, head]) == pytest.approx(part(written), abs=1e-4)
    biases = sum(block.attn.proj.bias for block in small.blocks)
    constant = float(small.norm.bias @ small.head.weight[LABEL] + small.head.bias[LABEL])
    assert parts.rest == pytest.approx(part(small_trace.entering()[1][0, 0] + biases) + constant, abs=1e-3)
    assert parts.score == pytest.approx(float(small_trace.logits[LABEL]), abs=1e-4)


@pytest.mark.parametrize(
    "changes",
    [
        {"layer_scale": True}, {"dist_token": True}, {"pool": "avg", "norm_place": "pooled"}, {"pool": "token+avg"},
    ],
    ids=str,
)  # fmt: skip
@torch.no_grad()
def test_in_every_kind_of_model_the_rest_is_what_no_head_and_no_mlp_wrote(picture, changes):
    """A pass without any head's and MLP's part in the last tokens, under the deviation of the real pass."""
    vit = scramble(VisionTransformer(replace(SMALL, **changes)))
    trace = playground.trace(vit, picture)
    parts = trace.direct(LABEL)
    x = trace.entering()[1] + sum(block.ls1(block.attn.proj.bias) for block in vit.blocks)
    norms = [module for module in (vit.norm, vit.fc_norm) if isinstance(module, torch.nn.LayerNorm)]
    deviations = []
    hooks = [norm.register_forward_hook(lambda _, given, __: deviations.append(given[0])) for norm in norms]
    vit.classify(trace.features()[None])
    for hook in hooks:
        hook.remove()
    deviation = (deviations[0].var(-1, keepdim=True, unbiased=False) + SMALL.eps).sqrt()

    def constant_norm(x, shape, weight, bias, eps):
        return (x - x.mean(-1, keepdim=True)) / deviation * weight + bias

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.nn.functional, "layer_norm", constant_norm)
        rest = float(vit.classify(x)[0, LABEL])
    assert parts.rest == pytest.approx(rest, abs=1e-3)
    assert parts.score == pytest.approx(float(trace.logits[LABEL]), abs=1e-3)


def test_a_model_that_pools_by_attention_is_refused_in_a_sentence(picture):
    vit = scramble(VisionTransformer(replace(SMALL, pool="map", cls_token=False)))
    with pytest.raises(PlaygroundError, match="nothing reaches a label on a straight way"):
        playground.trace(vit, picture).direct(LABEL)
