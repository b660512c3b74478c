"""Nothing on the page jumps while it loads or is used, in See and in Lab."""

import pytest

from browser.seeing import RECORD_SHIFTS, STANDS_STILL, SeeVisitor

SIZES = [
    (1280, 720),
    (390, 844),
    *(pytest.param(*size, marks=pytest.mark.slow) for size in ((1440, 900), (1024, 768), (844, 390))),
]
# Counts the frames, and those in which the element is not to be seen.
COUNT_BLANKS = """(element) => {
  Object.assign(window, { framesSeen: 0, blanks: 0 });
  const look = () => {
    window.framesSeen++;
    window.blanks += element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) ? 0 : 1;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_jumps_while_see_loads_follows_the_cursor_opens_drawers_and_goes_to_lab(arrive, server, width, height):
    """Counts the browser's layout-shift entries, except those of words within the heading: the sentence changes with
    every patch, so its words move, while its box stands still."""
    person = arrive(SeeVisitor, server.url, viewport={"width": width, "height": height})
    person.context.add_init_script(RECORD_SHIFTS)
    person.open()
    person.page.locator(".see-moments button").nth(1).wait_for(state="attached")
    for x_share in (0.2, 0.5, 0.8):
        person.point(x_share, 0.4)
        person.until()
    for name, part in (("Why", ".sums"), ("Heads", '[data-ref="wall"]'), ("Numbers", ".counts .big")):
        door = person.page.get_by_role("button", name=name, exact=True)
        door.click()
        person.page.locator(part).wait_for()
        person.page.keyboard.press("Escape")
        person.page.locator(part).wait_for(state="hidden")
    person.part("picture").evaluate(COUNT_BLANKS)
    person.page.keyboard.press("l")
    person.page.locator('.lens[data-face="lab"] .opens').first.wait_for()
    person.page.locator(".below").evaluate(STANDS_STILL)
    assert person.page.evaluate("[framesSeen > 0, blanks]") == [True, 0], "the photograph went while Lab was made"
    heading = person.page.locator(".lens .see-head").bounding_box()
    for y_share in (0.3, 0.6):
        for x_share in (0.2, 0.35, 0.5, 0.65, 0.8):
            person.point(x_share, y_share)
            person.until()
    for opens in person.page.locator(".opens").all():
        opens.click()
        person.page.locator(".below").evaluate(STANDS_STILL)
    wall = person.choice("beside", "wall")
    wall.click()
    person.part("wall").wait_for()
    person.page.locator(".below").evaluate(STANDS_STILL)
    shifts = [
        shift for shift in person.page.evaluate("shifts") if not all(is_within(heading, source) for source in shift[2:])
    ]
    assert sum(value for value, *_ in shifts) <= 0.02, shifts


def is_within(box: dict[str, float], source: list) -> bool:
    """Whether a source of a layout shift was and is within a box."""
    return all(
        box["x"] <= rectangle["left"] and rectangle["right"] <= box["x"] + box["width"]
        and box["y"] <= rectangle["top"] and rectangle["bottom"] <= box["y"] + box["height"]
        for rectangle in source[1:]
    )  # fmt: skip
