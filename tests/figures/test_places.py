"""The places of a row, told in Python as in the browser."""

import numpy as np
import pytest
from twins import in_javascript

from playground.figures.drawing import places
from playground.samples import Part

PARTS = (Part("eye", (0.1, 0.1, 0.4, 0.4)), Part("eye", (0.5, 0.5, 0.9, 1.0)))


def rows_of_all_kinds() -> list[np.ndarray]:
    random = np.random.default_rng(7)
    rows = []
    for sharpness in (0.2, 1, 2, 4) * 6:
        shape = (int(random.integers(3, 12)), int(random.integers(3, 12)))
        smooth = np.kron(random.normal(0, 1, (6, 6)), np.ones((2, 2)))[: shape[0], : shape[1]]
        weights = np.exp(sharpness * (smooth + random.normal(0, 0.4, shape)))
        rows.append((weights / weights.sum() * random.uniform(0.5, 1)).astype(np.float32))
    return rows


@pytest.fixture(scope="module")
def told_rows():
    rows = rows_of_all_kinds()
    return [(row, mark, places.told(row, mark, PARTS)) for row in rows for mark in (0, row.size // 2)]


def test_python_and_the_browser_tell_the_same(told_rows):
    given = [{"row": row.ravel(), "rows": row.shape[0], "columns": row.shape[1], "mark": mark}
             for row, mark, _ in told_rows]  # fmt: skip
    parts = [{"kind": part.kind, "box": part.box} for part in PARTS]
    body = """return given.rows.map(({ row, rows, columns, mark }) =>
      places.toldOf(Float32Array.from(row), 0, { rows, columns }, mark, given.parts));"""
    from_browser = in_javascript(["places"], body, {"rows": given, "parts": parts})
    assert {told["kind"] for _, _, told in told_rows} == {"one", "own", "several", "spread"}
    for (_, _, told), theirs in zip(told_rows, from_browser, strict=True):
        assert (told["kind"], told.get("lit")) == (theirs["kind"], theirs.get("lit"))
        for place, other in zip(told["places"], theirs["places"], strict=True):
            assert sorted(place["patches"]) == sorted(other["patches"])
            assert place["share"] == pytest.approx(other["share"], abs=1e-5)
            assert [place[key] for key in ("own", "near", "brightest")] == [
                other[key] for key in ("own", "near", "brightest")
            ]
            assert (place["part"] and list(place["part"]["box"])) == (other["part"] and other["part"]["box"])


def test_what_is_told_sums_to_what_it_says(told_rows):
    for row, mark, told in told_rows:
        shares = [place["share"] for place in told["places"]]
        assert sum(shares) <= row.sum() + 1e-5, "no patch is told twice"
        if told["kind"] != "spread":
            assert sum(shares) >= 0.5
        for place in told["places"]:
            box = next((part for part in PARTS if place["part"] and part.box == place["part"]["box"]), None)
            patches = [j for j in range(row.size) if box.holds(j, row.shape)] if box else place["patches"]
            assert place["share"] == pytest.approx(row.flat[patches].sum(), abs=1e-5)
            assert place["own"] == (mark in place["patches"])
