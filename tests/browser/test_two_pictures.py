"""Two pictures: a line flies from the patch under the cursor to its match, and both pictures are cut into parts."""

import numpy as np
import pytest
import torch

from browser.truth import seen
from playground.figures.drawing import light, maps

PAIR = "model=bundled&sample=twins&with=sample:portrait&beside=compare"


@pytest.fixture(scope="module")
def truth():
    return seen("twins").match(seen("portrait"))


def first(found, matched: bool) -> tuple[int, int]:
    return tuple(((found[..., 0] >= 0) == matched).nonzero()[0].tolist())


def test_a_line_flies_to_the_match_that_python_finds(visit, truth):
    visitor = visit(PAIR, reduced_motion="reduce")  # the line appears without an animation
    visitor.until("r => r.waits === ''")
    patch = first(truth, True)
    visitor.hover(patch)
    match = visitor.until("r => r.match?.mutual")["match"]
    row, column = truth[patch].tolist()
    columns = seen("portrait").grid[1]
    assert divmod(match["there"] - len(seen("portrait").prefix), columns) == (row, column)
    words = visitor.page.locator(".match-words")
    words.filter(has_text=f"row {row}, column {column}").wait_for()
    wire = visitor.page.locator(".match-line i")
    wire.wait_for()
    box, twin = wire.bounding_box(), visitor.part("twin").bounding_box()
    end = twin["x"] + (column + 0.5) * twin["width"] / columns
    assert abs(box["x"] + box["width"] - end) < 6, (box, twin)


@pytest.mark.slow
def test_both_are_cut_into_the_parts_that_python_finds(go):
    visitor = go(PAIR)
    # Waits for the second picture, because a click before would cut only the first picture into parts
    visitor.page.locator(".match-words:not(:has-text('on their way'))").wait_for()
    visitor.page.locator(".match-words button").click()
    shown = visitor.until("r => r.what === 'parts' && r.map")
    here, _ = seen("twins").parts(other=seen("portrait"), layer=shown["layer"])
    ours = shown["map"][len(seen("twins").prefix) :]
    apart = sum(int(a) != b for a, b in zip(ours, here.flatten().tolist(), strict=True))
    print(f"{apart} of {len(ours)} patches differ, because numbers travel in sixteen bits")
    assert apart <= 0.03 * len(ours)
    visitor.part("sentence").filter(has_text="The part that this patch belongs to covers").wait_for()
    assert "of the other" in visitor.part("sentence").inner_text()
    visitor.page.locator(".match-words button").click()
    visitor.until("r => r.what === 'weight'")


def test_what_is_compared_shares_one_exposure_and_one_scale(go):
    one, other = seen("twins"), seen("portrait")
    visitor = go(PAIR)
    visitor.hover((4, 5))
    shown = visitor.until("r => r.query === '4,5' && r.match")
    layer, head = shown["layer"], shown["head"]
    place = maps.same_place((4, 5), one, other)
    rows = [trace.on_grid(trace.row(layer, head, q)).numpy() for trace, q in ((one, (4, 5)), (other, place))]
    high = light.exposure(np.concatenate([row.ravel() for row in rows]))
    assert shown["domain"]["high"] == pytest.approx(high, rel=0.03)
    visitor.choice("what", "similarity").click()
    shown = visitor.until("r => r.what === 'similarity' && r.map && r.match")
    asked = one.features(layer)[one.token((4, 5))]
    both = [torch.cosine_similarity(trace.features(layer), asked[None], dim=-1) for trace in (one, other)]
    low = min(float(trace.on_grid(each).min()) for trace, each in zip((one, other), both, strict=True))
    assert shown["domain"]["high"] == pytest.approx(1, abs=1e-2)
    assert shown["domain"]["low"] == pytest.approx(low, abs=1e-2)
