"""A lesson on the learner's page: what stands around its steps, where its links lead, what it asks the server, and that
nothing on it jumps."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
import waiting

from browser.on_the_site import SiteVisitor
from browser.policy import WATCH_VIOLATIONS
from browser.seeing import RECORD_SHIFTS
from playground.lessons.registry import LESSONS

MEADOW = "sample=meadow&model=bundled"
MOST_SHIFT = 0.02
SAME_DOCUMENT = "window.sameDocument = true"
PARTS_OF = re.compile(r"/api/lessons/\w+/\w+$")  # the path of a step
FORGET_GUESSES = "localStorage.removeItem('attention-playground:guesses')"


@pytest.fixture
def visitor(arrive, server):
    guest = arrive(SiteVisitor, server.url)
    guest.requested_paths = []
    guest.context.add_init_script(WATCH_VIOLATIONS)
    guest.page.on("request", lambda request: guest.requested_paths.append(urlsplit(request.url).path))
    yield guest
    assert guest.page.evaluate("violations") == []


def opened(visitor: SiteVisitor, lesson: str, words: str = ""):
    visitor.page.goto(f"{visitor.url}/{lesson}?{MEADOW}&{words}")
    visitor.page.locator("#lesson .guess").first.wait_for()
    visitor.page.evaluate(SAME_DOCUMENT)
    return visitor.page


def words_of(page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(page.evaluate("location.search.slice(1)")).items()}


def address_has(page, **words: str) -> None:
    waiting.until(lambda: words.items() <= words_of(page).items(), f"the address has not got {words}")


def current_step(page) -> str:
    return page.locator('.lesson-steps [aria-current="step"]').get_attribute("data-step")


def asked_for(visitor: SiteVisitor) -> list[str]:
    """The paths of the steps that were asked for since the last call."""
    asked = [path for path in visitor.requested_paths if PARTS_OF.search(path)]
    visitor.requested_paths.clear()
    return asked


def test_the_idea_stands_above_the_first_step_and_next_leads_through_the_steps_to_the_next_page(visitor):
    page = opened(visitor, "training")
    page.locator("#lesson .lesson-idea b", has_text="losses").wait_for()
    assert page.title() == "Training: from fog to structure – Attention Playground"
    for step, title in (("pair", "Told or not?"), ("now", "Train two now")):
        page.get_by_role("button", name=f"Next: {title}").click()
        page.locator(f'.lesson-steps [data-step="{step}"][aria-current="step"]').wait_for()
        address_has(page, step=step, sample="meadow")
        page.locator("#lesson .lesson-idea").wait_for(state="hidden")
    page.get_by_role("link", name="Next: Code: read it").click()
    page.locator('#lesson[data-page="code"] .guess').first.wait_for()
    address_has(page, sample="meadow", model="bundled")
    assert page.evaluate("window.sameDocument"), "the page was loaded anew"


def test_the_whole_model_stands_above_a_lesson_and_its_parts_lead_to_their_pages(visitor):
    page = opened(visitor, "scale")
    assert page.locator(".overview [aria-current]").all_inner_texts() == ["Attention"]
    page.locator(".overview").get_by_role("link", name="MLP").click()
    page.locator('#lesson[data-page="block"] .guess').first.wait_for()
    address_has(page, sample="meadow", model="bundled")
    page.go_back()
    page.locator('#lesson[data-page="scale"] .guess').first.wait_for()
    assert page.evaluate("window.sameDocument"), "the page was loaded anew"


def test_a_head_of_the_atlas_opens_in_the_microscope_with_the_same_picture(visitor):
    page = opened(visitor, "heads", "step=atlas")
    page.locator('.atlas .cell[data-layer="3"][data-head="2"]').click()
    visitor.until("r => r.picture === 'meadow' && r.layer === 3 && r.head === 2")
    assert page.title() == "Attention Playground"
    assert page.evaluate("window.sameDocument"), "the page was loaded anew"


def test_back_undoes_a_step_and_a_setting_and_a_dial_is_one_entry_of_the_history(visitor):
    page = opened(visitor, "two_ways", "step=cheaper")
    dial = page.locator(".lesson-slider input")
    value = dial.input_value()
    for _ in range(2):
        dial.press("ArrowRight")
    address_has(page, cheap_tokens="16384")
    page.locator('.lesson-steps [data-step="far"]').click()
    page.locator(".lesson-choice").get_by_role("button", name="5 × 5").click()
    address_has(page, step="far", kernel="5")
    page.go_back()
    page.locator('.lesson-choice [aria-pressed="true"]', has_text="3 × 3").wait_for()
    page.go_back()
    page.locator('.lesson-steps [data-step="cheaper"][aria-current="step"]').wait_for()
    waiting.until(lambda: dial.input_value() != value, "Back has lost the dial's value")
    page.go_back()
    waiting.until(lambda: dial.input_value() == value, "Back does not undo the dial")
    page.go_forward()
    waiting.until(lambda: dial.input_value() != value, "Forward does not turn the dial again")


def test_a_link_for_a_class_shows_the_lesson_alone_and_stays_one(visitor):
    page = opened(visitor, "scale", "class=yes")
    page.locator(".lesson-steps").get_by_role("button", name="Many rows").click()
    page.locator('.lesson-steps [data-step="rows"][aria-current="step"]').wait_for()
    page.locator("#lesson .guess").first.wait_for()
    for part in (".toolbar", ".overview", ".lesson-next"):
        assert page.locator(f"{part}:visible").count() == 0, part
    address_has(page, step="rows", **{"class": "yes"})


def test_another_picture_changes_what_belongs_to_it_and_keeps_the_step_and_its_settings(visitor):
    page = opened(visitor, "weight", "step=carries&layer=0")
    page.locator("#lesson .lesson-next").wait_for()
    verdict = page.locator("#lesson .mixture .verdict")
    before = verdict.inner_text()
    asked_for(visitor)
    visitor.press_sample("flock")
    address_has(page, sample="flock", step="carries", layer="0")
    waiting.until(lambda: verdict.inner_text() != before, "the lesson does not follow")
    assert asked_for(visitor) == ["/api/lessons/weight/carries"]
    assert current_step(page) == "carries"
    assert page.locator(".lesson-slider output").inner_text() == "0"


def test_a_dial_that_the_browser_follows_asks_nobody_and_another_setting_asks_for_its_step_once(visitor):
    page = opened(visitor, "scale")
    asked_for(visitor)
    dial = page.locator(".softmax input[type=range]").first
    for _ in range(5):
        dial.press("ArrowLeft")
    address_has(page, dk="12")
    assert asked_for(visitor) == []
    page.evaluate("document.querySelector('#lesson .lesson-ask').classList.add('former')")
    page.locator('.lesson-steps [data-step="answer"]').click()
    page.locator("#lesson .lesson-ask:not(.former) .guess").first.wait_for()
    page.locator("#lesson .lesson-next").wait_for()
    words = page.locator("#lesson .lesson-words").last
    before = words.inner_text()
    page.evaluate("window.card = document.querySelector('#lesson .lesson-ask').shadowRoot.querySelector('.guess')")
    asked_for(visitor)
    button = page.locator('#lesson .lesson-choice button[aria-pressed="false"]').first
    button.click()
    waiting.until(lambda: words.inner_text() != before, "the numbers do not follow the setting")
    assert asked_for(visitor) == ["/api/lessons/scale/answer"]
    assert page.evaluate("window.card.isConnected"), "the question was drawn anew"
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true", "the focus was lost"


def test_what_takes_long_is_announced_and_then_whole(visitor):
    """The first answer for a picture that nobody has opened in this step ends with what is being computed."""
    answers = []
    page = visitor.page
    page.on("response", lambda answer: PARTS_OF.search(urlsplit(answer.url).path) and answers.append(answer))
    page.goto(f"{visitor.url}/code?sample=lookalikes&model=untrained&step=library")
    page.locator("#lesson .lesson-next").wait_for()
    kinds = [[part["kind"] for part in answer.json()] for answer in answers]
    assert kinds[0][-1] == "wait", kinds
    assert "wait" not in kinds[-1], kinds
    assert page.locator("#lesson .lesson-wait").count() == 0
    page.locator("#lesson .guess").first.wait_for()


def test_what_does_not_come_is_said_and_comes_when_it_is_tried_again(visitor):
    page = visitor.page
    visitor.forgiven_errors = re.compile(".*")
    page.route("**/api/lessons/scale/row*", lambda route: route.fulfill(status=503, json={"says": "Too many wait."}))
    page.goto(f"{visitor.url}/scale?{MEADOW}&step=row")
    page.get_by_text("Too many wait.").wait_for()
    page.unroute("**/api/lessons/scale/row*")
    page.get_by_role("button", name="Try again").click()
    page.locator("#lesson .guess").first.wait_for()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
@pytest.mark.parametrize("lesson", LESSONS)
def test_nothing_jumps_while_a_lesson_loads(arrive, server, lesson, width, height):
    person = arrive(SiteVisitor, server.url, viewport={"width": width, "height": height})
    person.context.add_init_script(RECORD_SHIFTS)
    person.context.add_init_script(FORGET_GUESSES)
    page = person.page
    for step in LESSONS[lesson].steps:
        page.goto(f"{person.url}/{lesson}?{MEADOW}&step={step}")
        page.locator("#lesson .lesson-next").wait_for()
        page.wait_for_load_state("networkidle")
        shifts = page.evaluate("shifts")
        assert sum(value for value, *_ in shifts) <= MOST_SHIFT, (step, shifts)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{step} is wider than the window"
