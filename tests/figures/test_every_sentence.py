"""What the browser's sentence about a row says is true of the row: each number is the sum of what it names. Over all
layers and heads of all samples that are on this machine, for queries at a fixed stride. Places are found once more
here, in another way."""

import re

import numpy as np
import pytest
from twins import in_javascript

from playground import samples
from playground.figures.drawing import light
from playground.numbers import percent
from playground.serving import chosen, pictures, traces

QUERIES = 3  # of each head, at a fixed stride: all patches would take minutes
BODY = """
const { rows, columns, prefix, parts } = given;
return given.queries.map(({ row, mark }) => {
  const weights = Float32Array.from(row);
  const most = Math.max(...weights);
  const entropy = weights.reduce((sum, weight) => (weight > 0 ? sum - weight * Math.log2(weight) : sum), 0);
  const record = {
    told: places.toldOf(weights, prefix.length, { rows, columns }, mark, parts),
    fromPart: places.partAt(parts, mark, { rows, columns }),
    most, even: light.isEven(entropy, weights.length), token: prefix[weights.indexOf(most)] ?? "",
  };
  return ["en", "de"].map((language) => {
    const { before, place, after } = says.sayRow(language, record);
    return (before + place + after).replaceAll("\\u00a0", " ");
  });
});
"""
NAMES = "return says.PART_NAMES.en;"


def rows_of(sample: samples.Sample):
    """(prefix names, grid, [(asking patch, row)])."""
    setup = chosen.usual_setup(sample.name)
    trace = traces.trace(pictures.sample(sample.name), setup)
    patches = np.arange(QUERIES) * (trace.grid[0] * trace.grid[1]) // QUERIES + 3
    rows = []
    for layer in range(trace.layers):
        for patch in map(int, patches):
            query = divmod(patch, trace.grid[1])
            rows += [(patch, row) for row in trace.rows(layer, query).numpy()]
    return trace.prefix, trace.grid, rows


def components(lit: np.ndarray) -> np.ndarray:
    """A number for each lit patch, the same for all that touch: numbers flood until none changes. 0: not lit."""
    numbers = np.where(lit, np.arange(1, lit.size + 1).reshape(lit.shape), 0)
    while True:
        padded = np.pad(numbers, 1)
        shifted = [padded[r : r + lit.shape[0], c : c + lit.shape[1]] for r in range(3) for c in range(3)]
        flooded = np.where(lit, np.max(shifted, axis=0), 0)
        if (flooded == numbers).all():
            return numbers
        numbers = flooded


