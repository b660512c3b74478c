"""Saved views, through which a presenter steps with a clicker."""


def open_scenes(visitor) -> None:
    visitor.page.locator(".toolbar .sending").click()
    if visitor.part("scenes").get_attribute("open") is None:
        visitor.part("scenes").locator("summary").click()


def save(visitor) -> None:
    open_scenes(visitor)
    visitor.part("sceneAdd").click()
    visitor.page.keyboard.press("Escape")


def test_scenes_are_stepped_through_with_a_clicker_s_keys_and_are_there_again_after_a_reload(visit):
    visitor = visit()
    page, grid = visitor.page, visitor.read()["grid"]
    visitor.lock((3, 4))
    save(visitor)
    visitor.part("switch").click()
    visitor.until("r => r.scale === 1")
    save(visitor)
    visitor.pick("landscape")
    assert visitor.until(f"r => r.grid.join() !== '{grid[0]},{grid[1]}'")["scale"] == 1
    save(visitor)
    loaded_at = page.evaluate("performance.timeOrigin")
    page.keyboard.press("f")
    page.keyboard.press("PageUp")  # this scene's picture comes from the server
    visitor.until(f"r => r.grid.join() === '{grid[0]},{grid[1]}' && r.scale === 1 && r.query === '3,4' && r.locked")
    page.keyboard.press("ArrowLeft")
    visitor.until("r => r.scale !== 1 && r.query === '3,4'")
    page.keyboard.press("PageUp")  # no effect before the first scene
    visitor.until("r => r.scale !== 1 && r.query === '3,4'")
    assert page.evaluate("performance.timeOrigin") == loaded_at
    page.reload()
    visitor.until()
    open_scenes(visitor)
    items = page.locator(".lens .scene-list li")
    assert items.count() == 3
    first_title = items.first.locator("input")
    first_title.fill("d and s are no shortcuts here")
    first_title.press("Enter")
    items.nth(2).get_by_role("button", name="Delete scene 3").click()
    items.nth(1).get_by_role("button", name="Move scene 2 up").click()
    page.keyboard.press("Escape")
    page.reload()
    visitor.until()
    open_scenes(visitor)
    assert [items.nth(i).locator("input").input_value() for i in range(items.count())][1:] == [
        "d and s are no shortcuts here"
    ]
