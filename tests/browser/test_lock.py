"""The row of a locked patch stays, and a line says which weight this row gives the patch under the cursor."""

import re

import pytest

from browser.truth import assert_close, rounded_trace

LOCKED_PATCH, OTHER_PATCH = (7, 5), (2, 11)


@pytest.fixture
def visitor(visit):
    """A visitor at the picture, model and grid of `rounded_trace()`."""
    return visit("sample=meadow&model=bundled&detail=1")


def label(visitor):
    return visitor.page.locator(".lens .pair-label")


def number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def test_a_locked_row_stays_and_the_line_says_what_it_gives_the_patch_under_the_cursor(visitor):
    state = visitor.lock(LOCKED_PATCH)
    truth = rounded_trace()
    row = truth.row(state["layer"], state["head"], LOCKED_PATCH)
    for patch in (OTHER_PATCH, (12, 3)):
        state_under_cursor = visitor.aim(patch)
        assert state_under_cursor["query"] == "7,5"
        assert_close(state_under_cursor["row"], row)
        token = truth.token(patch)
        assert state_under_cursor["aim"]["weight"] == pytest.approx(float(row[token]), rel=1e-3)
        assert state_under_cursor["aim"]["rank"] == 1 + int((row > row[token]).sum())
        score = float(truth.scores(state["layer"], state["head"], LOCKED_PATCH)[token])
        assert state_under_cursor["aim"]["score"] == pytest.approx(score, abs=1e-3)
        text = label(visitor).inner_text()
        assert "gives this patch" in text
        assert f"rank {state_under_cursor['aim']['rank']} of {len(row)}" in text
        assert number(re.search(r"q·k/√\d+ = (\S+)", text)[1]) == pytest.approx(score, abs=0.06)
    visitor.leave()
    visitor.until("r => r.locked && !r.aim")
    assert not label(visitor).is_visible()
