"""The guided tour in a browser, from the first step to the last."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
import waiting

from browser.own_picture import hand_over
from playground.samples import named
from playground.serving import chosen, traces
from playground.ui.tour_steps import STEPS

TOUR = "document.querySelector('.st-key-toolbar [data-testid=stBidiComponentIsolated]')?.shadowRoot"
BOXES = f"""() => {{
  const [card, ring] = [".tour-card", ".tour-ring"].map((part) => {TOUR}?.querySelector(part)?.getBoundingClientRect());
  if (!card || !ring) return null; // one of them is being drawn
  return {{ card: [card.left, card.top, card.right, card.bottom], ring: [ring.left, ring.top, ring.right, ring.bottom], size: [innerWidth, innerHeight] }};
}}"""  # noqa: E501
APART = f"""() => {{
  const boxes = ({BOXES})();
  if (!boxes) return false;
  const {{ card, ring, size }} = boxes, [w, h] = [ring[2] - ring[0], ring[3] - ring[1]];
  const over = (i) => Math.max(0, Math.min(card[i + 2], ring[i + 2]) - Math.max(card[i], ring[i]));
  const inside = card[0] >= 0 && card[1] >= 0 && card[2] <= size[0] && card[3] <= size[1];
  return w > 60 && h > 30 && ring[1] < size[1] - 60 && ring[3] > 60 && inside && over(0) * over(1) < 0.25 * w * h;
}}"""  # a lesson's picture may be as large as the window

ON_TOP = f"""() => {{
  const {{ x, y, width, height }} = {TOUR}.querySelector('.tour-card [data-go="next"]').getBoundingClientRect();
  return {TOUR}.elementFromPoint(x + width / 2, y + height / 2).dataset.go === "next";
}}"""  # where one clicks, the button is hit

HIGH_UP = f"""() => {{
  const boxes = ({BOXES})();
  if (!boxes) return false;
  const {{ ring, size }} = boxes;
  return ring[2] - ring[0] > 60 && ring[1] > 0 && ring[1] < size[1] / 2;
}}"""


def said(page) -> dict[str, str]:
    return {key: value[0] for key, value in parse_qs(urlsplit(page.url).query).items()}


def says(page, wanted: dict[str, str]) -> None:
    """Waits for the settings in the address: the browser writes them when the page has told them."""
    waiting.until(lambda: wanted.items() <= said(page).items(), f"the address does not say {wanted}")


def at(page, n: int, condition: str = APART) -> None:
    """Waits until the card is at a step, on its page, out of the way of what it outlines."""
    page.locator(f'.tour-card[data-step="{n}"]').filter(has_text=STEPS[n - 1].title.split("√")[0]).wait_for()
    page.wait_for_function(f"() => new URLSearchParams(location.search).get('tour') === '{n}'")
    page.wait_for_function(condition)
    name = STEPS[n - 1].page
    assert urlsplit(page.url).path == ("/" if name == "microscope" else f"/{name}")
    page.locator(".attention-early").wait_for(state="detached")  # which would cover the page
    assert page.get_by_test_id("stException").count() == 0


def press(page, what: str) -> None:
    page.locator(f'.tour-card [data-go="{what}"]').click()


MEADOW = {"model": "bundled", "sample": "meadow"}


def words(n: int, address: dict[str, str] | None = None) -> dict[str, str]:
    """Of a step, for who has nothing chosen, or came by this address."""
    picture, wish = chosen.read(address or {}, None)
    step, said = STEPS[n - 1], {"model": wish.model, "sample": picture.name}
    if wish.detail > 1:
        said["detail"] = str(wish.detail)
    if step.page == "microscope":  # the patch that the picture is asked about first, where it shows most
        (y, x), (rows, columns) = named(picture.name).start, traces.grid(picture, wish)
        said |= chosen.opening_view(picture.name, wish) | {"query": f"{int(y * rows)},{int(x * columns)}"}
    return said | step.words | {"tour": str(n)}


def given_back(visitor) -> None:
    """What `begin` had chosen."""
    visitor.until("r => r.layer === 2 && r.query === '3,4' && r.locked && r.scale !== 1")
    visitor.page.locator('.lens [data-choice="draw"] [data-value="light"][aria-pressed="true"]').wait_for()
    visitor.page.wait_for_function("() => location.search.includes('draw=light')")
    assert MEADOW.items() <= said(visitor.page).items()


def begin(visit):
    visitor = visit(MEADOW | {"layer": "2", "query": "3,4", "locked": "true", "draw": "light"})
    visitor.part("showMe").click()
    at(visitor.page, 1)
    return visitor


def test_the_tour_runs_from_the_stage_to_its_end_and_gives_everything_back(visit):
    visitor = begin(visit)
    page = visitor.page
    for n, step in enumerate(STEPS, start=1):
        at(page, n)
        wanted = words(n, MEADOW)
        says(page, wanted)
        if step.page == "microscope":
            is_off = "===" if step.words.get("scale") == "off" else "!=="
            visitor.until(f"r => r.scale {is_off} 1 && r.query === '{wanted['query']}'")
        press(page, "next")
    page.locator(".tour-card").wait_for(state="detached")
    page.wait_for_function("() => !location.search.includes('tour') && location.pathname === '/'")
    given_back(visitor)


def test_a_link_resumes_it_back_goes_back_and_end_ends_it(visit):
    visitor = visit(words(2, MEADOW))
    page = visitor.page
    at(page, 2)
    says(page, words(2, MEADOW))
    press(page, "back")
    at(page, 1)
    assert visitor.until("r => !r.locked")["query"] == words(1, MEADOW)["query"]
    page.locator('.tour-card [data-go="next"]').focus()
    page.keyboard.press("PageDown")  # a presenter's clicker
    at(page, 2)
    visitor.layer(2)
    page.wait_for_url("**layer=2**")
    assert said(page)["tour"] == "2"
    press(page, "end")
    page.locator(".tour-card").wait_for(state="detached")
    page.wait_for_function("() => !location.search.includes('tour')")
    assert said(page)["layer"] == "2"  # everything else stays as it was


def test_escape_leaves_it_also_after_a_reload_and_gives_everything_back(visit):
    visitor = begin(visit)
    press(visitor.page, "next")
    at(visitor.page, 2)
    visitor.page.reload()
    at(visitor.page, 2)
    visitor.page.keyboard.press("Escape")
    visitor.page.locator(".tour-card").wait_for(state="detached")
    given_back(visitor)


@pytest.mark.parametrize("width", [1280, 390])
def test_what_is_said_in_a_corner_does_not_stand_in_the_way(visit, width):
    visitor = visit(viewport={"width": width, "height": 800})
    visitor.forgiven = re.compile("status of 400 .*/api/pictures")  # it is no picture
    visitor.page.goto(f"{visitor.url}/?tour=4")
    at(visitor.page, 4, HIGH_UP)
    hand_over(visitor, "drop", b"no picture", "text/plain", "notes.txt")
    visitor.says("")
    visitor.page.wait_for_function(ON_TOP)  # the card may still be on its way
    press(visitor.page, "next")
    at(visitor.page, 5, HIGH_UP)


LEAVE_AND_CHOOSE = f"""(size) => {{
  window.socket.addEventListener("message", () => size.click(), {{ once: true }});
  {TOUR}.querySelector('.tour-card [data-go="next"]').click();
}}"""  # what the server says first is that it has begun to run the page that is being left


def test_a_choice_on_a_page_that_is_being_left_does_not_wipe_the_next_one(visit):
    visitor = visit()
    page = visitor.page
    page.add_init_script("""window.WebSocket = class extends WebSocket {
      constructor(...how) {
        super(...how);
        window.socket = this;
      }
    };""")
    page.goto(f"{visitor.url}/?tour=4")
    at(page, 4)
    visitor.rest()
    size = page.locator('.st-key-patch button, .st-key-patch [role="radio"]').last
    size.wait_for()
    size.evaluate(LEAVE_AND_CHOOSE)
    page.wait_for_function("() => new URLSearchParams(location.search).get('tour') === '5'")
    visitor.rest()
    at(page, 5)


def test_a_link_to_a_step_of_another_page_leads_there(visit):
    visitor = visit()
    visitor.page.goto(f"{visitor.url}/?tour={len(STEPS)}")
    at(visitor.page, len(STEPS))
    says(visitor.page, STEPS[-1].words)


@pytest.mark.parametrize("n", [1, 7])
def test_on_a_phone_the_card_leaves_room_for_what_it_points_at(visit, n):
    visitor = visit(viewport={"width": 390, "height": 844})
    visitor.page.goto(f"{visitor.url}/?tour={n}")
    at(visitor.page, n, HIGH_UP)
    boxes = visitor.page.evaluate(BOXES)
    assert boxes["card"][0] >= 0
    assert boxes["card"][2] <= 390
    assert boxes["card"][3] - boxes["card"][1] < 844 * 0.45
