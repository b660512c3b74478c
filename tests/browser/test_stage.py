"""The stage: one sentence that says what is seen, and pictures as large as the window allows."""

import pytest

from browser.test_page import SCROLLS


def far_share(shown: dict, patch: tuple[int, int]) -> float:
    """What a row gives to patches outside the 3 × 3 ones around its own."""
    rows, columns = shown["grid"]
    patches = shown["row"][-rows * columns :]
    return sum(
        weight for j, weight in enumerate(patches) if max(abs(j // columns - patch[0]), abs(j % columns - patch[1])) > 1
    )


def printed(text: str) -> float:
    return float(text.replace("%", "").strip("< ")) / 100


def test_the_sentence_is_the_page_s_title_and_says_the_numbers_of_the_row_under_the_cursor(visitor):
    title = visitor.page.get_by_role("heading", level=1)
    said = []
    for patch in ((3, 3), (10, 9), (7, 5)):
        shown = visitor.hover(patch)
        assert abs(printed(visitor.part("share").inner_text()) - far_share(shown, patch)) < 0.006
        said.append(title.inner_text())
        assert said[-1].startswith("This patch gives ")
    assert len(set(said)) == 3, said


def test_the_sentence_follows_the_view(visitor):
    title = visitor.part("sentence")
    visitor.lock((7, 5))
    visitor.part("switch").click()
    visitor.until("r => r.scale === 1")
    assert title.inner_text().startswith("Without dividing by √32 in this layer, this patch gives ")
    visitor.part("switch").click()
    visitor.part("dial").fill("0")
    visitor.until("r => r.scale === 0")
    assert " tokens alike: " in title.inner_text()
    visitor.part("switch").click()
    visitor.choice("direction", "column").click()
    visitor.until("r => r.direction === 'column' && r.ready")
    assert " times as much as the average token" in title.inner_text()
    visitor.choice("direction", "row").click()
    visitor.page.locator('.lens [data-token="cls"]').click()
    visitor.until("r => r.query === 'cls'")
    assert title.inner_text().startswith("CLS gives ")


def test_what_most_people_do_not_need_is_behind_a_button(visit):
    visitor = visit()
    folded = [
        visitor.part("entropy"),
        visitor.part("shares"),
        visitor.choice("what", "score"),
        visitor.choice("k", "5"),
    ]
    assert not any(part.is_visible() for part in folded)
    visitor.more()
    assert all(part.is_visible() for part in folded)


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080), (1024, 768)])
@pytest.mark.parametrize("sample", ["meadow", "landscape"])
def test_the_pictures_fill_the_window_and_nothing_scrolls(visit, sample, width, height):
    visitor = visit(f"sample={sample}", viewport={"width": width, "height": height})
    visitor.rest()
    scrolls = visitor.page.evaluate(SCROLLS)
    assert max(max(pair) for pair in scrolls) <= 0, scrolls
    picture, lens = visitor.part("pictureBox").bounding_box(), visitor.page.locator(".lens").bounding_box()
    covered = 2 * picture["width"] * picture["height"] / (width * height)
    left = height - (lens["y"] + lens["height"])
    print(f"{sample} at {width} × {height}: {picture}, {covered:.0%} of the window, {left:.0f} pixels left below")
    assert covered > (0.3 if width > 1024 else 0.24)
    assert left < 0.12 * height


def test_on_a_phone_sentence_picture_layer_and_heads_are_in_sight_together(visit):
    visitor = visit(viewport={"width": 390, "height": 844}, has_touch=True)
    visitor.rest()
    tops = [visitor.part(name).bounding_box()["y"] for name in ("sentence", "picture", "layer", "heads")]
    assert tops == sorted(tops)
    box = visitor.part("heads").bounding_box()
    print(f"the heads end at {box['y'] + box['height']:.0f} of 844")
    assert box["y"] + box["height"] < 844


def test_presenting_enlarges_both_pictures_and_one_alone_still_more(visit):
    visitor = visit("sample=landscape", viewport={"width": 1280, "height": 720})
    widths = [visitor.part("pictureBox").bounding_box()["width"]]
    for button in ("present", "single"):
        visitor.part(button).click()
        visitor.page.wait_for_function(
            "([e, width]) => e.getBoundingClientRect().width > 1.02 * width",
            arg=[visitor.part("pictureBox").element_handle(), widths[-1]],
        )
        widths.append(visitor.part("pictureBox").bounding_box()["width"])
    print(f"on the page, presented, alone: {widths}")
    inside = visitor.page.locator(".lens").evaluate("e => e.scrollHeight <= innerHeight")
    assert inside
    for part in ("sentence", "switch", "named"):
        assert visitor.part(part).is_visible()


def test_a_file_that_is_dragged_over_the_page_is_invited_until_it_leaves(visit):
    visitor = visit()
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
