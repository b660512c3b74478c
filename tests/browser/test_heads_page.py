"""The lesson on heads in a browser: the atlas answers the mouse and opens the microscope, and its switches work."""

import pytest

from browser.truth import python_trace
from browser.visitor import Visitor, with_small_picture
from playground.analysis.heads import measure_heads


@pytest.fixture
def lesson(arrive, server):
    """lesson("measure=distance") gives a visitor on the lesson Heads."""

    def open_(address: str = "", **options):
        visitor = arrive(Visitor, server.url, **options)
        visitor.page.goto(f"{visitor.url}/heads?{with_small_picture(address)}")
        visitor.page.locator(".atlas .cell, .board .cell").first.wait_for()
        return visitor

    return open_


def cell(page, layer: int, head: int, board: str = "atlas"):
    return page.locator(f'.{board} [data-layer="{layer}"][data-head="{head}"]')


def colours(page) -> list[str]:
    return page.locator(".atlas .cell").evaluate_all("cells => cells.map((c) => c.style.background)")


def test_the_atlas_says_what_python_says_and_its_measure_changes_its_colours(lesson):
    page = lesson("sample=flock&step=atlas").page
    habits = measure_heads(python_trace("flock"))
    cell(page, 2, 3).hover()
    card = page.locator(".atlas .card")
    card.get_by_text("Layer 2 · head 3").wait_for()
    assert card.locator(".habit").inner_text().lower() == habits.habit_names()[2][3].lower()
    assert f"{habits.entropy[2, 3]:.2f} bits" in card.inner_text()
    assert f"{habits.distance[2, 3]:.1f} patches" in card.inner_text()
    colours_before = colours(page)
    page.get_by_role("button", name="distance", exact=True).click()
    page.locator('.atlas[data-measure="distance"]').wait_for()
    assert colours(page) != colours_before
    page.wait_for_url("**measure=distance**")
