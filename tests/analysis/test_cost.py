"""The cost of attention: known cases exactly, FLOPs against torch's counter, the crossing against brute force."""

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

EXACT_COUNTS = {  # name -> tokens, entries per head, FLOPs of a layer of attention, of a 3 × 3 convolution
    "224 px, patch 16": (196, 38_416, 1_042_857_984, 2_080_899_072),
    "384 px, patch 16": (576, 331_776, 3_737_124_864, 6_115_295_232),
    "384 px, patch 48": (64, 4_096, 314_572_800, 679_477_248),
    "1,024 px, patch 16": (4_096, 16_777_216, 70_866_960_384, 43_486_543_872),
}


@pytest.mark.parametrize("name", PRESETS)
def test_the_preset_cases_have_these_exact_counts(name):
    case = PRESETS[name]
    tokens, entries, attention, convolution = EXACT_COUNTS[name]
    assert (case.tokens, case.entries) == (tokens, entries)
    assert (case.attention_flops, case.convolution_flops) == (12 * attention, 12 * convolution)
    assert case.all_entries == 144 * entries


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


@pytest.mark.parametrize("part", [cost.ATTENTION, cost.SCORES])
@pytest.mark.parametrize("other", [cost.DENSE, cost.DEPTHWISE])
def test_for_every_pair_of_costs_attention_costs_more_from_the_crossing_on(part, other):
    width, kernel = 192, 3
    crossing = cost.crossing(width, kernel, part, other)
    for mlp in (False, True):
        costs_more = [
            cost.attention_cost(part, n, width, mlp) > cost.convolution_cost(other, n, width, kernel, mlp)
            for n in range(1, 2 * crossing + 20)
        ]
        assert costs_more.index(True) + 1 == crossing
        assert all(costs_more[crossing - 1 :])


@pytest.mark.parametrize("tokens", [64, 196, 576])
def test_scores_cost_n_over_k_squared_times_a_depthwise_convolution(tokens):
    ratio = cost.score_flops(tokens, 768) / cost.depthwise_flops(tokens, 768, 3)
    assert ratio == pytest.approx(tokens / 9)
    dense_ratio = cost.attention_flops(tokens, 768) / cost.convolution_flops(tokens, 768, 3)
    assert dense_ratio == pytest.approx({64: 0.46, 196: 0.50, 576: 0.61}[tokens], abs=0.005)


def test_a_depthwise_convolution_and_an_mlp_cost_what_torch_counts():
    width, side = 96, 7
    with torch.device("meta"):
        depthwise = nn.Conv2d(width, width, 3, padding=1, groups=width)
        mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        q = torch.empty(side**2, width)
    assert cost.mlp_flops(side**2, width) == counted_flops(lambda: mlp(q))
    assert cost.score_flops(side**2, width) == counted_flops(lambda: q @ q.T)
    with torch.device("meta"):
        image = torch.empty(1, width, side, side)
    assert cost.depthwise_flops(side**2, width, 3) == counted_flops(lambda: depthwise(image))


@pytest.mark.parametrize("name", cost.SIZES)
def test_the_parameters_are_those_of_the_model(name):
    size, patch = name.split("/")
    with torch.device("meta"):
        vit = VisionTransformer(Config(**PAPER[size], patch_size=int(patch)))
    assert cost.SIZES[name].parameters == sum(p.numel() for p in vit.parameters())
    case, c = cost.SIZES[name], vit.config
    assert (case.width, case.heads, case.layers, case.patch) == (c.width, c.heads, c.depth, c.patch_size)


def test_attention_by_hand_holds_three_tables_of_weights_at_once():
    """The lesson counts three: at the softmax, scores, scaled scores and weights are in memory together."""
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


def test_kept_bytes_are_those_of_the_queries_and_keys_of_a_trace(small_trace):
    c = small_trace.vit.config
    case = Case(c.image_size[0], c.patch_size, c.width, c.heads, c.depth)
    record_bytes = sum(layer.q.nbytes + layer.k.nbytes for layer in small_trace.record.values())
    assert record_bytes * case.tokens == case.kept_bytes * small_trace.tokens  # the trace has prefix tokens too
    large_case = PRESETS["1,024 px, patch 16"]
    assert (large_case.matrices_bytes, large_case.kept_bytes) == (9_663_676_416, 301_989_888)


def test_the_error_of_an_impossible_case_says_what_to_change():
    with pytest.raises(PlaygroundError, match="1024 can't be shared out evenly among 12 heads"):
        Case(width=1024)
    with pytest.raises(PlaygroundError, match="larger image or smaller patches"):
        Case(image=32, patch=48)
