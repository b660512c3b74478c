"""Guess, lock, reveal, in a browser: every question of every lesson, and what the browser keeps of it."""

import pytest

from browser.visitor import Visitor, coarse
from playground.ui.guess import IDS

PAGES = {
    "by_hand": "", "patches": "", "shapes": "", "block": "", "block ": "step=stream", "scale": "", "heads": "",
    "weight": "", "cost": "", "two_ways": "step=shift", "training": "", "code": "",
}  # fmt: skip


@pytest.fixture
def visitor(arrive, server):
    return arrive(Visitor, server.url)


def test_every_question_is_guessed_locked_and_answered(visitor):
    page, answered = visitor.page, 0
    for name, words in PAGES.items():
        page.goto(f"{visitor.url}/{name.strip()}?{coarse(words)}")
        page.locator(".guess .field *").first.wait_for()
        visitor.rest()
        for number in range(page.locator(".guess").count()):
            box = page.locator(".guess").nth(number)
            guess(page, box)
            box.get_by_role("button", name="Lock my guess").click()
            box.locator(".told").wait_for()
            assert box.locator(".told b").inner_text().strip(), f"{name} says nothing"
            answered += 1
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


def test_a_box_of_the_overview_leads_to_its_page(visitor):
    visitor.page.goto(f"{visitor.url}/cost?{coarse('')}")
    visitor.page.locator(".overview").get_by_role("button", name="MLP", exact=True).click()
    visitor.page.wait_for_url("**/block**")
    visitor.page.get_by_role("heading", name="Block").wait_for()
