"""Lessons follow what is chosen in the toolbar: samples, an own picture, the address, links from page to page."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from browser.own_picture import assert_shows, hand_over, picture
from browser.server import serving
from browser.visitor import LOST, REFUSED, Visitor
from playground.lessons import teaching
from playground.ui.pages import PAGES, next_page

NEXT = next_page(PAGES["patches"]).name
FLOCK = "model=bundled&sample=flock"


def words_in(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))


def words(visitor) -> dict[str, str]:
    return words_in(visitor.page.url)


@pytest.fixture
def read(visit):
    """read("patches", "step=filters") gives a visitor on that page, who came from the microscope."""

    def open_(page: str, more_words: str = "", **options):
        visitor = visit(FLOCK, **options)
        visitor.page.goto(f"{visitor.url}/{page}?{FLOCK}&{more_words}")
        visitor.rest()
        return visitor

    return open_


def test_another_sample_is_drawn_and_stands_in_the_address_with_the_page_s_settings(read):
    visitor = read("patches", "step=filters&filter=14")
    visitor.pick("portrait")
    visitor.page.wait_for_url("**sample=portrait**")
    assert words(visitor)["filter"] == "14"  # a setting of the lesson stays in the address
    visitor.page.go_back()
    visitor.page.wait_for_url("**sample=flock**")
    visitor.page.locator('.strip [data-sample="flock"][aria-pressed="true"]').wait_for()


def choose(visitor, name: str) -> dict[str, str]:
    """Presses one of a row of buttons; returns the words of the new address. Waits until the words differ, because at
    first the page may only write the same words in another order."""
    words_before = words(visitor)
    visitor.page.get_by_role("radio", name=name).click()
    visitor.page.wait_for_url(lambda url: words_in(url) != words_before)
    visitor.rest()
    return words(visitor)


def is_chosen(visitor, *names: str) -> None:
    for name in names:
        visitor.page.get_by_role("radio", name=name, checked=True).wait_for()


def says(visitor, expected: dict[str, str]) -> None:
    """Waits until the address holds exactly these words: the server sends them once it has drawn the page."""
    visitor.page.wait_for_url(lambda url: words_in(url) == expected)


def test_back_takes_a_setting_and_a_step_away_and_a_reload_keeps_them(read):
    visitor = read("patches")
    first_words = words(visitor)
    second_words = choose(visitor, "2 · ")
    third_words = choose(visitor, "Principal components")
    assert (second_words, third_words) == (first_words | {"step": "filters"}, first_words | {"pictures": "components"})
    visitor.page.reload()
    is_chosen(visitor, "2 · ", "Principal components")
    visitor.page.go_back()
    is_chosen(visitor, "2 · ", "Filters")
    says(visitor, second_words)
    visitor.page.go_back()
    is_chosen(visitor, "1 · ")
    says(visitor, first_words)
    visitor.page.go_forward()
    is_chosen(visitor, "2 · ", "Filters")
    says(visitor, second_words)


@pytest.mark.slow
def test_a_lesson_that_is_open_while_the_server_restarts_goes_on_in_its_step(arrive):
    """Only the browser writes the address, so Streamlit would restart the lesson from an older one."""
    with serving() as server:
        visitor = arrive(Visitor, server.url)
        visitor.forgiven = re.compile(f"{LOST.pattern}|{REFUSED.pattern}")
        visitor.page.goto(f"{server.url}/patches?{FLOCK}&step=positions")
        choose(visitor, "2 · ")
        words_before = choose(visitor, "Principal components")
        server.kill()
        server.start().wait()
        visitor.rest()
        is_chosen(visitor, "2 · ", "Principal components")
        visitor.page.wait_for_url("**pictures=components**")
        assert words(visitor) == words_before


@pytest.mark.slow
def test_one_s_own_picture_stays_on_lessons_through_a_reload_back_and_the_next_page(visit):
    visitor, data = visit(FLOCK), picture(320, 240)
    hand_over(visitor, "drop", data)
    assert_shows(visitor, data, "dropped.jpg")
    picture_id = words(visitor)["mine"]
    visitor.unfold("pages").get_by_role("link", name="Patches").click()
    drawing = visitor.page.locator(".drawing .apart")
    drawing.wait_for()
    assert words(visitor)["mine"] == picture_id
    visitor.page.reload()
    drawing.wait_for()
    visitor.page.locator(f'.strip [data-sample="mine:{picture_id}"][aria-pressed="true"]').wait_for(state="attached")
    visitor.page.go_back()
    assert_shows(visitor, data, "dropped.jpg")
    visitor.page.go_forward()
    drawing.wait_for()
    visitor.page.get_by_test_id("stButtonGroup").get_by_text("5 · Without positions").click()
    link = visitor.page.get_by_text("Next: ").last
    link.wait_for()
    visitor.rest()
    link.click()
    visitor.page.wait_for_url(f"**/{NEXT}**")
    assert words(visitor)["mine"] == picture_id


def test_the_last_step_leads_to_the_next_page_with_all_that_is_chosen(read):
    visitor = read("patches", "step=shuffle")
    visitor.page.get_by_role("link", name="Next: ").click()
    visitor.page.wait_for_url(f"**/{NEXT}**")
    assert {"sample": "flock", "model": "bundled"}.items() <= words(visitor).items()


@pytest.mark.parametrize("page", ["", "patches"])
def test_a_class_link_hides_the_toolbar_and_the_ways_to_other_pages(visit, page):
    visitor = visit(f"{FLOCK}&class=yes")
    if page:
        visitor.page.goto(f"{visitor.url}/{page}?{FLOCK}&class=yes")
        visitor.page.locator(".drawing .apart").wait_for()
    visitor.rest()
    assert not visitor.page.locator(".toolbar .opener.pages").is_visible()
    assert not visitor.page.locator(".strip").is_visible()
    assert visitor.page.get_by_role("link", name="Next: ").count() == 0
    assert words(visitor)["class"] == "yes"


@pytest.mark.slow
def test_the_links_of_teach_open_their_scenes(visit):
    visitor = visit(FLOCK)
    visitor.page.goto(f"{visitor.url}/teach")
    table = visitor.page.locator("table").first
    table.wait_for()
    links = [link.get_attribute("href") for link in table.get_by_role("link").all()]
    scenes = teaching.PLANS[45]
    assert len(links) == len(scenes)
    for link in links:
        visitor.page.goto(f"{visitor.url}/{link.lstrip('./')}")
        visitor.page.locator(".toolbar .opener.pages").wait_for()
        visitor.rest()
        assert visitor.page.get_by_test_id("stException").count() == 0
        query, page_words = dict(parse_qsl(urlsplit(link).query)), words(visitor)
        # Addresses omit default values
        assert all(page_words.get(key, word) == word for key, word in query.items()), (link, page_words)
