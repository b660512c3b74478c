"""Without the scale, a head collapses visibly. A curtain across the picture compares both, and a dial goes beyond
"no scale"."""

PIXELS = "() => theLens().picture().toDataURL()"


def test_the_curtain_is_dragged_and_stands_in_the_link(go):
    visitor = go("layer=4&head=1&query=9,5&locked=true")
    page = visitor.page
    pixels_before = visitor.page.evaluate(PIXELS)
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
    assert visitor.page.evaluate(PIXELS) != pixels_before, "the picture is still the same"
    page.locator("[data-ref=curtain]").press("Home")
    page.wait_for_function("() => theLens().view.curtain === 0")
    visitor.until()
    assert visitor.page.evaluate(PIXELS) == pixels_before
