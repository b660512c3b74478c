"""The lessons Shapes and Code: the main control of each changes its drawing, and a link restores it."""

import re
from urllib.parse import urlsplit

import pytest

from browser.visitor import Visitor, with_small_picture


@pytest.fixture
def lesson(arrive, server):
    """lesson("shapes", "example=sentence") gives a visitor on that page."""

    def open_lesson(page, address="", **options) -> Visitor:
        visitor = arrive(Visitor, server.url, **options)
        visitor.page.goto(f"{server.url}/{page}?{with_small_picture(address)}")
        return visitor

    return open_lesson


@pytest.mark.slow
def test_stepping_shows_the_next_tensor_and_the_link_brings_it_back(lesson):
    visitor = lesson("shapes", "example=sentence")
    assert visitor.drawing("*", "r => r.step === 1")["shape"] == [1, 4, 512]
    visitor.page.locator(".walk [data-step='4']").click()
    weights_state = visitor.drawing("*", "r => r.step === 5")
    assert weights_state["shape"] == [1, 8, 4, 4]
    row_sums = [sum(weights_state["groups"][0]["values"][i : i + 4]) for i in range(0, 8 * 16, 4)]
    assert all(abs(total - 1) < 2e-3 for total in row_sums)
    visitor.page.wait_for_url("**walk=5**")
    reopened_state = lesson("shapes", urlsplit(visitor.page.url).query).drawing("*", "r => r.step === 5")
    assert reopened_state["groups"] == weights_state["groups"]


def test_the_formula_stands_in_the_line_that_it_belongs_to(lesson):
    visitor = lesson("code", "part=layer")
    line = visitor.page.locator(".read .noted").filter(has_text="self.ls1(mixture)")
    line.wait_for()
    assert "MSA(LN(" in line.locator("em").inner_text()
    visitor.page.get_by_role("button", name="Heads", exact=True).click()
    visitor.page.locator(".read .noted").filter(has_text="self.qkv(x)").wait_for()
    visitor.page.wait_for_url(re.compile("part=heads"))


def test_weight_and_contribution_follow_the_cursor_and_the_link(lesson):
    visitor = lesson("weight")
    state_before = visitor.drawing("*", "r => r.weights")
    canvas = visitor.page.locator(".drawing canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    visitor.page.mouse.click(box["x"] + box["width"] * 0.2, box["y"] + box["height"] * 0.2)
    state_after = visitor.drawing("*", f"r => r.patch !== {state_before['patch']}")
    assert abs(sum(state_after["weights"]) - 1) < 1e-3
    assert state_after["weights"] != state_before["weights"]
    for channel in state_after["desk"]:
        assert channel["heard"] == pytest.approx(channel["weight"] * channel["loud"])
    visitor.page.wait_for_url("**look=**")
    second_visitor = lesson("weight", urlsplit(visitor.page.url).query)
    assert second_visitor.drawing("*", f"r => r.patch === {state_after['patch']}")["tops"] == state_after["tops"]
