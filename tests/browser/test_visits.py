"""The requests of a visit: what a reload fetches again, and which data the page sends to which host."""

import json
import re

import pytest

from browser.own_picture import assert_shows, hand_over, picture
from browser.server import serving
from browser.visitor import LOST_SERVER, REFUSED_REQUEST, Visitor

MOST_RELOAD_KB = 20  # most kilobytes that a reload may fetch


class NetworkMeter:
    """`received` maps each address, or "WebSocket", to the bytes that a page received over the network, not from a
    cache."""

    def __init__(self, visitor):
        self.received: dict[str, int] = {}
        self._urls: dict[str, str] = {}
        self._page = visitor.page
        session = visitor.context.new_cdp_session(visitor.page)
        session.on("Network.requestWillBeSent", lambda e: self._urls.__setitem__(e["requestId"], e["request"]["url"]))
        session.on("Network.loadingFinished", self._loaded)
        session.on("Network.webSocketFrameReceived", self._frame_received)
        session.send("Network.enable")

    def _loaded(self, event: dict) -> None:
        url = self._urls.get(event["requestId"], "?")
        self.received[url] = self.received.get(url, 0) + event["encodedDataLength"]

    def _frame_received(self, event: dict) -> None:
        response = event["response"]
        size = len(response["payloadData"]) * 3 // 4 if response["opcode"] == 2 else len(response["payloadData"])
        self.received["WebSocket"] = self.received.get("WebSocket", 0) + size

    def wait_for_answers(self, part: str, count: int) -> None:
        """Waits until answers have come from `count` addresses that contain `part`."""
        while sum(part in url for url in self.received) < count:
            self._page.evaluate("() => new Promise(requestAnimationFrame)")
        self.received.clear()

    @property
    def kilobytes(self) -> float:
        return sum(self.received.values()) / 1000

    def report(self) -> str:
        largest_answers = sorted(self.received.items(), key=lambda one: -one[1])[:20]
        return "\n".join([f"{self.kilobytes:.1f} KB", *(f"{size:8} {url}" for url, size in largest_answers)])


def wait_for_everything(visitor) -> None:
    visitor.until("r => r.waits === ''")
    visitor.rest()


def test_a_reload_fetches_nearly_nothing(arrive, server):
    visitor = arrive(Visitor, server.url)
    meter = NetworkMeter(visitor)
    visitor.open("model=bundled&sample=flock")
    visitor.open_row("head")  # which shows the names
    wait_for_everything(visitor)
    meter.wait_for_answers("/names?", 6)
    visitor.page.reload()
    wait_for_everything(visitor)
    print(meter.report())
    assert meter.kilobytes <= MOST_RELOAD_KB, meter.report()


def test_a_reload_shows_one_s_own_photograph_again_and_brings_it_no_second_time(visit):
    visitor, data = visit(), picture(320, 240)
    hand_over(visitor, "drop", data, title="mine.jpg")
    assert_shows(visitor, data, "mine.jpg")
    visitor.page.reload()
    assert_shows(visitor, data, "mine.jpg")
    assert visitor.uploaded == ["mine.jpg"]


@pytest.mark.slow
def test_a_page_that_stays_open_while_the_server_restarts_goes_on_with_the_photograph(arrive):
    data = picture(320, 240)
    with serving() as server:
        visitor = arrive(Visitor, server.url).open()
        visitor.forgiven_errors = re.compile(f"{LOST_SERVER.pattern}|{REFUSED_REQUEST.pattern}")
        hand_over(visitor, "drop", data, title="mine.jpg")
        assert_shows(visitor, data, "mine.jpg")
        picture_id = visitor.read()["picture"]
        server.kill()
        server.start().wait()
        visitor.page.locator(".toolbar > .rest select").select_option("2")  # no server holds the trace of this grid
        visitor.until("r => r.grid[0] > 20")
        visitor.shows(f"mine:{picture_id}")
        assert visitor.uploaded == ["mine.jpg", "mine.jpg"]
        visitor.check()


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
