import pytest
import torch
from conftest import scramble

from playground.errors import PlaygroundError
from playground.lessons.walk import TeachingAttention
from playground.vit import PAPER, Config, VisionTransformer, attention, attention_by_hand
from playground.vit_parts import sinusoidal


@pytest.mark.parametrize("scale", [0.0, 0.125, 1.0])
def test_the_fused_attention_is_the_handwritten_one(scale):
    q, k, v = torch.randn(3, 2, 5, 77, 64)
    torch.testing.assert_close(attention(q, k, v, scale), attention_by_hand(q, k, v, scale), atol=1e-5, rtol=0)


def test_the_handwritten_attention_of_two_tokens_is_what_paper_and_pencil_say():
    q = torch.tensor([[1.0, 0.0]])
    k = torch.tensor([[torch.log(torch.tensor(3.0)), 0.0], [0.0, 9.0]])
    v = torch.tensor([[4.0, 0.0], [0.0, 8.0]])
    torch.testing.assert_close(attention_by_hand(q, k, v, 1.0), torch.tensor([[3.0, 2.0]]))  # weights 3/4 and 1/4


@pytest.mark.parametrize(("size", "millions"), [("Ti", 5.7), ("S", 22.1), ("B", 86.6), ("L", 304.3), ("H", 632.0)])
def test_the_paper_s_models_have_the_paper_s_sizes(size, millions):
    with torch.device("meta"):
        vit = VisionTransformer(Config(**PAPER[size], patch_size=14 if size == "H" else 16))
    assert sum(p.numel() for p in vit.parameters()) / 1e6 == pytest.approx(millions, abs=0.2)


def test_the_logits_with_and_without_the_record_are_the_same(small):
    image = torch.randn(1, 3, 64, 64)
    logits, record = small.record(image)
    assert torch.equal(logits, small(image))
    assert [tuple(layer.q.shape) for layer in record] == [(1, 4, 67, 12)] * 3


def test_the_sinusoidal_table_begins_as_the_textbook_s():
    table = sinusoidal(50, 8)
    assert table[0].tolist() == [0, 1, 0, 1, 0, 1, 0, 1]
    assert table[3, 0] == pytest.approx(0.141120, abs=1e-5)  # sin 3
    assert table[7, 3] == pytest.approx(0.764842, abs=1e-5)  # cos(7 / 10000^(2/8)) = cos 0.7


def test_a_width_that_heads_can_t_share_is_explained():
    with pytest.raises(PlaygroundError, match="100 can't be shared out evenly among 3 heads"):
        Config(width=100, heads=3)


@pytest.mark.parametrize(("dim", "chan", "heads", "scale"), [(49, 64, 1, None), (49, 64, 4, None), (64, 24, 4, 0.5)])
def test_the_teaching_layer_is_its_formula_head_by_head(dim, chan, heads, scale):
    layer = scramble(TeachingAttention(dim, chan, heads, qkv_bias=True, qk_scale=scale))
    x = torch.randn(13, 100, dim)
    q, k, v = (x @ layer.qkv.weight.T + layer.qkv.bias).split(chan, dim=-1)  # (13, 100, chan) each
    d = chan // heads
    head_outputs = []
    for h in range(heads):
        part = slice(h * d, (h + 1) * d)
        weights = torch.softmax(q[..., part] @ k[..., part].mT * (scale or d**-0.5), dim=-1)
        head_outputs.append(weights @ v[..., part])
    expected = v + torch.cat(head_outputs, dim=-1) @ layer.proj.weight.T + layer.proj.bias
    assert expected.shape == (13, 100, chan)
    torch.testing.assert_close(layer(x), expected, atol=1e-4, rtol=1e-4)
