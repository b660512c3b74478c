"""A lock holds: the row stays, a line says what it gives the patch under the cursor, a click shows the arithmetic."""

import re

import numpy as np
import pytest

from browser.truth import assert_close, sent

LOCKED, OTHER = (7, 5), (2, 11)
LARGEST = (7, 7)  # where the locked patch looks most, in the layer and head that are shown first


@pytest.fixture
def visitor(visit):
    """On a picture and a model that Python's truth is about."""
    return visit("sample=meadow&model=bundled&detail=1")


def label(visitor):
    return visitor.page.locator(".lens .pair-label")


def number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def test_a_locked_row_stays_and_the_line_says_what_it_gives_the_patch_under_the_cursor(visitor):
    shown = visitor.lock(LOCKED)
    truth = sent()
    row = truth.row(shown["layer"], shown["head"], LOCKED)
    for patch in (OTHER, (12, 3)):
        seen = visitor.aim(patch)
        assert seen["query"] == "7,5"
        assert_close(seen["row"], row)
        token = truth.token(patch)
        assert seen["aim"]["weight"] == pytest.approx(float(row[token]), rel=1e-3)
        assert seen["aim"]["rank"] == 1 + int((row > row[token]).sum())
        score = float(truth.scores(shown["layer"], shown["head"], LOCKED)[token])
        assert seen["aim"]["score"] == pytest.approx(score, abs=1e-3)
        said = label(visitor).inner_text()
        assert "gives this patch" in said
        assert f"rank {seen['aim']['rank']} of {len(row)}" in said
        assert number(re.search(r"q·k/√\d+ = (\S+)", said)[1]) == pytest.approx(score, abs=0.06)
    visitor.leave()
    visitor.until("r => r.locked && !r.aim")
    assert not label(visitor).is_visible()


def test_a_click_on_the_label_opens_the_arithmetic_of_that_weight(visitor):
    shown = visitor.lock(LOCKED)
    visitor.aim(LARGEST)
    visitor.page.locator(".lens .pair-label.resting").click()
    panel = visitor.page.locator(".lens .sums")
    panel.locator("dd").last.filter(has_text="%").wait_for()
    truth, (layer, head) = sent(), (shown["layer"], shown["head"])
    query, key = truth.token(LOCKED), truth.token(LARGEST)
    q, k = (part[head].float().numpy() for part in truth.record[layer][:2])
    products = q[query] * k[key]
    dot, score, exponential, share = (text.split()[0] for text in panel.locator("dd").all_inner_texts())
    assert number(dot) == pytest.approx(products.sum(), abs=0.01)
    assert number(score) == pytest.approx(products.sum() * truth.native_scale, abs=0.01)
    scores = k @ q[query] * truth.native_scale
    assert number(exponential) == pytest.approx(float(np.exp(scores[key] - scores.max())), rel=0.01)
    weight = float(truth.row(layer, head, LOCKED)[key])
    assert number(share) / 100 == pytest.approx(weight, abs=max(2e-4, 0.05 * weight))
    place, a, b, product = re.search(r"number (\d+) of .*: (\S+) × (\S+) = (\S+)", panel.inner_text()).groups()
    assert int(place) - 1 == int(abs(products).argmax())
    assert number(a) * number(b) == pytest.approx(number(product), abs=0.05)
    before = panel.inner_text()
    visitor.aim((9, 9))  # live: it follows the cursor
    assert panel.inner_text() != before
    visitor.page.keyboard.press("Escape")
    panel.wait_for(state="hidden")
    assert visitor.read()["locked"]
