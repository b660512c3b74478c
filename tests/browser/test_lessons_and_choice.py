"""Lessons follow what is chosen in the toolbar: samples, an own picture, the address, links from page to page."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from browser.own_picture import assert_shows, hand_over, picture
from browser.server import serving
from browser.visitor import LOST_SERVER, REFUSED_REQUEST, Visitor
from playground.ui.pages import PAGES

NEXT_PAGE = [*PAGES][[*PAGES].index("patches") + 1]
FLOCK = "model=bundled&sample=flock"


def parameters_in(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))


def parameters(visitor) -> dict[str, str]:
    return parameters_in(visitor.page.url)


@pytest.fixture
def read(visit):
    """read("patches", "step=filters") gives a visitor on that page, who came from the microscope."""

    def open_(page: str, more_parameters: str = "", **options):
        visitor = visit(FLOCK, **options)
        visitor.page.goto(f"{visitor.url}/{page}?{FLOCK}&{more_parameters}")
        visitor.rest()
        return visitor

    return open_


def test_another_sample_is_drawn_and_stands_in_the_address_with_the_page_s_settings(read):
    visitor = read("patches", "step=filters&filter=14")
    visitor.pick("portrait")
    visitor.page.wait_for_url("**sample=portrait**")
    assert parameters(visitor)["filter"] == "14"  # a setting of the lesson stays in the address
    visitor.page.go_back()
    visitor.page.wait_for_url("**sample=flock**")
    visitor.page.locator('.toolbar[data-picture="flock"]').wait_for(state="attached")


def choose(visitor, name: str) -> dict[str, str]:
    """Presses one of a row of buttons; returns the parameters of the new address. Waits until they differ, because at
    first the page may only write the same parameters in another order."""
    parameters_before = parameters(visitor)
    chooser(visitor, name).click()
    visitor.page.wait_for_url(lambda url: parameters_in(url) != parameters_before)
    visitor.rest()
    return parameters(visitor)


def chooser(visitor, name: str):
    """The button of a step or of a choice."""
    return visitor.page.locator(".lesson-steps button, .lesson-choice button").filter(has_text=name).first


def wait_until_chosen(visitor, *names: str) -> None:
    chosen = visitor.page.locator('.lesson-steps [aria-current="step"], .lesson-choice [aria-pressed="true"]')
    for name in names:
        chosen.filter(has_text=name).wait_for()


def wait_for_parameters(visitor, expected: dict[str, str]) -> None:
    """Waits until the address holds exactly these parameters."""
    visitor.page.wait_for_url(lambda url: parameters_in(url) == expected)


def test_back_takes_a_setting_and_a_step_away_and_a_reload_keeps_them(read):
    visitor = read("patches")
    first_parameters = parameters(visitor)
    second_parameters = choose(visitor, "2 · ")
    third_parameters = choose(visitor, "Principal components")
    assert (second_parameters, third_parameters) == (
        first_parameters | {"step": "filters"},
        first_parameters | {"step": "filters", "pictures": "components"},
    )
    visitor.page.reload()
    wait_until_chosen(visitor, "2 · ", "Principal components")
    visitor.page.go_back()
    wait_until_chosen(visitor, "2 · ", "Filters")
    wait_for_parameters(visitor, second_parameters)
    visitor.page.go_back()
    wait_until_chosen(visitor, "1 · ")
    wait_for_parameters(visitor, first_parameters)
    visitor.page.go_forward()
    wait_until_chosen(visitor, "2 · ", "Filters")
    wait_for_parameters(visitor, second_parameters)


@pytest.mark.slow
def test_a_lesson_that_is_open_while_the_server_restarts_goes_on_in_its_step(arrive):
    with serving() as server:
        visitor = arrive(Visitor, server.url)
        visitor.forgiven_errors = re.compile(f"{LOST_SERVER.pattern}|{REFUSED_REQUEST.pattern}")
        visitor.page.goto(f"{server.url}/patches?{FLOCK}&step=positions")
        choose(visitor, "2 · ")
        parameters_before = choose(visitor, "Principal components")
        server.kill()
        server.start().wait()
        visitor.rest()
        wait_until_chosen(visitor, "2 · ", "Principal components")
        visitor.page.wait_for_url("**pictures=components**")
        assert parameters(visitor) == parameters_before


@pytest.mark.slow
def test_one_s_own_picture_stays_on_lessons_through_a_reload_back_and_the_next_page(visit):
    visitor, data = visit(FLOCK), picture(320, 240)
    hand_over(visitor, "drop", data)
    assert_shows(visitor, data, "dropped.jpg")
    picture_id = parameters(visitor)["mine"]
    visitor.unfold("pages").get_by_role("link", name="Patches").click()
    drawing = visitor.page.locator(".drawing .apart")
    drawing.wait_for()
    assert parameters(visitor)["mine"] == picture_id
    visitor.page.reload()
    drawing.wait_for()
    visitor.page.locator(f'.toolbar[data-picture="mine:{picture_id}"]').wait_for(state="attached")
    visitor.page.go_back()
    assert_shows(visitor, data, "dropped.jpg")
    visitor.page.go_forward()
    drawing.wait_for()
    chooser(visitor, "5 · Without positions").click()
    link = visitor.page.get_by_text("Next: ").last
    link.wait_for()
    visitor.rest()
    link.click()
    visitor.page.wait_for_url(f"**/{NEXT_PAGE}**")
    assert parameters(visitor)["mine"] == picture_id


def test_the_last_step_leads_to_the_next_page_with_all_that_is_chosen(read):
    visitor = read("patches", "step=shuffle")
    visitor.page.get_by_role("link", name="Next: ").click()
    visitor.page.wait_for_url(f"**/{NEXT_PAGE}**")
    assert {"sample": "flock", "model": "bundled"}.items() <= parameters(visitor).items()


@pytest.mark.parametrize("page", ["", "patches"])
def test_a_class_link_hides_the_toolbar_and_the_ways_to_other_pages(visit, page):
    visitor = visit(f"{FLOCK}&class=yes")
    if page:
        visitor.page.goto(f"{visitor.url}/{page}?{FLOCK}&class=yes")
        visitor.page.locator(".drawing .apart").wait_for()
    visitor.rest()
    assert not visitor.page.locator(".toolbar .opener.pages").is_visible()
    assert not visitor.page.locator(".toolbar .opener.pictures").is_visible()
    assert visitor.page.get_by_role("link", name="Next: ").count() == 0
    assert parameters(visitor)["class"] == "yes"
