"""A copied address opens the same view again."""

from urllib.parse import urlsplit

VIEW_KEYS = ("layer", "head", "query", "locked", "scale", "direction", "what", "row", "grid")


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


def test_the_address_opens_the_same_view_after_a_reload_and_for_somebody_else(visit):
    visitor = visit("sample=still-life")
    expected = choose_view(visitor)
    visitor.page.wait_for_url("**direction=column**")
    visitor.page.reload()
    assert_same_view(visitor, expected)
    assert_same_view(visit(urlsplit(visitor.page.url).query), expected)
