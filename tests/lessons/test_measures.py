"""What the browser computes of a trace equals what Python computes of it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from PIL import Image
from test_javascript import ROOT
from twins import in_javascript

import playground
from lessons.playing import meadow, parts_of, stand_in_for_file
from playground.analysis import heads
from playground.lessons.parts import plain_parts
from playground.lessons.registry import LESSONS
from playground.numbers import percent
from playground.serving.here import Here
from playground.tracing import Trace

pytestmark = pytest.mark.usefixtures("nothing_fetched")
STEPS = [(name, step) for name, lesson in LESSONS.items() for step in lesson.steps]
STEPS_WITHOUT_PICTURE = [(name, step) for name, step in STEPS if not LESSONS[name].steps[step].picture]
BROWSER_SOURCE = "".join(
    (ROOT / f"playground/microscope/{file}.js").read_text(encoding="utf-8")
    for file in ("lessons/subject", "core/measures")
)
MEASURE = """
  const pack = core.unpack(new Uint8Array(readFileSync(given.file)));
  const report = await measures.measureHeads(pack, given.scale ?? pack.scale, given.query);
  const grid = [pack.rows, pack.columns];
  const subject = { query: given.query, grid, report: async () => report, packOf: async () => pack };
  const found = {};
  for (const [name, more] of given.asked) {
    const value = await measures.MEASURES[name](more ?? {}, subject);
    found[more ? `${name} ${Object.values(more).join(" ")}` : name] = value;
  }
  return { found, report };
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> tuple[Trace, str]:
    """The trace of a picture that is no sample, and the file of its pack, in which queries and keys are rounded."""
    y, x = np.mgrid[0:240, 0:400]
    pixels = np.stack([127 + 120 * np.sin(x / 23), 127 + 120 * np.cos((x + y) / 31), (x + y) % 256], -1)
    trace = playground.trace(playground.load("bundled", device="cpu"), Image.fromarray(pixels.astype(np.uint8)))
    file = tmp_path_factory.mktemp("pack") / "own.pack"
    file.write_bytes(trace.to_bytes())
    rounded = Trace.from_bytes(file.read_bytes())
    record = {layer: rounded.record[layer]._replace(v=trace.record[layer].v) for layer in range(trace.layers)}
    return replace(rounded, vit=trace.vit, record=record), str(file)


def measured(file: str, *asked: tuple, **given: object) -> dict:
    return in_javascript(["core", "measures"], MEASURE, {"file": file, "query": 0, "asked": asked} | given)


@pytest.mark.parametrize("scale", [None, 1.0])
def test_the_browser_measures_every_head_as_python_does(own, scale):
    trace, file = own
    query = (3, 5)
    found = measured(file, scale=scale, query=3 * trace.grid[1] + 5)["report"]
    expected = heads.head_report(trace, query, scale)
    assert (found["tokens"], found["measured"]) == (expected["tokens"], expected["measured"])
    for name in expected["all"][0]:
        numbers, python_numbers = ([head[name] for head in report["all"]] for report in (found, expected))
        np.testing.assert_allclose(numbers, python_numbers, rtol=3e-3, atol=2e-3, err_msg=name)


