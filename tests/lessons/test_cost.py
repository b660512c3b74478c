"""The lesson on the cost: the browser computes the same numbers as Python, and the sentences give measured numbers."""

from dataclasses import asdict
from itertools import product

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from twins import in_javascript

from lessons.playing import flat_parts, parts_of
from playground.analysis import cost
from playground.analysis.cost import PRESETS, SIZES, Case
from playground.lessons.cost import DIALS
from playground.lessons.parts import Drawing

pytestmark = pytest.mark.usefixtures("nothing_fetched")
COUNT = """
const { BYTES, bytesText, caseOf, countedFlops, crossingOf } = costs, { cases, counts, others, mlps } = given;
return cases.map((settings) => {
  const sizes = caseOf(settings);
  const { tokens } = sizes;
  return {
    case: sizes,
    bytes: ["attention", "fused", "convolution"].map((which) => BYTES[which](tokens, sizes)),
    flops: mlps.flatMap((mlp) => [...counts, ...others].map((what) => countedFlops(what, mlp, tokens, sizes))),
    crossings: counts.flatMap((count) => others.map((other) => crossingOf(count, other, sizes))),
    text: bytesText(tokens),
  };
});
"""
ATTENTION_KINDS, CONVOLUTION_KINDS = (cost.ATTENTION, cost.SCORES), (cost.DENSE, cost.DEPTHWISE)
CASES = [
    *PRESETS.values(), *SIZES.values(), Case(image=1536, patch=8, width=1280, heads=16, layers=32, kernel=7),
    Case(image=64, patch=48, width=192, heads=1, layers=1, kernel=1), Case(image=224, patch=48, kernel=5),
]  # fmt: skip


def test_the_browser_counts_what_python_counts():
    message = {
        "cases": [asdict(case) for case in CASES],
        "counts": ATTENTION_KINDS,
        "others": CONVOLUTION_KINDS,
        "mlps": ("no", "yes"),
    }
    for case, numbers in zip(CASES, in_javascript(["costs"], COUNT, message), strict=True):
        n, d, k, heads = case.tokens, case.width, case.kernel, case.heads
        all_entries = case.entries * heads * case.layers
        assert numbers["case"] == asdict(case) | {
            "side": case.side, "tokens": n, "entries": case.entries, "allEntries": all_entries,
            "rest": case.image % case.patch, "matricesBytes": 4 * all_entries, "keptBytes": 8 * n * d * case.layers,
        }  # fmt: skip
        assert numbers["bytes"] == [4 * (6 * n * d + heads * n * n), 24 * n * d, 8 * n * d]
        kinds = (*ATTENTION_KINDS, *CONVOLUTION_KINDS)
        assert numbers["flops"] == [
            flops(kind, n, d, k) + mlp * cost.mlp_flops(n, d) for mlp in (0, 1) for kind in kinds
        ]
        for crossing, pair in zip(numbers["crossings"], product(ATTENTION_KINDS, CONVOLUTION_KINDS), strict=True):
            attention, convolution = ([flops(kind, n, d, k) for n in range(1, crossing + 2)] for kind in pair)
            costs_more = [ours > theirs for ours, theirs in zip(attention, convolution, strict=True)]
            assert costs_more.index(True) + 1 == crossing
        assert numbers["text"].split()[1] == ("B" if n < 1000 else "KB")


def flops(kind: str, tokens: int, width: int, kernel: int) -> int:
    return {
        cost.ATTENTION: cost.attention_flops(tokens, width),
        cost.SCORES: 2 * tokens**2 * width,
        cost.DENSE: cost.convolution_flops(tokens, width, kernel),
        cost.DEPTHWISE: 2 * kernel**2 * tokens * width,
    }[kind]


def test_scores_and_a_depthwise_convolution_cost_what_torch_counts():
    width, side = 96, 7
    with torch.device("meta"):
        depthwise = nn.Conv2d(width, width, 3, padding=1, groups=width)
        q, image = torch.empty(side**2, width), torch.empty(1, width, side, side)
    for kind, operation in ((cost.SCORES, lambda: q @ q.T), (cost.DEPTHWISE, lambda: depthwise(image))):
        with FlopCounterMode(display=False) as counter:
            operation()
        assert flops(kind, side**2, width, 3) == counter.get_total_flops()


def test_the_dials_of_the_drawing_can_show_every_named_case():
    (drawing,) = (part for part in flat_parts(parts_of("cost", "formulas")) if isinstance(part, Drawing))
    for _, settings in (*drawing.data["presets"]["cases"], *drawing.data["sizes"]["cases"]):
        assert all(value in DIALS[name].options for name, value in settings.items())
        Case(**settings)
