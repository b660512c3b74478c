"""Guess, lock, reveal, in a browser: every question of every lesson, what is held back, and what the browser keeps."""

import pytest

from browser.visitor import Visitor, coarse
from playground.ui.guess import IDS

# Page and address -> what is not on the screen before the guess; "": the answer is in no picture of the page.
PAGES = {
    ("by_hand", ""): "",
    ("by_hand", "step=values"): ".drawing .pair",
    ("patches", ""): ".drawing .apart",
    ("patches", "step=shuffle"): ".drawing [data-ref=back]",
    ("shapes", ""): ".walk",
    ("block", ""): ".js-plotly-plot",
    ("block", "step=stream"): ".js-plotly-plot",
    ("scale", ""): ".softmax",
    ("heads", ""): "",
    ("heads", "step=sum"): "",
    ("weight", ""): ".carried canvas",
    ("cost", ""): ".st-key-square",
    ("two_ways", "step=shift"): "[data-testid^=stImage]",
    ("training", ""): ".reel",
    ("training", "step=pair"): "",
    ("code", "step=twice"): "[data-testid=stCode]",
}


@pytest.fixture
def visitor(arrive, server):
    return arrive(Visitor, server.url, newcomer=True)


def test_every_question_is_guessed_locked_and_answered(visitor):
    page, answered = visitor.page, 0
    for (name, words), held_back in PAGES.items():
        page.goto(f"{visitor.url}/{name}?{coarse(words)}")
        page.locator(".guess .field *").first.wait_for()
        visitor.rest()
        assert not held_back or page.locator(held_back).count() == 0, f"{name}: {held_back} is there"
        for number in range(page.locator(".guess").count()):
            box = page.locator(".guess").nth(number)
            guess(page, box)
            box.get_by_role("button", name="Lock my guess").click()
            box.locator(".told").wait_for()
            assert box.locator(".told b").inner_text().strip(), f"{name} says nothing"
            answered += 1
        if held_back:
            page.locator(held_back).first.wait_for()
    assert answered == len(IDS)
    page.locator(".overview").get_by_text(f"{len(IDS)} of {len(IDS)} questions guessed").wait_for()
    page.get_by_role("button", name="forget them").click()
    page.reload()
    page.locator(".overview nav").wait_for()
    assert "guessed" not in page.locator(".overview").inner_text()


def guess(page, box) -> None:
    if box.locator("input").count():
        box.locator("input").fill(box.locator("input").get_attribute("max"))
    elif box.locator(".choices").count():
        box.locator(".choices button").first.click()
    else:
        canvas = box.locator("canvas").first
        canvas.scroll_into_view_if_needed()
        place = canvas.bounding_box()
        page.mouse.move(place["x"] + place["width"] / 3, place["y"] + place["height"] / 3)
        page.mouse.down()
        page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2, steps=4)
        page.mouse.up()


def test_a_painted_row_is_still_there_after_a_reload_and_asked_again_about_another_picture(visitor):
    page = visitor.page
    page.goto(f"{visitor.url}/heads?{coarse('')}")
    box = page.locator(".guess")
    box.locator("canvas").first.wait_for()
    guess(page, box)
    box.get_by_role("button", name="Lock my guess").click()
    box.locator(".told b").wait_for()
    said = box.locator(".told").inner_text()
    assert "Overlap" in said
    page.reload()
    box.locator(".told b").wait_for()
    assert box.locator(".told").inner_text() == said
    visitor.pick("flock")
    box.get_by_role("button", name="Lock my guess").wait_for()  # there is nothing else to see: it is asked again
    assert box.locator(".told").is_hidden()


def test_a_result_is_shown_for_another_picture_and_may_be_guessed_once_more(visitor):
    page = visitor.page
    page.goto(f"{visitor.url}/block?{coarse('step=stream')}")
    box = page.locator(".guess")
    box.locator("input").wait_for()
    guess(page, box)
    box.get_by_role("button", name="Lock my guess").click()
    box.locator(".told b").wait_for()
    visitor.pick("flock")
    box.get_by_text("You guessed this about something else").wait_for()
    page.locator(".js-plotly-plot").first.wait_for()
    box.get_by_role("button", name="Guess once more").click()
    box.get_by_role("button", name="Lock my guess").wait_for()
    assert box.locator(".told").is_hidden()


def test_a_box_of_the_overview_leads_to_its_page(visitor):
    visitor.page.goto(f"{visitor.url}/cost?{coarse('')}")
    visitor.page.locator(".overview").get_by_role("button", name="MLP", exact=True).click()
    visitor.page.wait_for_url("**/block**")
    visitor.page.get_by_role("heading", name="Block").wait_for()
