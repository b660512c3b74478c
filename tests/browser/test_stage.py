"""The stage: a sentence that describes the view, and pictures as large as the window allows."""

import re

import pytest
from waiting import until

from browser.test_page import OVERFLOWS


def far_share(state: dict, patch: tuple[int, int]) -> float:
    """The share that a row gives to tokens outside the 3 × 3 block around its own patch."""
    rows, columns = state["grid"]
    weights = state["row"][-rows * columns :]
    return 1 - sum(
        weight for j, weight in enumerate(weights) if max(abs(j // columns - patch[0]), abs(j % columns - patch[1])) < 2
    )


def test_the_sentence_is_the_page_s_title_and_what_a_filter_misses_stands_under_the_nine_patches(visitor):
    title = visitor.page.get_by_role("heading", level=1)
    visitor.open_row("beside")
    sentences = []
    for patch in ((3, 3), (10, 9), (7, 5)):
        state = visitor.hover(patch)
        sentences.append(title.inner_text())
        printed = re.search(r"([\d.]+)\s%", visitor.page.locator(".see-outside").inner_text())
        assert printed, sentences
        assert abs(float(printed[1]) / 100 - far_share(state, patch)) < 0.006, sentences
    assert len(set(sentences)) == 3, sentences


LEAST_SHARE = {(1280, 720): 0.39, (1440, 900): 0.44, (1920, 1080): 0.44, (1180, 820): 0.4, (1024, 768): 0.33}
MOST_EMPTY_PIXELS = 60  # most pixels of an empty band below the lens


@pytest.mark.parametrize("sample", ["meadow", pytest.param("landscape", marks=pytest.mark.slow)])
def test_one_large_picture_fills_the_window_and_nothing_scrolls_or_is_cut(visit, sample):
    visitor = visit(f"sample={sample}")
    for window_size in [*LEAST_SHARE][:: 1 if sample == "landscape" else 2]:
        assert_fills(visitor, sample, window_size)


def assert_fills(visitor, sample: str, window_size: tuple[int, int]) -> None:
    width, height = window_size
    visitor.page.set_viewport_size({"width": width, "height": height})
    visitor.open(f"sample={sample}").rest()
    until(lambda: max(max(pair) for pair in visitor.page.evaluate(OVERFLOWS)) <= 0, "nothing scrolls")
    picture_box, lens_box = visitor.part("pictureBox").bounding_box(), visitor.page.locator(".lens").bounding_box()
    covered_share = picture_box["width"] * picture_box["height"] / (width * height)
    print(f"{sample} at {width} × {height}: {picture_box}, {covered_share:.1%} of it")
    # LEAST_SHARE is for 3:2; a square covers less of a window
    is_square = picture_box["width"] < 1.2 * picture_box["height"]
    assert covered_share >= LEAST_SHARE[window_size] * (0.55 if is_square else 1), window_size
    assert height - (lens_box["y"] + lens_box["height"]) < MOST_EMPTY_PIXELS
    for part in visitor.page.locator(".lens :is(.opens, .see-says, .provenance)").all():
        assert not part.evaluate("e => e.scrollWidth > e.clientWidth + 1"), part.inner_text()


@pytest.mark.slow
def test_beside_the_picture_stands_what_a_convolution_gets(visit):
    """The enlarged patches are cut from the photograph around the chosen patch."""
    visitor = visit("sample=meadow", viewport={"width": 1280, "height": 720})
    visitor.rest()
    read_pixels = "e => Array.from(e.getContext('2d').getImageData(0, 0, e.width, e.height).data)"
    visitor.lock((3, 3))
    pixels_before = visitor.part("nine").evaluate(read_pixels)
    visitor.lock((9, 10))
    pixels_after = visitor.part("nine").evaluate(read_pixels)
    assert len(set(pixels_before)) > 20
    assert pixels_before != pixels_after


def test_with_a_map_on_view_what_shows_attention_is_pale(go):
    visitor = go()
    visitor.choice("what", "similarity").click()
    visitor.page.wait_for_function("() => theLens().read().map")
    for part in ("heads", "big", "curve", "switch"):
        is_pale = "e => { while (e && getComputedStyle(e).opacity === '1') e = e.parentElement; return Boolean(e) }"
        assert visitor.part(part).evaluate(is_pale), part


def test_presenting_is_see_as_large_as_the_screen_and_a_clicker_steps_through_its_moments(visit):
    visitor = visit("sample=landscape", viewport={"width": 1280, "height": 720})
    page = visitor.page
    page.keyboard.press("f")
    page.locator('.lens.presenting[data-face="see"]').wait_for()
    sentence = page.locator(".lens .see-says")
    assert float(sentence.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")) >= 40
    assert page.locator(".lens").evaluate("e => e.scrollHeight <= innerHeight")
    page.locator(".see-moments button").first.wait_for(state="attached")
    for n in (2, 3):
        page.keyboard.press("PageDown")
        page.locator(f".see-moments button:nth-child({n})[aria-pressed=true]").wait_for(state="attached")
    page.keyboard.press("ArrowLeft")
    page.locator(".see-moments button:nth-child(2)[aria-pressed=true]").wait_for(state="attached")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_presenting_makes_the_picture_larger_and_draws_nothing_around_it(visit, width, height):
    visitor = visit("sample=landscape", viewport={"width": width, "height": height})
    page = visitor.page
    page.evaluate("theLens().see.turn()")
    page.locator('.lens[data-face="see"]').wait_for()
    visitor.part("picture").element_handle().wait_for_element_state("stable")
    former_width = visitor.part("picture").bounding_box()["width"]
    page.locator("button.pages").click()
    page.get_by_role("link", name="Present").click()
    page.locator('.lens.presenting[data-face="see"]').wait_for()
    page.wait_for_function("() => lensRoot.getRootNode().activeElement === lensRoot")
    visitor.part("picture").element_handle().wait_for_element_state("stable")
    assert visitor.part("picture").bounding_box()["width"] > 1.02 * former_width
    rings = page.locator(".lens, .lens :focus").evaluate_all("all => all.map((e) => getComputedStyle(e).outlineStyle)")
    assert set(rings) == {"none"}, rings
    doors = page.locator(".see-doors").bounding_box()
    assert doors["y"] + doors["height"] <= height, doors
    query = visitor.read()["query"]
    page.keyboard.press("ArrowDown")
    assert visitor.until(f"r => r.locked && r.query !== '{query}'")["query"] != query


def test_a_file_that_is_dragged_over_the_page_is_invited_until_it_is_dragged_away(go):
    visitor = go()
    visitor.rest()
    visitor.page.evaluate(
        """() => {
          const files = new DataTransfer();
          files.items.add(new File(["x"], "x.png", { type: "image/png" }));
          window.drag = (name) =>
            document.body.dispatchEvent(new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer: files }));
          window.drag("dragover");
        }"""
    )
    visitor.page.locator("html.takes-a-picture").wait_for(state="attached")
    visitor.page.evaluate("window.drag('dragleave')")
    visitor.page.locator("html:not(.takes-a-picture)").wait_for(state="attached")
