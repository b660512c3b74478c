"""The requests of a visit: what a reload fetches again, and which data the page sends to which host."""

import json

from browser.own_picture import assert_shows, hand_over, picture
from browser.visitor import REFUSED_REQUEST, Visitor


def test_a_reload_shows_one_s_own_photograph_again_and_brings_it_no_second_time(visit):
    visitor, data = visit(), picture(320, 240)
    hand_over(visitor, "drop", data, title="mine.jpg")
    assert_shows(visitor, data, "mine.jpg")
    visitor.page.reload()
    assert_shows(visitor, data, "mine.jpg")
    assert visitor.uploaded == ["mine.jpg"]


def test_a_photograph_that_this_browser_has_not_is_said_to_be_gone(arrive, server):
    visitor = arrive(Visitor, server.url).open(
        "mine=0123456789abcdef", sentence="This browser does not have that photograph"
    )
    assert "mine=" not in visitor.page.url
    assert visitor.uploaded == []


def test_a_page_that_is_older_than_the_server_offers_one_reload(arrive, server):
    visitor = arrive(Visitor, server.url)
    visitor.forgiven_errors = REFUSED_REQUEST

    def answer_as_older(route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=json.loads(answer.text()) | {"digest": "0" * 16})

    visitor.open()
    visitor.page.route("**/api/trace?**", answer_as_older)
    visitor.press_sample("portrait")
    visitor.hears("This page is older than the server")
    offers = visitor.page.locator(".attention-notice").get_by_role("button", name="reload it")
    assert offers.count() == 1
    visitor.page.unroute("**/api/trace?**")
    offers.click()
    visitor.shows("portrait")
