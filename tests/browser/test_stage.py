"""The stage: a sentence that describes the view, and pictures as large as the window allows."""

import re


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


def test_presenting_is_see_as_large_as_the_screen_and_a_clicker_steps_through_its_moments(visit):
    visitor = visit("sample=flock", viewport={"width": 1280, "height": 720})
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


def test_the_curtain_is_dragged_and_stands_in_the_link(go):
    visitor = go("layer=4&head=1&query=9,5&locked=true")
    page, pixels = visitor.page, "() => theLens().picture().toDataURL()"
    pixels_before = page.evaluate(pixels)
    visitor.open_row("scale")
    box = page.locator("[data-ref=pictureBox]").bounding_box()
    y = box["y"] + 0.88 * box["height"] - 13  # the middle of the handle, see lens.css
    page.mouse.move(box["x"] + 9, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.3 * box["width"], y)
    page.mouse.move(box["x"] + 0.6 * box["width"], y)
    page.mouse.up()
    page.wait_for_function("() => Math.abs(theLens().view.curtain - 0.6) < 0.02")
    page.wait_for_url("**curtain=0.*")
    assert page.evaluate(pixels) != pixels_before, "the picture is still the same"
    page.locator("[data-ref=curtain]").press("Home")
    page.wait_for_function("() => theLens().view.curtain === 0")
    visitor.until()
    assert page.evaluate(pixels) == pixels_before
