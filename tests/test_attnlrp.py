"""AttnLRP equals the paper's rules, written here as relevance that is handed down through explicit N × N weights."""

import copy
from dataclasses import replace

import pytest
import torch
from conftest import SMALL, scramble

import playground
from playground.vit import VisionTransformer


class HandedDown:
    """Hands relevance down through one operation after the other, and adds up what biases and softmax keep."""

    def __init__(self):
        self.kept = 0.0

    def linear(self, given, x, weight, bias):
        z = x @ weight.T + bias
        self.kept += float((given * bias / z).sum())
        return x * ((given / z) @ weight)

    def norm(self, given, x, norm):
        centred = x - x.mean(-1, keepdim=True)
        deviation = (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt()
        summand = centred / deviation * norm.weight.double()
        self.kept += float((given * norm.bias.double() / (summand + norm.bias.double())).sum())
        ratio = given * summand / (summand + norm.bias.double()) / centred  # R / c of each centred number
        return x * (ratio - ratio.mean(-1, keepdim=True))

    def attention(self, given, x, attn):
        """given: (N, D), of what the heads write side by side; x: what enters the queries' matrix"""
        weight, bias = attn.qkv.weight.double(), attn.qkv.bias.double()
        q, k, v = (x @ weight.T + bias).unflatten(1, (3, attn.heads, -1)).permute(1, 2, 0, 3)  # (h, N, d)
        scores = q @ k.mT * attn.scale
        weights = scores.softmax(-1)
        ratio = given.unflatten(1, (attn.heads, -1)).transpose(0, 1) / (weights @ v) / 2
        to_values = v * (weights.mT @ ratio)
        to_weights = weights * (ratio @ v.mT)
        to_scores = scores * (to_weights - weights * to_weights.sum(-1, keepdim=True))
        self.kept += float(to_weights.sum() - to_scores.sum())
        ratio = to_scores / scores / 2 * attn.scale
        to_queries, to_keys = q * (ratio @ k), k * (ratio.mT @ q)
        parts = torch.stack([to_queries, to_keys, to_values]).permute(2, 0, 1, 3).flatten(1)  # (N, 3 D)
        return self.linear(parts, x, weight, bias)


def handed_down(vit, x, label):
    """(relevance of each token that enters, (N,); the score; what was kept on the way)"""
    rules, layers = HandedDown(), []
    for block in vit.blocks:
        heads_input = block.norm1(x)
        mixture = torch.cat(list(block.attn.mix(*block_qkv(block, heads_input), block.attn.scale)), -1)
        attention = mixture @ block.attn.proj.weight.T + block.attn.proj.bias
        stream = x + attention
        mlp_input = block.norm2(stream)
        before = mlp_input @ block.mlp.fc1.weight.T + block.mlp.fc1.bias
        mlp = block.mlp.act(before) @ block.mlp.fc2.weight.T + block.mlp.fc2.bias
        layers.append((block, x, heads_input, mixture, attention, stream, mlp_input, block.mlp.act(before), mlp))
        x = stream + mlp
    normed = vit.norm(x)
    weight, bias = vit.head.weight[label], vit.head.bias[label]
    score = float(normed[0] @ weight + bias)
    rules.kept += float(bias)
    given = torch.zeros_like(x)
    given[0] = normed[0] * weight
    given = rules.norm(given, x, vit.norm)
    for block, x, heads_input, mixture, attention, stream, mlp_input, after, mlp in reversed(layers):
        to_mlp, to_stream = given * mlp / (stream + mlp), given * stream / (stream + mlp)
        to_hidden = rules.linear(to_mlp, after, block.mlp.fc2.weight, block.mlp.fc2.bias)  # and on through GELU
        to_norm = rules.linear(to_hidden, mlp_input, block.mlp.fc1.weight, block.mlp.fc1.bias)
        to_stream = to_stream + rules.norm(to_norm, stream, block.norm2)
        to_attention, given = to_stream * attention / stream, to_stream * x / stream
        to_heads = rules.linear(to_attention, mixture, block.attn.proj.weight, block.attn.proj.bias)
        given = given + rules.norm(rules.attention(to_heads, heads_input, block.attn), x, block.norm1)
    return given.sum(-1), score, rules.kept


def block_qkv(block, x):
    q, k, v = block.attn.qkv(x).unflatten(1, (3, block.attn.heads, -1)).permute(1, 2, 0, 3)
    return q, k, v


@torch.no_grad()
def test_relevance_is_what_the_paper_s_rules_hand_down_and_none_is_lost(small, small_trace):
    entering = small_trace.entering()[1][0].double()
    expected, score, kept = handed_down(copy.deepcopy(small).double(), entering, 7)
    assert float(expected.sum()) + kept == pytest.approx(score, rel=1e-6)
    found = small_trace.relevance(label=7, method="attnlrp")
    torch.testing.assert_close(found, (expected / expected.abs().sum()).float(), atol=2e-5, rtol=1e-3)
    assert (found < 0).any(), "it has a sign"


KINDS = [
    {"qk_norm": True}, {"positions": "rotary"}, {"gated_mlp": True, "activation": "silu"}, {"layer_scale": True},
    {"dist_token": True}, {"pool": "map", "cls_token": False}, {"pool": "avg", "norm_place": "pooled"},
]  # fmt: skip


class Halved(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        return gradient / 2


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_in_every_kind_of_model_it_is_the_gradient_of_a_pass_with_the_rules(picture, changes, monkeypatch):
    """The rules are put into torch's own functions here: each product of two computed tensors halves its gradient,
    each norm's deviation and each activation's factor is a constant."""
    vit = scramble(VisionTransformer(replace(SMALL, **changes)))
    trace = playground.trace(vit, picture, cut="2,3>4,4@1", scale=0.3)
    found = trace.relevance(label=4, method="attnlrp")
    functional, halved = torch.nn.functional, Halved.apply

    def attention(q, k, v, attn_mask=None, scale=None):
        scores = halved(q @ k.mT) * scale
        if attn_mask is not None:
            scores = scores.masked_fill(~attn_mask, -torch.inf)
        return halved(scores.softmax(-1) @ v)

    def layer_norm(x, shape, weight, bias, eps):
        deviation = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt().detach()
        return (x - x.mean(-1, keepdim=True)) / deviation * weight + bias

    real = {name: getattr(functional, name) for name in ("gelu", "silu")}
    monkeypatch.setattr(functional, "layer_norm", layer_norm)
    monkeypatch.setattr(functional, "scaled_dot_product_attention", attention)
    for name, activation in real.items():
        ruled = lambda x, activation=activation, **_: x * (activation(x) / x).detach()  # noqa: E731
        monkeypatch.setattr(functional, name, ruled)
    if changes.get("gated_mlp"):
        real_hidden = type(vit.blocks[0].mlp).hidden
        monkeypatch.setattr(type(vit.blocks[0].mlp), "hidden", lambda mlp, x: halved(real_hidden(mlp, x)))
    if changes.get("pool") == "map":  # the query is a parameter: only the product of weights and values has two factors
        monkeypatch.setattr(functional, "scaled_dot_product_attention", lambda q, k, v, scale=None, attn_mask=None: (
            halved((q @ k.mT * scale).softmax(-1) @ v) if q.shape[2] == 1 else attention(q, k, v, attn_mask, scale)
        ))  # fmt: skip
    _, x, rotation = trace.entering()
    x = x.detach().requires_grad_()
    for last, _ in vit.layers(x, rotation, 0.3, at=trace.intervening()):  # noqa: B007
        pass
    vit.classify(last)[0, 4].backward()
    expected = (x.grad * x).sum(-1)[0].detach()
    torch.testing.assert_close(found, expected / expected.abs().sum(), atol=1e-5, rtol=1e-3)
