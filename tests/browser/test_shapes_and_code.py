"""The lessons Shapes and Code: the main control of each changes its drawing, and a link restores it."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from browser.visitor import Visitor, with_small_picture


@pytest.fixture
def lesson(arrive, server):
    """lesson("shapes", "example=sentence") gives a visitor on that page."""

    def open_lesson(page, address="", **options) -> Visitor:
        visitor = arrive(Visitor, server.url, **options)
        visitor.page.goto(f"{server.url}/{page}?{with_small_picture(address)}")
        return visitor

    return open_lesson


def read(visitor, component: str, condition: str) -> dict:
    """A component's own read(), once it fulfils the condition."""
    script = f"""() => {{ const find = (root) => {{ for (const e of root.querySelectorAll("*")) {{
        const found = e.__{component} ?? (e.shadowRoot && find(e.shadowRoot));
        if (found) return found; }} return null; }};
        const r = find(document)?.read?.(); return r && ({condition})(r) ? r : null; }}"""
    return visitor.page.wait_for_function(script).json_value()


@pytest.mark.slow
def test_stepping_shows_the_next_tensor_and_the_link_brings_it_back(lesson):
    visitor = lesson("shapes", "example=sentence")
    assert read(visitor, "walk", "r => r.step === 1")["shape"] == [1, 4, 512]
    visitor.page.locator(".walk [data-step='4']").click()
    weights_state = read(visitor, "walk", "r => r.step === 5")
    assert weights_state["shape"] == [1, 8, 4, 4]
    row_sums = [sum(weights_state["groups"][0]["values"][i : i + 4]) for i in range(0, 8 * 16, 4)]
    assert all(abs(total - 1) < 2e-3 for total in row_sums)
    visitor.page.wait_for_url("**walk=5**")
    reopened_state = read(lesson("shapes", urlsplit(visitor.page.url).query), "walk", "r => r.step === 5")
    assert reopened_state["groups"] == weights_state["groups"]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 1440])
def test_with_four_heads_no_step_is_covered(lesson, width):
    visitor = lesson("shapes", "example=four-heads&step=4", viewport={"width": width, "height": 800})
    read(visitor, "walk", "r => r.step === 4")
    names = visitor.page.locator(".walk li b")
    assert len(set(names.evaluate_all("all => all.map((name) => name.offsetHeight)"))) == 1  # each name takes one line
    assert names.locator("sub").all_inner_texts() == ["O"]  # the index of W_O
    visitor.page.get_by_role("button", name="Softmax").click(timeout=5000)
    assert read(visitor, "walk", "r => r.step === 5")["shape"] == [13, 4, 100, 100]


@pytest.mark.slow
def test_a_layer_is_still_chosen_after_examples_that_have_none(lesson):
    visitor = lesson("shapes", "at=2")
    read(visitor, "walk", "r => r.shape[2] === 192")
    examples = visitor.page.locator(".lesson-choice")
    for example, width in (("4 tokens × 512, 8 heads", 512), ("13 × 100 × 49 → 64, 1 head", 49), ("This picture", 192)):
        examples.get_by_text(example, exact=True).click()
        read(visitor, "walk", f"r => r.shape[2] === {width}")
    layer = visitor.page.get_by_role("slider").first
    expect(visitor.page.locator(".lesson-slider output").first).to_have_text("2")
    layer.press("ArrowLeft")
    visitor.page.wait_for_url("**at=1**")


def test_an_impossible_width_is_explained_in_place(lesson):
    visitor = lesson("shapes", "example=own&dim=100&chan=100&heads=8")
    explanation = visitor.page.locator(".walk .refused").filter(has_text="96 or 104")
    explanation.wait_for()
    assert "5 or 10 heads" in explanation.inner_text()
    visitor.page.get_by_role("spinbutton", name="Heads").fill("5")
    visitor.page.keyboard.press("Enter")
    assert read(visitor, "walk", "r => r.step === 1")["shape"] == [1, 4, 100]
    visitor.page.wait_for_url("**heads=5**")


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
    state_before = read(visitor, "drawing", "r => r.weights")
    canvas = visitor.page.locator(".drawing canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    visitor.page.mouse.click(box["x"] + box["width"] * 0.2, box["y"] + box["height"] * 0.2)
    state_after = read(visitor, "drawing", f"r => r.patch !== {state_before['patch']}")
    assert abs(sum(state_after["weights"]) - 1) < 1e-3
    assert state_after["weights"] != state_before["weights"]
    for channel in state_after["desk"]:
        assert channel["heard"] == pytest.approx(channel["weight"] * channel["loud"])
    visitor.page.wait_for_url("**look=**")
    second_visitor = lesson("weight", urlsplit(visitor.page.url).query)
    assert read(second_visitor, "drawing", f"r => r.patch === {state_after['patch']}")["tops"] == state_after["tops"]
