"""The guided tour in a browser, from the first step to the last."""

from urllib.parse import parse_qs, urlsplit

import pytest

from browser.visitor import PATIENCE
from playground.ui import tour
from playground.ui.tour_steps import STEPS

BOXES = """() => {
  const box = (name) => { const b = document.querySelector(name).getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
  return { card: box(".tour-card"), ring: box(".tour-ring"), ringed: !document.querySelector(".tour-ring").hidden, size: [innerWidth, innerHeight] };
}"""  # noqa: E501
POINTS = """() => {
  const ring = document.querySelector(".tour-ring"), box = ring.getBoundingClientRect();
  return !ring.hidden && box.width > 60 && box.height > 30 && box.top < innerHeight - 60 && box.bottom > 60;
}"""


def said(page) -> dict[str, str]:
    return {key: value[0] for key, value in parse_qs(urlsplit(page.url).query).items()}


def at(page, n: int) -> dict:
    """Waits until the card is at a step, on its page, with an outline around what it talks about."""
    page.locator(f'.tour-card[data-step="{n}"]').filter(has_text=STEPS[n - 1].title).wait_for()
    page.wait_for_function(f"() => new URLSearchParams(location.search).get('tour') === '{n}'")
    page.wait_for_function(POINTS)
    name = STEPS[n - 1].page
    assert urlsplit(page.url).path == ("/" if name == "microscope" else f"/{name}")
    assert page.get_by_test_id("stException").count() == 0
    return page.evaluate(BOXES)


def press(page, what: str) -> None:
    page.locator(f'.tour-card [data-go="{what}"]').click()


def covered(a, b) -> float:
    """How much of b lies under a."""
    width, height = (max(0, min(a[i + 2], b[i + 2]) - max(a[i], b[i])) for i in (0, 1))
    return width * height / ((b[2] - b[0]) * (b[3] - b[1]))


def test_the_tour_runs_from_the_menu_to_its_end(visit):
    visitor = visit()
    page = visitor.page
    visitor.unfold("Microscope").get_by_text("Guided tour").click()
    for n, step in enumerate(STEPS, start=1):
        boxes = at(page, n)
        assert tour.words(n).items() <= said(page).items()
        assert covered(boxes["card"], boxes["ring"]) < 0.12, step.id
        assert boxes["card"][2] <= boxes["size"][0]
        assert boxes["card"][3] <= boxes["size"][1]
        if step.page == "microscope":
            shown = visitor.until("r => r.ready !== false")
            assert (shown["query"], shown["layer"]) == (step.words["query"], int(step.words["layer"]))
            assert (shown["scale"] == 1) == (step.words.get("scale") == "off")
        press(page, "next")
    page.locator(".tour-card").wait_for(state="detached")
    page.wait_for_function("() => !location.search.includes('tour')")
    assert urlsplit(page.url).path == "/cost"


def test_a_link_resumes_it_back_goes_back_and_end_ends_it(visit):
    visitor = visit("tour=4")
    page = visitor.page
    at(page, 4)
    assert said(page) == tour.words(4)
    press(page, "back")
    at(page, 3)
    assert visitor.until("r => r.scale !== 1")["query"] == STEPS[2].words["query"]
    page.locator('.tour-card [data-go="next"]').focus()
    page.keyboard.press("PageDown")  # a presenter's clicker
    at(page, 4)
    visitor.layer(2)
    page.wait_for_url("**layer=2**")
    assert said(page)["tour"] == "4"
    press(page, "end")
    page.locator(".tour-card").wait_for(state="detached")
    page.wait_for_function("() => !location.search.includes('tour')")
    assert said(page)["layer"] == "2"  # everything else stays as it was


def test_a_link_to_a_step_of_another_page_leads_there(visit):
    visitor = visit()
    visitor.page.goto(f"{visitor.url}/?tour=9")
    at(visitor.page, 9)
    assert tour.words(9).items() <= said(visitor.page).items()


@pytest.mark.parametrize("n", [1, 9])
def test_on_a_phone_the_card_leaves_room_for_what_it_points_at(visit, n):
    visitor = visit(viewport={"width": 390, "height": 844})
    visitor.page.goto(f"{visitor.url}/?tour={n}")
    boxes = at(visitor.page, n)
    visitor.page.wait_for_function(
        """() => document.querySelector(".tour-ring").getBoundingClientRect().top < innerHeight / 2""", timeout=PATIENCE
    )
    boxes = visitor.page.evaluate(BOXES)
    assert boxes["card"][0] >= 0
    assert boxes["card"][2] <= 390
    assert boxes["card"][3] - boxes["card"][1] < 844 * 0.45