def check(sentence: str, row: np.ndarray, mark: int, prefix, grid, parts, names) -> str:
    patches = row[len(prefix) :].astype(np.float64).reshape(grid)
    numbers = components(patches >= 0.2 * light.exposure(patches.astype(np.float32)))
    shares = {number: patches[numbers == number].sum() for number in set(numbers.flat) - {0}}
    own = numbers.flat[mark]
    centre_y, centre_x = (np.indices(grid).reshape(2, -1).T + 0.5).T / np.reshape(grid, (2, 1))
    boxes = []
    for part in parts:
        top, left, bottom, right = part.box
        boxes.append((part, (centre_y >= top) & (centre_y < bottom) & (centre_x >= left) & (centre_x < right)))

    box_shares = [patches.flat[box].sum() for _, box in boxes]

    def is_share(text: str, share: float) -> bool:
        return any(text == percent(share + nudge) for nudge in (-2e-6, 0, 2e-6))

    def summed(where: str, text: str) -> float:
        """The share of what is named; it must read as `text`."""
        if "itself" in where:
            assert (numbers == own).sum() == 1
            fitting = [shares[own]]
        elif "surroundings" in where or "area" in where:
            radius = max(1, round(0.07 * max(grid)))
            distances = np.abs(np.indices(grid) - np.reshape(np.divmod(mark, grid[1]), (2, 1, 1))).max(0)
            near = patches[(numbers == own) & (distances <= radius)].sum()
            assert own
            assert ("surroundings" in where) == (2 * near >= shares[own] - 1e-7)
            fitting = [shares[own]]
        elif where == "here":
            fitting = [share for number, share in shares.items() if number != own]
        else:
            name = where.removeprefix("to ")
            fitting = [patches.flat[box].sum() for part, box in boxes if name in names[part.kind].values()]
        fitting = [share for share in fitting if is_share(text, share)]
        assert fitting, f"no place {where} sums to {text}"
        return fitting[0]

    if told := re.fullmatch(r"(.+%) of its attention goes (.+)\.", sentence):
        assert summed(told[2], told[1]) >= 0.5
        return "one"
    if told := re.fullmatch(r"It keeps to (.+) \((.+)\)\.", sentence):
        assert summed(told[1], told[2]) >= 0.5
        return "own"
    if told := re.fullmatch(r"This patch looks at (.+): (.+) of its attention on (.+) of the picture\.", sentence):
        assert summed(told[1], told[2]) >= 0.5
        assert told[3] == percent((numbers == own).mean())
        return "own"
    if sentence.startswith("Its attention goes "):
        places = re.findall(r"(here|to [^(]+?) \(([^)]+)\)", sentence)
        assert 2 <= len(places) <= 3
        assert sum(summed(*place) for place in places) >= 0.5
        return "several"
    largest = max([*shares.values(), 0])
    if told := re.fullmatch(r"Its attention is spread over (\d+) patches; no place gets more than (.+)\.", sentence):
        assert int(told[1]) == (numbers > 0).sum()
        top = sorted(shares, key=shares.get)[-3:]
        is_large = any(2 * (numbers == number).sum() > numbers.size for number in top)
        assert is_large or parts or sum(shares[number] for number in top) < 0.5 + 1e-6
        told_share = max([largest, *(share for share in box_shares if is_share(told[2], share))])
        assert is_share(told[2], told_share)
        return "spread"
    if told := re.fullmatch(r"Its attention is spread over (\d+) patches\.", sentence):
        assert int(told[1]) == (numbers > 0).sum()
        assert any(2 * (numbers == number).sum() > numbers.size and shares[number] >= 0.5 - 1e-6 for number in shares)
        return "wide"
    if told := re.fullmatch(r"Its largest share goes to (\w+), .+ \((.+)\); in the picture (.+) goes (.+)\.", sentence):
        assert is_share(told[2], row[prefix.index(told[1])])
        assert row[prefix.index(told[1])] >= largest - 1e-6
        summed(told[4].replace("to its own", "its own"), told[3])
        return "placeless"
    told = re.fullmatch(r"It looks everywhere alike: at no place more than (.+)\.", sentence)
    assert told
    assert is_share(told[1], row.max())
    return "even"


@pytest.mark.parametrize("sample", samples.samples(), ids=lambda sample: sample.name)
def test_what_a_sentence_names_sums_to_what_it_says(sample):
    prefix, grid, rows = rows_of(sample)
    given = {"rows": grid[0], "columns": grid[1], "prefix": prefix,
             "parts": [{"kind": part.kind, "box": part.box} for part in sample.parts],
             "queries": [{"row": row, "mark": mark} for mark, row in rows]}  # fmt: skip
    said = in_javascript(["places", "says", "light"], BODY, given)
    names = in_javascript(["says"], NAMES, {})
    kinds = set()
    for (english, german), (mark, row) in zip(said, rows, strict=True):
        try:
            kinds.add(check(english, row, mark, prefix, grid, sample.parts, names))
        except AssertionError as error:
            raise AssertionError(f"{sample.name}, patch {mark}: {english}") from error
        numbers = [re.findall(r"\d+(?:[.,]\d+)? %", text) for text in (english, german)]
        assert sorted(numbers[0]) == sorted(number.replace(",", ".") for number in numbers[1]), (english, german)
    assert len(kinds) > 2, kinds
