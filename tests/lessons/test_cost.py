"""The lesson on the cost: the browser computes the same numbers as Python, and the sentences give measured numbers."""

import json
import subprocess
from dataclasses import asdict
from itertools import product

import pytest
from test_javascript import ROOT, node

from lessons.playing import flat_parts, parts_of
from playground.analysis import cost
from playground.analysis.cost import PRESETS, SIZES, Case
from playground.lessons.cost import DIALS, bytes_text
from playground.lessons.parts import Drawing

pytestmark = pytest.mark.usefixtures("nothing_fetched")
COUNT_SCRIPT = """
import { BYTES, bytesText, caseOf, countedFlops, crossingOf } from "./playground/microscope/core/costs.js";
const { cases, counts, others, mlps } = JSON.parse(await new Response(process.stdin).text());
const results = cases.map((settings) => {
  const sizes = caseOf(settings);
  const { tokens } = sizes;
  return {
    case: sizes,
    bytes: ["attention", "fused", "convolution"].map((which) => BYTES[which](tokens, sizes)),
    flops: mlps.flatMap((mlp) => [...counts, ...others].map((what) => countedFlops(what, mlp, tokens, sizes))),
    crossings: counts.flatMap((count) => others.map((other) => crossingOf(count, other, sizes))),
    text: bytesText(sizes.matricesBytes),
  };
});
console.log(JSON.stringify(results));
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
    process = subprocess.run(
        [node(), "--input-type=module", "-e", COUNT_SCRIPT],
        cwd=ROOT,
        input=json.dumps(message),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    for case, numbers in zip(CASES, json.loads(process.stdout), strict=True):
        n, d, k, heads = case.tokens, case.width, case.kernel, case.heads
        assert numbers["case"] == asdict(case) | {
            "side": case.side, "tokens": n, "entries": case.entries, "allEntries": case.all_entries,
            "rest": case.spare_pixels, "matricesBytes": case.matrices_bytes, "keptBytes": case.kept_bytes,
        }  # fmt: skip
        assert numbers["bytes"] == [
            cost.attention_bytes(n, d, heads), cost.fused_bytes(n, d), cost.convolution_bytes(n, d),
        ]  # fmt: skip
        assert numbers["flops"] == [
            *(cost.attention_cost(what, n, d, mlp=False) for what in ATTENTION_KINDS),
            *(cost.convolution_cost(what, n, d, k, mlp=False) for what in CONVOLUTION_KINDS),
            *(cost.attention_cost(what, n, d, mlp=True) for what in ATTENTION_KINDS),
            *(cost.convolution_cost(what, n, d, k, mlp=True) for what in CONVOLUTION_KINDS),
        ]
        assert numbers["crossings"] == [
            cost.crossing(d, k, *pair) for pair in product(ATTENTION_KINDS, CONVOLUTION_KINDS)
        ]
        assert numbers["text"] == bytes_text(case.matrices_bytes)


def test_the_dials_of_the_drawing_can_show_every_named_case():
    (drawing,) = (part for part in flat_parts(parts_of("cost", "formulas")) if isinstance(part, Drawing))
    for _, settings in (*drawing.data["presets"]["cases"], *drawing.data["sizes"]["cases"]):
        assert all(value in DIALS[name].options for name, value in settings.items())
        Case(**settings)
