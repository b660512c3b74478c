"""The cost of attention: FLOPs against torch's counter, memory against what torch holds."""

import weakref

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from playground.analysis import cost
from playground.analysis.cost import PRESETS, Case
from playground.errors import PlaygroundError
from playground.vit import PAPER, Attention, Config, VisionTransformer, attention_by_hand


@pytest.mark.parametrize("name", PRESETS)
def test_flops_are_what_torch_counts(name):
    case = PRESETS[name]
    with torch.device("meta"):
        attention = Attention(Config(width=case.width, heads=case.heads))
        attention.mix = attention_by_hand
        convolution = nn.Conv2d(case.width, case.width, case.kernel, padding=case.kernel // 2)
        tokens = torch.empty(1, case.tokens, case.width)
        image = torch.empty(1, case.width, case.side, case.side)
    assert case.attention_flops == case.layers * counted_flops(lambda: attention(tokens, None, None))
    assert case.convolution_flops == case.layers * counted_flops(lambda: convolution(image))


def counted_flops(operation) -> int:
    with FlopCounterMode(display=False) as counter:
        operation()
    return counter.get_total_flops()


def test_an_mlp_costs_what_torch_counts():
    width, tokens = 96, 49
    with torch.device("meta"):
        mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        x = torch.empty(tokens, width)
    assert cost.mlp_flops(tokens, width) == counted_flops(lambda: mlp(x))


@pytest.mark.parametrize("name", cost.SIZES)
def test_the_parameters_are_those_of_the_model(name):
    size, patch = name.split("/")
    with torch.device("meta"):
        vit = VisionTransformer(Config(**PAPER[size], patch_size=int(patch)))
    assert cost.SIZES[name].parameters == sum(p.numel() for p in vit.parameters())
    case, c = cost.SIZES[name], vit.config
    assert (case.width, case.heads, case.layers, case.patch) == (c.width, c.heads, c.depth, c.patch_size)


def test_attention_by_hand_holds_three_tables_of_weights_at_once():
    heads, tokens, d = 4, 96, 8
    q, k, v = (torch.randn(1, heads, tokens, d) for _ in range(3))
    peak_bytes = LiveBytes.peak(lambda: attention_by_hand(q, k, v, 0.35))
    assert peak_bytes // (cost.FLOAT_BYTES * heads * tokens**2) == cost.TABLE_COUNT


class LiveBytes(TorchDispatchMode):
    """Measures how many bytes the results of torch's operations hold at most; a view keeps its base alive."""

    def __init__(self):
        super().__init__()
        self.results: list[weakref.ref] = []
        self.most = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        self.results.append(weakref.ref(out))
        storages = [t.untyped_storage() for result in self.results if (t := result()) is not None]
        self.most = max(self.most, sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values()))
        return out

    @classmethod
    def peak(cls, work) -> int:
        with cls() as live:
            work()
        return live.most


def test_the_error_of_an_impossible_case_says_what_to_change():
    with pytest.raises(PlaygroundError, match="1024 can't be shared out evenly among 12 heads"):
        Case(width=1024)
    with pytest.raises(PlaygroundError, match="larger image or smaller patches"):
        Case(image=32, patch=48)
