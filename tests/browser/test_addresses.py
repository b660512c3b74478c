"""A copied address opens the same view again; an address that asks for something missing still opens the page."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from browser.truth import TOLERANCE, assert_close, largest_difference, python_trace
from browser.visitor import REFUSED_REQUEST, Visitor

VIEW_KEYS = ("layer", "head", "query", "locked", "scale", "direction", "what", "row", "grid")
HOSTILE_ADDRESSES = [
    "sample=../../etc/passwd&model=../../../etc/passwd&with=sample:../meadow",
    "model=<script>alert(1)</script>&sample=<img src=x onerror=alert(1)>",
    "layer=999&head=-1&query=999,999&scale=1e400&detail=99&k=4&depth=0&draw=dark",
    "sample=%00&sample=flock&layer=NaN&locked=maybe&what=__proto__&beside=constructor&query=%E2%80%AE7,5",
    "with=model:nonsense/../..&with=sample:nobody&view=x&lens=y&strip=z&model=",
]


def choose_view(visitor) -> dict:
    visitor.lock((3, 9))
    visitor.choose_layer(1)
    visitor.choose_head(2)
    visitor.part("switch").click()
    visitor.choice("direction", "column").click()
    return visitor.until("r => r.scale === 1 && r.direction === 'column' && r.ready")


def assert_same_view(visitor, expected: dict) -> None:
    state = visitor.until("r => r.locked && r.direction === 'column' && r.ready")
    assert {key: state[key] for key in VIEW_KEYS} == {key: expected[key] for key in VIEW_KEYS}


def test_the_address_opens_the_same_view_for_somebody_else(visit):
    visitor = visit("sample=still-life")
    expected = choose_view(visitor)
    visitor.page.wait_for_url("**direction=column**")
    assert_same_view(visit(urlsplit(visitor.page.url).query), expected)


@pytest.mark.slow
def test_a_copied_link_opens_the_same_view_for_somebody_else(visit):
    visitor = visit("sample=still-life", permissions=["clipboard-read", "clipboard-write"])
    expected = choose_view(visitor)
    visitor.page.locator(".toolbar .sending").click()
    visitor.page.locator('[data-share="link"]').click()
    visitor.part("shareSave").click()
    visitor.part("shareStatus").filter(has_text="Link copied").wait_for()
    link = visitor.page.evaluate("navigator.clipboard.readText()")
    assert_same_view(visit(urlsplit(link).query), expected)


def test_a_reload_keeps_the_view(visit):
    visitor = visit()
    expected = choose_view(visitor)
    visitor.page.wait_for_url("**direction=column**")
    visitor.page.reload()
    assert_same_view(visitor, expected)


def test_back_returns_to_the_former_picture(go):
    visitor = go("model=bundled&sample=meadow")
    visitor.pick("flock")
    visitor.page.wait_for_url("**sample=flock**")
    visitor.page.go_back()
    visitor.page.wait_for_url("**sample=meadow**")
    visitor.shows("meadow")
    state = visitor.hover((4, 4))
    flock_row, meadow_row = (
        python_trace(name).row(state["layer"], state["head"], (4, 4)) for name in ("flock", "meadow")
    )
    assert_close(state["row"], meadow_row)
    assert largest_difference(state["row"], flock_row) > TOLERANCE


def test_one_step_back_leaves_the_app_where_nothing_was_chosen(visit):
    visitor = visit()
    visitor.hover((4, 4))
    visitor.page.go_back()
    assert visitor.page.url == "about:blank"


def test_the_address_says_only_what_was_chosen(go):
    visitor = go()
    visitor.pick("portrait")
    visitor.page.wait_for_url("**sample=portrait**")
    assert parse_qs(urlsplit(visitor.page.url).query) == {"model": ["bundled"], "sample": ["portrait"]}


@pytest.mark.parametrize("address", HOSTILE_ADDRESSES, ids=range(len(HOSTILE_ADDRESSES)))
def test_a_hostile_address_shows_the_default_page(visitor, address):
    visitor.forgiven_errors = REFUSED_REQUEST
    visitor.open(address)
    assert visitor.read()["layer"] >= 0
    query = parse_qs(urlsplit(visitor.page.url).query)
    assert query["model"] == ["bundled"]
    assert query["sample"][0] in ("meadow", "flock")
    assert len(visitor.page.url) < 300


@pytest.mark.slow
def test_a_missing_model_is_said_and_the_page_keeps_its_model(visit):
    visitor = visit("model=vit_nonsense_patch3", sentence="vit nonsense patch3 is not on this server")
    assert "model=bundled" in visitor.page.url
    visitor = visit("sample=flock")
    visitor.unfold("model").get_by_role("searchbox").fill("resnet50")
    visitor.page.get_by_text("No model that loads is called so").wait_for()
    visitor.page.keyboard.press("Escape")
    state = visitor.hover((4, 4))
    assert_close(state["row"], python_trace("flock").row(state["layer"], state["head"], (4, 4)))
    assert visitor.page.url.endswith("?model=bundled&sample=flock")


@pytest.mark.parametrize(
    ("address", "left_out_words"),
    [
        ("model=bundled&sample=meadow&layer=4&label=landscape", "label=landscape"),
        ("model=bundled&sample=meadow&layer=40", "layer=40"),
        ("model=bundled&sample=nobody", "sample=nobody"),
        ("model=bundled&sample=meadow&what=nothing&query=90%2C90&locked=true", "what=nothing and query=90,90"),
    ],
)
def test_what_an_address_asks_for_and_the_page_cannot_show_is_said(arrive, server, address, left_out_words):
    visitor = arrive(Visitor, server.url)
    visitor.forgiven_errors = re.compile("status of 400 .*layers=40")  # the page does not know the model's depth yet
    visitor.page.goto(f"{server.url}/?{address}")
    text = visitor.hears("The address asks for")
    assert f"asks for {left_out_words}, which this page can't show: it is left out." in text.replace("\n", " ")
    assert ("A label is said by its number." in text) == ("label" in left_out_words)


@pytest.mark.slow
def test_nothing_is_left_out_of_an_address_that_the_page_wrote(visit):
    visitor = visit("sample=still-life")
    choose_view(visitor)
    visitor.page.wait_for_url("**direction=column**")
    visitor.page.reload()
    visitor.until("r => r.locked && r.direction === 'column' && r.ready")
    assert not [sentence for sentence in visitor.page.evaluate("sentences()") if "asks for" in sentence]


def test_without_a_network_a_model_of_the_list_is_said_to_be_out_of_reach(visit):
    visitor = visit("model=bundled&sample=flock")
    visitor.forgiven_errors = REFUSED_REQUEST
    visitor.pick_model("DINO S/16")
    visitor.page.locator(".sheet .model-fetching").filter(has_text="this server fetches nothing").wait_for()
    visitor.page.keyboard.press("Escape")
    visitor.hover((4, 4))
    assert "model=bundled" in visitor.page.url