def test_numbers_in_sentences_are_those_that_python_s_users_get(own):
    trace, file = own
    habits, first_patch, columns = heads.measure_heads(trace), len(trace.prefix), trace.grid[1]
    query = 3 * columns + 5
    share = np.maximum(habits.to_one, habits.to_class + habits.to_registers)
    layer, head = (int(n) for n in np.unravel_index(share.argmax(), share.shape))
    mean = trace.matrix(layer, head)[first_patch:].mean(0)
    is_patch = habits.to_one[layer, head] >= share[layer, head]
    token = int(mean[first_patch:].argmax()) + first_patch if is_patch else int(mean[:first_patch].argmax())
    keys, carried = trace.record[layer].k[head].norm(dim=-1), trace.value_norms(layer)[head]
    far_layer, far_head = head_that_looks_far(trace, query)
    far_row = trace.on_grid(trace.row(far_layer, far_head, divmod(query, columns))).flatten()
    brightest = far_row.topk(max(1, len(far_row) // 50)).values
    disagreement = heads.disagreement(trace)
    expected = {
        "differing": pytest.approx(100 * disagreement.overall, abs=0.3),
        "rows_asked": disagreement.rows,
        "sampling_note": "",
        "mean_distance 4": pytest.approx(habits.distance[4].mean(), rel=1e-3),
        "agreeing most layer": layer,
        "agreeing most head": head,
        "agreeing least share": pytest.approx(share.min(), rel=1e-2),
        "agreeing_percent": pytest.approx(100 * share.max(), rel=1e-3),
        "locked_heads": int((share > 0.3).sum()),
        "agreed_place": f"one patch, at {divmod(token - first_patch, columns)}" if is_patch else "cls and reg0",
        "key_length": pytest.approx(float(keys[token] / keys[first_patch:].median()), rel=2e-3),
        "carried": pytest.approx(float(carried[token] / carried.median()), rel=2e-3),
        "even_distance": pytest.approx(heads.even_distance(*trace.grid), rel=1e-5),
        "layers_needed 7": next(n for n in range(1, 99) if n * 3 >= max(trace.grid) - 1),
        "far_layer": far_layer,
        "far_head": far_head,
        "far_share": pytest.approx(float(brightest.sum() / far_row.sum()), rel=5e-3),
        "far_peak": pytest.approx(float(far_row.max()), rel=5e-3),
        "far_peak 2 1": pytest.approx(float(trace.on_grid(trace.row(2, 1, divmod(query, columns))).max()), rel=5e-3),
    }
    names = {"mean_distance": ("layer",), "layers_needed": ("kernel",), "agreeing": ("which", "what")}
    asked = []
    for name, *values in (key.split() for key in expected):
        plain_values = [int(value) if value.isdigit() else value for value in values]
        asked.append((name, dict(zip(names.get(name, ("layer", "head")), plain_values, strict=False)) or None))
    assert measured(file, *asked, query=query)["found"] == expected


def head_that_looks_far(trace: Trace, query: int) -> tuple[int, int]:
    """A loop over all heads: the largest weights on far patches, less what all patches give to them."""
    rows, columns = trace.grid
    y, x = divmod(query, columns)
    is_far = np.array([max(abs(p // columns - y), abs(p % columns - x)) > 3 for p in range(rows * columns)])
    sums = {}
    for layer in range(trace.layers):
        for head in range(trace.heads):
            weights = trace.matrix(layer, head)[len(trace.prefix) :, len(trace.prefix) :].numpy()
            surplus = (weights[query] - weights.mean(0)).clip(0) * is_far
            sums[layer, head] = np.sort(surplus)[-max(1, rows * columns // 20) :].sum()
    return max(sums, key=sums.__getitem__)


def test_of_a_large_grid_some_rows_are_measured_all_over_the_picture_and_a_note_says_how_many():
    layers, heads_count, rows, columns = 12, 6, 30, 44
    shape = {"layers": layers, "heads": heads_count, "dim": 64, "prefix": ["cls"], "rows": rows, "columns": columns}
    shape["tokens"] = 1 + rows * columns
    script = """
      const pack = { ...given.shape, patches: given.shape.rows * given.shape.columns };
      const patches = measures.measuredPatches(pack);
      const report = async () => ({ measured: patches.length });
      const note = await measures.MEASURES.sampling_note({}, { report, grid: [pack.rows, pack.columns] });
      return { patches, note };
    """
    found = in_javascript(["measures"], script, {"shape": shape})
    patches = np.array(found["patches"])
    assert 20 < len(patches) < rows * columns
    assert found["note"] == f" Measured on the rows of {len(patches)} of {rows * columns} patches."
    for places, side in ((patches // columns, rows), (patches % columns, columns)):
        assert places.min() < side / 4
        assert places.max() > 3 * side / 4


def test_numbers_in_blanks_are_written_as_python_writes_them():
    numbers = [0, 7, 24.1327, 0.3649, 0.9996, 7056, 1234567.3, 0.0061]
    texts = [recipe.get("text", "") for recipe in all_recipes()]
    styles = {style for text in texts for _, style in re.findall(r"\{(\w+):?([^}]*)\}", text)}
    assert styles >= {"", ",", ".1f", "%"}
    cases = [(number, style) for style in sorted(styles) for number in numbers if style or isinstance(number, int)]
    script = "return given.cases.map(([n, style]) => measures.filledWords({ text: `{n:${style}} {a model}`, n }));"
    assert in_javascript(["measures"], script, {"cases": cases}) == [
        f"{percent(number) if style == '%' else format(number, style)} {{a model}}" for number, style in cases
    ]


@cache
def all_recipes() -> list[dict]:
    records = [plain_parts(parts_of(name, step), stand_in_for_file) for name, step in STEPS]
    return list(recipes_in(records))


def recipes_in(value: object) -> Iterator[dict]:
    if isinstance(value, dict):
        if "made" in value:
            yield value
        value = [*value.values()]
    if isinstance(value, list):
        for item in value:
            yield from recipes_in(item)


def test_the_browser_has_a_function_for_each_recipe_and_a_number_for_each_blank():
    recipes = all_recipes()
    assert len({recipe["made"] for recipe in recipes}) > 20
    for recipe in recipes:
        name = recipe["made"]
        assert re.search(rf"^  (async )?{name}[(:,]", BROWSER_SOURCE, re.MULTILINE), name
        if name == "words":
            assert set(re.findall(r"\{(\w+)[:}]", recipe["text"])) == recipe.keys() - {"made", "text"}, recipe


@pytest.mark.parametrize(("name", "step"), STEPS_WITHOUT_PICTURE)
def test_a_step_about_no_picture_is_the_same_for_another_picture(name, step):
    lesson = LESSONS[name]
    flock = Here({"sample": "flock", "model": "bundled"})
    meadow_parts, flock_parts = (
        plain_parts(lesson.steps[step].parts(subject, lesson.defaults()), stand_in_for_file)
        for subject in (meadow(), flock)
    )
    assert without_context(meadow_parts) == without_context(flock_parts)


def without_context(parts: list[dict]) -> str:
    return re.sub(r'"context": "[^"]*"', "", json.dumps(parts))
