"""What attention costs: the classic cases as whole numbers, FLOPs as torch counts them, the crossing by brute force."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from playground.analysis import cost
from playground.analysis.cost import PRESETS, Case
from playground.errors import PlaygroundError
from playground.vit import Attention, Config, attention_by_hand

EXACT = {  # name -> tokens, entries per head, FLOPs of a layer of attention, of a 3 × 3 convolution
    "224 px, patch 16": (196, 38_416, 1_042_857_984, 2_080_899_072),
    "384 px, patch 16": (576, 331_776, 3_737_124_864, 6_115_295_232),
    "384 px, patch 48": (64, 4_096, 314_572_800, 679_477_248),
    "1,024 px, patch 16": (4_096, 16_777_216, 70_866_960_384, 43_486_543_872),
}


@pytest.mark.parametrize("name", PRESETS)
def test_the_classic_cases_in_whole_numbers(name):
    case = PRESETS[name]
    tokens, entries, attention, convolution = EXACT[name]
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
    assert case.attention_flops == case.layers * counted(lambda: attention(tokens, None, None))
    assert case.convolution_flops == case.layers * counted(lambda: convolution(image))


def counted(work) -> int:
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops()


@pytest.mark.parametrize("width", [64, 192, 193, 768])
@pytest.mark.parametrize("kernel", [1, 3, 5, 7])
def test_the_crossing_is_the_first_number_of_tokens_that_costs_more(width, kernel):
    first = next(
        n for n in range(1, 10**6) if cost.attention_flops(n, width) > cost.convolution_flops(n, width, kernel)
    )
    assert cost.crossing(width, kernel) == first


def test_bytes_are_those_of_the_tensors():
    heads, tokens, width = 4, 49, 64
    x = torch.zeros(tokens, width)
    q = k = v = torch.zeros(heads, tokens, width // heads)
    weights, mixed, out = q @ k.mT, torch.zeros(tokens, width), torch.zeros(tokens, width)
    made = sum(t.nbytes for t in (x, q, k, v, mixed, out))
    assert cost.fused_bytes(tokens, width) == made
    assert cost.attention_bytes(tokens, width, heads) == made + weights.nbytes
    image = torch.zeros(width, 7, 7)
    assert cost.convolution_bytes(tokens, width) == image.nbytes + nn.Conv2d(width, width, 3, padding=1)(image).nbytes


def test_what_the_playground_keeps_is_what_a_trace_holds(seen):
    c = seen.vit.config
    case = Case(c.image_size[0], c.patch_size, c.width, c.heads, c.depth)
    held = sum(layer.q.nbytes + layer.k.nbytes for layer in seen.record.values())
    assert held * case.tokens == case.kept_bytes * seen.tokens  # the trace has its prefix tokens besides
    large = PRESETS["1,024 px, patch 16"]
    assert (large.matrices_bytes, large.kept_bytes) == (9_663_676_416, 301_989_888)


def test_an_impossible_case_says_what_to_do():
    with pytest.raises(PlaygroundError, match="1024 can't be shared out evenly among 12 heads"):
        Case(width=1024)
    with pytest.raises(PlaygroundError, match="larger image or smaller patches"):
        Case(image=32, patch=48)


def test_pixels_that_make_no_whole_patch_are_counted():
    case = Case(image=100, patch=14, width=192, heads=3)
    assert (case.side, case.rest, case.tokens) == (7, 2, 49)
