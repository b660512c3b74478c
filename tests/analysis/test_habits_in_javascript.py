"""The browser gives every head the same numbers and the same habit as playground/analysis/heads.py does."""

import math

import numpy as np
import pytest
from PIL import Image
from torch.nn.functional import avg_pool2d
from twins import in_javascript

import playground
from playground.analysis import heads
from playground.analysis.heads import HABITS, REACH, direction
from playground.tracing import Trace

SCRIPT = """
  const pack = core.unpack(new Uint8Array(readFileSync(given.file)));
  pack.header.adds = given.adds;
  const found = [];
  for (let layer = 0; layer < pack.layers; layer++)
    for (let head = 0; head < pack.heads; head++) {
      const numbers = habits.headMeasures(pack, habits.colourDistancesOf(given.colours), layer, head);
      found.push({ ...numbers, mean: [...numbers.mean], words: habits.habitWords(numbers, given.habits) });
    }
  return found;
"""


def legend() -> list[dict]:
    return [{"label": habit.label, "short": habit.short} for habit in HABITS]


@pytest.mark.parametrize("size", [(240, 400), (300, 300)])
def test_the_browser_s_numbers_and_habits_of_heads_equal_python_s(tmp_path, size):
    y, x = np.mgrid[0 : size[0], 0 : size[1]]
    pixels = np.stack([127 + 120 * np.sin(x / 23), 127 + 120 * np.cos((x + y) / 31), (x * y / 300) % 256], -1)
    trace = playground.trace(playground.load("bundled", device="cpu"), Image.fromarray(pixels.astype(np.uint8)))
    habits = heads.measure_heads(trace)
    colours = avg_pool2d(trace.input, trace.patch_size)[0].flatten(1).T  # (patches, 3)
    file = tmp_path / "own.pack"
    file.write_bytes(trace.to_bytes())
    arguments = {"file": str(file), "colours": colours.flatten().tolist(), "habits": legend(), "adds": lengths(trace)}
    answers = in_javascript(["core", "habits"], SCRIPT, arguments)
    places = [(layer, head) for layer in range(trace.layers) for head in range(trace.heads)]
    for name in ("entropy", "breadth", "distance", "to_self", "to_class", "to_registers", "to_one", "near", "content"):
        numbers = np.array([answer[name] for answer in answers]).reshape(trace.layers, trace.heads)
        np.testing.assert_allclose(numbers, getattr(habits, name), rtol=3e-3, atol=1e-3, err_msg=name)
    for name, tolerance in (("colour", 5e-3), ("effect", 1e-3)):
        numbers = np.array([answer[name] for answer in answers]).reshape(trace.layers, trace.heads)
        np.testing.assert_allclose(numbers, getattr(habits, name), atol=tolerance, err_msg=name)
    offsets = np.array([answer["offsets"] for answer in answers]).reshape(habits.offsets.shape)
    np.testing.assert_allclose(offsets, habits.offsets, atol=1e-3)
    python_names = habits.habit_names()
    browser_names = {answer["words"]["long"] for answer in answers}
    assert len(browser_names) > 2, "of too few habits the names are compared"
    agreements = [
        answer["words"]["long"] == python_names[layer][head]
        for answer, (layer, head) in zip(answers, places, strict=True)
    ]
    assert sum(agreements) >= len(agreements) - 1, (
        "a head at a rule's edge may fall on its other side by the rounding of a key"
    )


def lengths(trace: Trace) -> list[list[float]]:
    """The mean length of each head's addition to a patch, as the engine measures it."""
    mean_lengths = []
    for layer in range(trace.layers):
        proj = trace.vit.blocks[layer].attn.proj.weight.detach().unflatten(1, (trace.heads, -1)).transpose(0, 1)
        added_vectors = trace.weights(layer) @ trace.record[layer].v @ proj.mT  # (heads, tokens, D)
        mean_lengths.append(added_vectors.norm(dim=-1)[:, len(trace.prefix) :].mean(-1).tolist())
    return mean_lengths


# The numbers of a head without a habit, and for each rule two values, one of which makes the rule apply. To most
# combinations of these values several rules apply, so that the order of the rules is compared too.
HEAD_WITHOUT_HABIT = {
    "entropy": 3.0,
    "breadth": 0.3,
    "distance": 2.0,
    "to_self": 0.1,
    "to_class": 0.1,
    "to_registers": 0.1,
}
HEAD_WITHOUT_HABIT |= {"to_one": 0.1, "near": 0.1, "content": 0.1, "colour": 0.1, "effect": 1.0}
RULE_VALUES = {
    "effect": (0.1, 0.2), "to_class": (0.1, 0.45), "to_registers": (0.1, 0.45), "to_one": (0.3, 0.31),
    "to_self": (0.1, 0.51), "content": (0.35, 0.36), "colour": (0.2, 0.21), "near": (0.3, 0.36), "breadth": (0.5, 0.6),
}  # fmt: skip


def test_the_browser_s_rules_have_python_s_thresholds_and_order():
    cases = [HEAD_WITHOUT_HABIT | dict(zip(RULE_VALUES, values, strict=True)) for values in combinations(RULE_VALUES)]
    offsets = np.zeros((len(cases), 7, 7))
    offsets[::3, REACH, REACH - 1] = 0.31  # a large share for the left neighbour
    expected_heads = [
        heads.Head(**numbers, offset=(0, -1), offset_share=0.31 * (n % 3 == 0)) for n, numbers in enumerate(cases)
    ]
    script = "return given.cases.map((one) => habits.habitWords(one, given.habits));"
    arguments = {"habits": legend(), "cases": [
        numbers | {"offsets": shares.flatten().tolist()} for numbers, shares in zip(cases, offsets, strict=True)
    ]}  # fmt: skip
    answers = in_javascript(["habits"], script, arguments)
    assert [numbers["long"] for numbers in answers] == [heads.habit_name(head) for head in expected_heads]
    assert [numbers["short"] for numbers in answers] == [
        heads.short_label(head, heads.habit(head)) for head in expected_heads
    ]
    assert len({numbers["long"] for numbers in answers}) == len(HABITS)


def combinations(edges: dict[str, tuple[float, float]]) -> list[tuple[float, ...]]:
    """Every combination of the two values of each edge."""
    grids = np.meshgrid(*edges.values(), indexing="ij")
    return [tuple(map(float, values)) for values in np.stack(grids, -1).reshape(math.prod([2] * len(edges)), -1)]


def test_the_browser_names_a_direction_as_python_does():
    offsets = [(down, right) for down in range(-3, 4) for right in range(-3, 4)]
    script = "return given.offsets.map((one) => habits.directionOf(one));"
    assert in_javascript(["habits"], script, {"offsets": offsets}) == [direction(offset) for offset in offsets]
