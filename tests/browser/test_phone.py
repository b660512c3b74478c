"""The page on a phone: the camera comes first, all ways to look lie within two screens, and sharing works."""

import pytest
from playwright.sync_api import expect
from waiting import PATIENCE

PHONES = [(390, 844), *(pytest.param(size, marks=pytest.mark.slow) for size in ((360, 640), (844, 390), (640, 360)))]
SHARE_STUB = """() => {
  navigator.canShare = ({ files }) => files.every((file) => /^(image|video|text)\\//.test(file.type));
  navigator.share = (given) => {
    const [{ name, type, size }] = given.files;
    window.shared = { name, type, size, text: given.text };
    return Promise.resolve();
  };
}"""


def phone(visit, size=(390, 844), **options):
    visitor = visit(viewport={"width": size[0], "height": size[1]}, has_touch=True, is_mobile=True, **options)
    visitor.rest()
    return visitor


def move_fingers(visitor, *paths):
    session = visitor.context.new_cdp_session(visitor.page)
    for step, places in enumerate(zip(*paths, strict=True)):
        points = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(places)]
        kind = "touchMove" if step else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


SCROLL_TOP = """() => [document.scrollingElement, ...document.querySelectorAll('section, main, div')]
  .reduce((most, e) => Math.max(most, e?.scrollTop ?? 0), window.visualViewport.pageTop)"""


@pytest.mark.parametrize("size", PHONES)
def test_everything_is_in_reach_of_a_thumb(visit, size):
    visitor = phone(visit, size)
    page = visitor.page
    is_inside = "e => { const r = e.getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth + 1 }"
    for part in page.locator(".lens :is(.see-says, .opens, [data-ref=picture])").all():
        assert part.evaluate(is_inside), part.inner_text()
        if size == (390, 844):
            box = part.bounding_box()
            assert box["y"] + box["height"] <= 844, part.inner_text()
    for part in ("heads", "switch", "hold"):
        assert visitor.part(part).evaluate(is_inside), part
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    sheet = visitor.unfold("photo")
    first_button = sheet.locator(".wide").first
    assert first_button.inner_text() == "Take a photo"
    assert first_button.locator("input").get_attribute("capture") == "environment"
    page.keyboard.press("Escape")


def test_dragging_a_finger_chooses_the_query_above_it_and_does_not_scroll(visit):
    visitor = phone(visit)
    (x, y), (u, v) = visitor.place((3, 3)), visitor.place((7, 9))
    move_fingers(visitor, [(x, y), ((x + u) / 2, (y + v) / 2), (u, v + 40)])
    visitor.until("r => r.query === '7,9' && !r.locked")
    assert visitor.page.evaluate(SCROLL_TOP) == 0


def test_a_tap_locks_and_two_fingers_choose_nothing(visit):
    """Uses a new page, because Chromium ignores a tap that follows a drag within some milliseconds."""
    visitor = phone(visit)
    x, y = visitor.place((3, 3))
    visitor.page.touchscreen.tap(x, y)
    visitor.until("r => r.query === '3,3' && r.locked")
    path = [(x, y + 60 - 12 * step) for step in range(12)]
    move_fingers(visitor, path, [(x + 60, finger_y) for _, finger_y in path])
    assert visitor.read()["query"] == "3,3"


def assert_alive_alone(browser, file) -> None:
    context, requests = browser.new_context(viewport={"width": 390, "height": 844}), []
    context.on("request", lambda request: requests.append(request.url))
    page = context.new_page()
    page.goto(file.as_uri())
    picture = page.locator('.lens [data-ref="picture"]')
    picture.wait_for()
    sentence = page.locator(".lens .see-says").filter(has_text="%")
    sentence.wait_for()
    sentence_before, box = sentence.inner_text(), picture.bounding_box()
    page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 0.1 * box["height"])
    expect(sentence).not_to_have_text(sentence_before)
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    context.close()


def test_what_is_shared_is_made_in_the_browser_and_given_to_the_phone(visit, tmp_path):
    visitor = phone(visit)
    page = visitor.page
    page.evaluate(SHARE_STUB)
    state_before = visitor.read()
    page.locator(".toolbar .sending").click()
    ways = page.locator('[data-ref="shareWays"] button:visible')
    assert ways.first.get_attribute("data-share") == "loop", "a phone sends the loop first"
    assert all(way.bounding_box()["height"] >= 44 for way in ways.all())
    page.locator('[data-share="loop"][aria-pressed="true"]').wait_for()
    for way, kind, first_bytes in (
        ("picture", "image/png", b"\x89PNG"),
        ("loop", "video/mp4", b"ftyp"),
        ("page", "text/html", b"<!doctype html>"),
    ):
        page.evaluate("() => delete window.shared")
        page.locator(f'[data-share="{way}"]').click()
        expect(visitor.part("shareGo")).to_be_enabled(timeout=1000 * PATIENCE)
        visitor.part("shareGo").click()
        shared_file = page.wait_for_function("() => window.shared").json_value()
        is_webm = way == "loop" and shared_file["type"] == "video/webm"  # of a Chromium without H.264
        assert shared_file["type"] == kind or is_webm, shared_file
        assert shared_file["text"] == page.locator(".see-says").text_content()
        with page.expect_download() as download:
            visitor.part("shareSave").click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        assert file.stat().st_size == shared_file["size"] > 20_000
        assert first_bytes in file.read_bytes()[:20] or is_webm
    assert file.stat().st_size <= 450_000, "the page that travels"
    assert_alive_alone(visitor.context.browser, file)
    page.keyboard.press("Escape")
    visitor.part("sendingSheet").wait_for(state="hidden")
    state_after = visitor.until()
    assert {k: state_after[k] for k in ("layer", "head", "query", "locked")} == {
        k: state_before[k] for k in ("layer", "head", "query", "locked")
    }


def test_the_drawers_are_whole(visit):
    visitor = phone(visit, address="sample=meadow&face=see")
    page = visitor.page
    for name, part in (("why", ".sums"), ("numbers", ".panel")):
        page.locator(f'[data-door="{name}"]').tap()
        drawer = page.locator(f".lens {part}")
        expect(drawer).to_be_visible()
        assert drawer.evaluate("e => e.scrollHeight <= e.clientHeight + 1 && e.scrollWidth <= e.clientWidth"), name
        top = drawer.bounding_box()["y"]
        assert page.locator(".see-says").evaluate("(e) => e.getBoundingClientRect().bottom") <= top, name
        expect(page.locator(".lens .provenance")).to_be_hidden()
        page.locator(f'[data-door="{name}"]').tap()


def test_the_wall_of_heads_has_the_width_of_a_phone_on_its_side(visit):
    visitor = phone(visit, (844, 390), address="sample=meadow&face=see")
    visitor.page.locator('[data-door="heads"]').tap()
    expect(visitor.part("wall")).to_be_visible()
    assert visitor.part("wall").bounding_box()["width"] > 600
