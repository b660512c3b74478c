"""Faults that no visitor causes: the server is lost, or a tab is closed during a computation."""

import re

import pytest

from browser.own_picture import assert_shows, hand_over, picture
from browser.server import serving
from browser.visitor import LOST_SERVER, PatientVisitor

CHOICE_KEYS = ("layer", "head", "query", "locked", "row")


@pytest.fixture(scope="module")
def server():
    """A slow server, which computes one picture at a time."""
    with serving(PLAYGROUND_AT_ONCE="1", OMP_NUM_THREADS="1") as running_server:
        yield running_server
        running_server.kill()  # so that it does not finish passes that nobody waits for


@pytest.fixture
def visit(arrive, server):
    return lambda address="": arrive(PatientVisitor, server.url).open(address)


def choice_in(state: dict) -> dict:
    return {key: state[key] for key in CHOICE_KEYS}


# The server is lost and comes back ------------------------------------------------------------------------------------


@pytest.fixture
def chooser(visit):
    """A visitor who has chosen a sample, a layer, a head and a patch."""
    visitor = visit("sample=flock&layer=2")
    visitor.choose_head(1)
    visitor.lock((3, 4))
    visitor.page.wait_for_url("**head=1**locked=true**")
    return visitor


def test_a_page_outlives_its_server_and_finds_the_next_one_by_itself(chooser, server):
    choice_before, link = choice_in(chooser.read()), chooser.page.url
    server.kill()
    chooser.page.keyboard.press("Escape")
    chooser.hover((8, 8))  # works without the server, because the numbers are in the browser
    chooser.lock((3, 4))
    server.start().wait()
    assert choice_in(chooser.read()) == choice_before
    assert chooser.page.url.split("?")[1] == link.split("?")[1]
    chooser.pick("portrait")
    chooser.page.wait_for_url("**sample=portrait**")
    assert chooser.read()["layer"] == 2


@pytest.mark.slow
def test_the_next_server_is_sent_the_visitor_s_own_picture(visit, server):
    visitor, data = visit("sample=flock"), picture(320, 240)
    visitor.forgiven_errors = re.compile(f"{LOST_SERVER.pattern}|status of 404 .*/api/")
    hand_over(visitor, "drop", data)
    assert_shows(visitor, data, "dropped.jpg")
    link = visitor.page.url
    for page, selector in (("", ".lens"), ("patches", ".drawing .pair")):
        server.kill()
        server.start().wait()
        visitor.page.goto(link.replace("/?", f"/{page}?"))
        visitor.page.locator(selector).first.wait_for()
        visitor.rest()
        assert "mine=" in visitor.page.url
        if not page:
            assert_shows(visitor, data, "dropped.jpg")
            assert visitor.uploaded == ["dropped.jpg"] * 2, "once to each server"
