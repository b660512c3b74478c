"""Two pictures: a line flies from the patch under the cursor to its match, and both pictures are cut into parts."""

import numpy as np
import pytest
import torch

from browser.truth import python_trace
from playground.figures.drawing import light, maps

PAIR = "model=bundled&sample=twins&with=sample:portrait&beside=compare"


@pytest.fixture(scope="module")
def matches():
    return python_trace("twins").match(python_trace("portrait"))


def first_patch(matches, is_matched: bool) -> tuple[int, int]:
    return tuple(((matches[..., 0] >= 0) == is_matched).nonzero()[0].tolist())


def test_a_line_flies_to_the_match_that_python_finds(visit, matches):
    visitor = visit(PAIR, reduced_motion="reduce")  # the line appears without an animation
    visitor.until("r => r.waits === ''")
    patch = first_patch(matches, True)
    visitor.hover(patch)
    match = visitor.until("r => r.match?.mutual")["match"]
    row, column = matches[patch].tolist()
    columns = python_trace("portrait").grid[1]
    assert divmod(match["nearest"] - len(python_trace("portrait").prefix), columns) == (row, column)
    words = visitor.page.locator(".match-words")
    words.filter(has_text=f"row {row}, column {column}").wait_for()
    line = visitor.page.locator(".match-line i")
    line.wait_for()
    line_box, twin_box = line.bounding_box(), visitor.part("twin").bounding_box()
    end_x = twin_box["x"] + (column + 0.5) * twin_box["width"] / columns
    assert abs(line_box["x"] + line_box["width"] - end_x) < 6, (line_box, twin_box)


def test_what_is_compared_shares_one_exposure_and_one_scale(go):
    first_trace, second_trace = python_trace("twins"), python_trace("portrait")
    visitor = go(PAIR)
    visitor.hover((4, 5))
    state = visitor.until("r => r.query === '4,5' && r.match")
    layer, head = state["layer"], state["head"]
    place = maps.same_place((4, 5), first_trace, second_trace)
    rows = [
        trace.on_grid(trace.row(layer, head, q)).numpy() for trace, q in ((first_trace, (4, 5)), (second_trace, place))
    ]
    exposure = light.exposure(np.concatenate([row.ravel() for row in rows]))
    assert state["domain"]["high"] == pytest.approx(exposure, rel=0.03)
    visitor.choice("what", "similarity").click()
    state = visitor.until("r => r.what === 'similarity' && r.map && r.match")
    feature = first_trace.features(layer)[first_trace.token((4, 5))]
    similarities = [
        torch.cosine_similarity(trace.features(layer), feature[None], dim=-1) for trace in (first_trace, second_trace)
    ]
    smallest = min(
        float(trace.on_grid(similarity).min())
        for trace, similarity in zip((first_trace, second_trace), similarities, strict=True)
    )
    assert state["domain"]["high"] == pytest.approx(1, abs=1e-2)
    assert state["domain"]["low"] == pytest.approx(smallest, abs=1e-2)
