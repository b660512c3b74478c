"""The lesson on the cost: the browser computes the same numbers as Python, and the sentences give measured numbers."""

import json
import subprocess
from dataclasses import asdict
from itertools import product

import pytest
from test_javascript import ROOT, node

from lessons.playing import flat_parts, meadow, parts_of
from playground.analysis import cost
from playground.analysis.cost import PRESETS, SIZES, Case
from playground.errors import PlaygroundError
from playground.lessons import cost as cost_lesson
from playground.lessons.benchmark import (
    CONVOLUTION,
    FUSED,
    LINEAR,
    MATERIALISED,
    STEP_COUNT,
    WINDOWS,
    Measurement,
    Point,
)
from playground.lessons.cost import DIALS, LESSON, bytes_text, measure_points
from playground.lessons.parts import Chart, Drawing, Run, Wait, Words

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


# Measured -------------------------------------------------------------------------------------------------------------


def parts_with_result(monkeypatch, result: Measurement, **state: object) -> list:
    monkeypatch.setattr(cost_lesson, "result_of", lambda chosen: result)
    return flat_parts(parts_of("cost", "measured", **state))


def points(kind: str, *seconds: float) -> list[Point]:
    return [Point(kind, 64 * 4**n, second, 1000) for n, second in enumerate(seconds)]


def test_what_was_measured_is_drawn_and_told(monkeypatch):
    result = Measurement([
        *points(MATERIALISED, 0.01, 0.1), *points(FUSED, 0.01, 0.08), *points(WINDOWS, 0.01, 0.04),
        *points(LINEAR, 0.01, 0.02), *points(CONVOLUTION, 0.01), Point(MATERIALISED, 1024, 1.0, 2 * 10**9, "memory"),
        Point(CONVOLUTION, 256, 7.5, 10, "time"),
    ], stopped=True)  # fmt: skip
    parts = parts_with_result(monkeypatch, result)
    text = " ".join(part.text for part in parts if isinstance(part, Words))
    assert "**At 256 tokens windows take 0.50 × and linear attention 0.25 × the time" in text
    assert "**Materialised attention was not run with 1,024 tokens:** it would take about 2 GB, and this page" in text
    assert (
        "**Convolution was not run with 256 tokens:** it would take about 7.50 s a pass, and this page takes 5" in text
    )
    assert "Stopped before its end." in text
    time_figure, memory_figure = (part.figure for part in parts if isinstance(part, Chart))
    assert [trace.name for trace in time_figure.data] == [MATERIALISED, FUSED, WINDOWS, LINEAR, CONVOLUTION]
    assert [*time_figure.data[0].y] == [0.01, 0.1]
    assert [*memory_figure.data[-1].y] == [cost.TABLE_COUNT * 4 * 12 * n**2 for n in (64, 256)]
    assert [part.label for part in parts if isinstance(part, Run)] == ["Measure again"]


def test_without_free_memory_a_sentence_says_so_and_no_chart_is_shown(monkeypatch):
    parts = parts_with_result(monkeypatch, Measurement(no_room=True))
    assert "found no room" in " ".join(part.text for part in parts if isinstance(part, Words))
    assert not [part for part in parts if isinstance(part, Chart)]


def test_an_impossible_case_offers_no_measurement(monkeypatch):
    with pytest.raises(PlaygroundError, match="leaves 4"):
        Case(width=1024)
    assert not [part for part in parts_with_result(monkeypatch, Measurement(), width=1024) if isinstance(part, Run)]


class FakeSeries:
    """Stands for a Series and yields five points, as a measuring process would."""

    running = True

    def __init__(self, *case: int):
        self.points: list[Point] = []

    def each_moment(self, give_way):
        for point in points(FUSED, *[0.01] * 5):
            give_way()
            self.points.append(point)
            yield


def test_a_measurement_tells_its_progress_and_a_stopped_one_keeps_its_points(monkeypatch):
    monkeypatch.setattr(cost_lesson, "Series", FakeSeries)
    result = Measurement()
    monkeypatch.setattr(cost_lesson, "result_of", lambda chosen: result)
    measurement = measure_points(meadow(), LESSON.defaults())
    assert [next(measurement), next(measurement), next(measurement)] == [
        Wait("Measuring: starting"),
        Wait(f"Measuring: fused attention, 64 tokens, 1 of {STEP_COUNT}"),
        Wait(f"Measuring: fused attention, 256 tokens, 2 of {STEP_COUNT}"),
    ]
    assert not result.points
    measurement.close()
    assert (len(result.points), result.stopped, result.no_room) == (2, True, False)
    assert len(list(measure_points(meadow(), LESSON.defaults()))) == 6
    assert len(result.points) == 5
