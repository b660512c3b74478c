"""Every question of every lesson in a browser: guess, lock, reveal; and what the browser keeps of the guesses."""

import json

import pytest
from waiting import PATIENCE

from browser.server import serving
from browser.visitor import Visitor, with_small_picture
from playground.lessons.registry import LESSONS
from playground.models import borrowed

STEPS = {name: tuple(lesson.steps) for name, lesson in LESSONS.items()}
# Lesson -> the steps whose questions depend on the chosen model and picture
PICTURE_STEPS = {**STEPS, "by_hand": ("colours",), "training": ("timelapse",), "cost": ()}
# A selector of drawings and animations. It also matches icons, which DRAWN_SHARE ignores because they are small.
DRAWINGS = (
    """canvas, svg, img, pre, .js-plotly-plot, .drawing, .walk, .read, .carried, .softmax, .atlas, .board, .reel"""
)
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
LEAST_SHARE = 0.3  # the least share of the window that drawings must cover
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


@pytest.mark.parametrize(
    "pages",
    [["patches", "shapes"], *(pytest.param(names, marks=pytest.mark.slow) for names in ([*STEPS][:6], [*STEPS][6:]))],
    ids=["two lessons", "first", "last"],
)
def test_every_step_shows_its_picture_and_its_question_and_is_answered_without_the_server(visitor, pages):
    """At 1280 × 720, a reader who walks through all steps reaches each question within one window of scrolling. The
    walk has two halves, so that two processes can share it."""
    go_to_step(visitor, pages[0], STEPS[pages[0]][0])
    go_through(visitor, pages)


@pytest.fixture(scope="module")
def with_dinov2(really_here):
    really_here("dinov2-small")
    really_here("photographs")
    with serving(PLAYGROUND_BORROWED=str(borrowed.cache_folder())) as running_server:
        yield running_server


@pytest.mark.slow
def test_every_step_shows_its_picture_and_question_in_dinov2_on_a_photograph(arrive, with_dinov2):
    """Tests the questions that depend on model and picture. If blanking patches takes long, the step shows the patch
    first and asks its question after the computation. If blanking would take too long, the step says so."""
    visitor = arrive(Visitor, with_dinov2.url, newcomer=True)
    page = visitor.page
    for name, steps in PICTURE_STEPS.items():
        for n, step in enumerate(steps):
            if n:
                page.locator(".lesson-steps button").nth(n).click()
            else:
                page.goto(f"{visitor.url}/{name}?model=dinov2-small&sample=coffee&step={step}")
            guess = "#lesson .guess"
            page.locator(f"{guess} .field *").first.wait_for(state="attached")
            visitor.rest()
            until(
                page.locator("body"),
                f"() => ({DRAWN_SHARE})({json.dumps(DRAWINGS)}) >= {LEAST_SHARE}",
                f"{name} {step}",
            )
            for box in page.locator(guess).all():
                assert box.evaluate(TRUTH_IS_IN_RANGE), f"{name} {step}: nobody can guess right"


def go_through(visitor, pages) -> None:
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


def test_a_box_of_the_overview_leads_to_its_page(visitor):
    visitor.page.goto(f"{visitor.url}/cost?{with_small_picture('')}")
    visitor.page.locator(".overview").get_by_role("link", name="MLP", exact=True).click()
    visitor.page.wait_for_url("**/block**")
    visitor.page.get_by_role("heading", name="Block").wait_for()
