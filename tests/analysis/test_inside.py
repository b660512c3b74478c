"""One token's way through one head, against the model's own numbers."""

import pytest
import torch
from conftest import SMALL

from playground.analysis.inside import inside, query_bias
from playground.tracing import trace
from playground.vit import Config, VisionTransformer


@pytest.mark.parametrize("layer", [0, 2])
def test_the_way_through_a_head_ends_where_the_pass_does(small, picture, layer):
    seen, query, head = trace(small, picture), (1, 2), 1
    found = inside(seen, layer, head, query)
    q, _, v = seen.record[layer]
    token = seen.token(query)
    made = float(found["reads"] @ found["normed"]) + query_bias(seen, layer, head, query)
    assert made == pytest.approx(float(max(q[head, token], key=abs)), abs=1e-5)
    torch.testing.assert_close(found["values"], v[head])
    torch.testing.assert_close(found["leaving"], seen.features(layer)[token])
    torch.testing.assert_close(found["after"], seen.similarity(query, layer))
    if layer:
        torch.testing.assert_close(found["before"], seen.similarity(query, layer - 1))
        torch.testing.assert_close(found["entering"], seen.features(layer - 1)[token])
    bias = small.blocks[layer].attn.proj.bias
    by_all = sum(inside(seen, layer, h, query)["head"] for h in range(seen.heads)) + bias.detach()
    torch.testing.assert_close(found["attention"], by_all)
    mixture = seen.row(layer, head, query) @ found["values"]  # scene by scene: shares, values, W_O
    d = len(mixture)
    w_o = small.blocks[layer].attn.proj.weight[:, head * d : (head + 1) * d].detach()
    torch.testing.assert_close(found["head"], w_o @ mixture)


@pytest.mark.parametrize("kind", [{"positions": "rotary"}, {"qk_norm": True}])
def test_queries_that_a_rotation_or_a_norm_changes_are_not_called_a_product(picture, kind):
    vit = VisionTransformer(Config(**{**SMALL.__dict__, **kind}))
    assert query_bias(trace(vit, picture), 0, 0, (1, 1)) is None
