"""Every question of every lesson in a browser: guess, lock, reveal; and what the browser keeps of the guesses."""

import json

import pytest
from waiting import PATIENCE

from browser.visitor import Visitor
from playground.lessons.registry import LESSONS

STEPS = {name: tuple(lesson.steps) for name, lesson in LESSONS.items()}
# A selector of drawings and animations. It also matches icons, which DRAWN_SHARE ignores because they are small.
DRAWINGS = """canvas, svg, img, pre, .lesson-chart, .drawing, .walk, .read, .carried, .softmax, .atlas, .board, .reel"""
DRAWN_SHARE = """(what) => {
  const drawn = (x, y) => {
    let e = document.elementFromPoint(x, y);
    for (let within = e?.shadowRoot?.elementFromPoint(x, y); within && within !== e;) {
      e = within;
      within = e.shadowRoot?.elementFromPoint(x, y);
    }
    return (e?.closest(what)?.getBoundingClientRect().height ?? 0) > 60;
  };
  let found = 0, all = 0;
  for (let y = 6; y < innerHeight; y += 12) {
    for (let x = 10; x < innerWidth; x += 20) { all += 1; found += drawn(x, y); }
  }
  return found / all;
}"""


DRAWING_PATIENCE = 1000 * PATIENCE  # milliseconds, for a chart that is still being drawn
LEAST_SHARE = 0.2  # the least share of the window that drawings must cover
WITHIN_TWO_WINDOWS = """(guess) => {
  const { bottom } = guess.querySelector("button.lock").getBoundingClientRect();
  return bottom <= 2 * innerHeight;
}"""


TRUTH_IS_IN_RANGE = """(guess) => {
  const { guess: asked, truth } = guess.__guess.data;
  return asked.kind !== "Number" || (asked.low <= truth && truth <= asked.high);
}"""


@pytest.fixture
def visitor(arrive, server):
    return arrive(Visitor, server.url, newcomer=True)


def go_to_step(visitor, page: str, step: str, address: str = "model=bundled&sample=meadow") -> None:
    visitor.page.goto(f"{visitor.url}/{page}?{address}&step={step}")
    visitor.page.locator(".guess .field *").first.wait_for(state="attached")
    visitor.rest()


def test_a_question_is_answered_without_the_server_and_its_answer_appears(visitor):
    """At 1280 × 720, a reader who walks through all steps reaches each question within one window of scrolling."""
    pages = ["patches", "shapes"]
    go_to_step(visitor, pages[0], STEPS[pages[0]][0])
    page = visitor.page
    for name in pages:
        for n, (step, record) in enumerate(LESSONS[name].steps.items()):
            id = record.question
            if n:
                page.locator(".lesson-steps button").nth(n).click()
            elif name != pages[0]:
                page.get_by_role("link", name="Next: ").click()
            page.locator(f'#lesson[data-page="{name}"]').wait_for(state="attached")
            if len(STEPS[name]) > 1:
                page.locator(f'.lesson-steps [data-step="{step}"][aria-current="step"]').wait_for(state="attached")
            page.locator("#lesson .lesson-next").wait_for(state="attached")  # the last part
            box = page.locator("#lesson .guess").first
            box.locator(".field *").first.wait_for(state="attached")
            visitor.rest()
            until(
                box,
                f"(g) => ({DRAWN_SHARE})({json.dumps(DRAWINGS)}) >= {LEAST_SHARE} && ({WITHIN_TWO_WINDOWS})(g)",
                step,
            )
            assert box.evaluate(TRUTH_IS_IN_RANGE), f"{name} {step}: nobody can guess right"
            hidden_part = page.locator(f'[data-after="{id}"]').first
            assert hidden_part.count() == 0 or not hidden_part.is_visible()
            asked_count = len(visitor.asked)
            guess(page, box)
            box.get_by_role("button", name="Lock my guess").click()
            box.locator("div.told b").first.wait_for()
            assert not visitor.asked[asked_count:], f"{name} {step} told the server: {visitor.asked[asked_count:]}"
            if hidden_part.count():
                hidden_part.wait_for(state="visible")


def until(box, condition: str, complaint: str) -> None:
    """Waits for a condition on this element. A locator also finds elements in shadow roots, unlike
    page.wait_for_function."""
    is_met = box.evaluate(f"""async (g) => {{
      const late = performance.now() + {DRAWING_PATIENCE};
      while (performance.now() < late && !({condition})(g)) await new Promise((next) => setTimeout(next, 50));
      return ({condition})(g);
    }}""")
    assert is_met, complaint


def guess(page, box) -> None:
    if box.locator("input[type=range]").count():
        lowest, highest = (
            float(box.locator("input[type=range]").get_attribute(attribute)) for attribute in ("min", "max")
        )
        box.locator("input[type=range]").fill(str(lowest if lowest + highest else highest))
    elif box.locator(".choices").count():
        box.locator(".choices button").first.click()
    else:
        svg = box.locator("svg")
        svg.scroll_into_view_if_needed()
        box_on_page = svg.bounding_box()
        page.mouse.move(box_on_page["x"] + box_on_page["width"] / 3, box_on_page["y"] + box_on_page["height"] / 3)
        page.mouse.down()
        page.mouse.move(
            box_on_page["x"] + box_on_page["width"] / 2, box_on_page["y"] + box_on_page["height"] / 2, steps=4
        )
        page.mouse.up()


def test_a_result_is_shown_for_another_picture_and_may_be_guessed_once_more(visitor):
    page = visitor.page
    go_to_step(visitor, "block", "stream")
    box = page.locator(".guess")
    guess(page, box)
    box.get_by_role("button", name="Lock my guess").click()
    box.locator("div.told b").wait_for()
    visitor.pick("flock")
    box.get_by_text("You guessed this about something else").wait_for()
    page.locator(".drawing.push").first.wait_for(state="visible")
    box.get_by_role("button", name="Guess once more").click()
    box.get_by_role("button", name="Lock my guess").wait_for()
    assert box.locator("div.told").is_hidden()
    page.locator(".drawing.push").first.wait_for(state="hidden")
