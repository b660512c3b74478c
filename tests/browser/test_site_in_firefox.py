"""The playground without a server in the system's Firefox: a plain file server serves the folder that `site` writes."""

import base64

import numpy as np
import pytest

from browser import firefox
from browser.on_the_site import SPARING
from browser.own_picture import HAND_OVER
from browser.truth import assert_close, sent
from browser.without_server import ASKED, plain_server
from playground.samples import named
from playground.ui import site

LESSONS = ("by_hand", "patches")  # the tests in Chromium open all lessons
pytestmark = pytest.mark.skipif(firefox.find() is None, reason="no Firefox is installed: apt-get install firefox-esr")
EIGHT_BITS = 0.05  # most error of an attention weight if the model's weights have 8 bits
PICTURE = ".lens canvas[data-ref=picture]"
KEPT = "() => Boolean(navigator.serviceWorker.controller)"
# Returns whether a drawing is there. Presses "without a guess" first, if the step hides the drawing until a guess.
DRAWN = """() => {
  for (const { shadowRoot } of document.querySelectorAll("#lesson .lesson-ask"))
    [...(shadowRoot?.querySelectorAll("button") ?? [])].find((one) => one.textContent.includes("without"))?.click();
  return [...document.querySelectorAll("#lesson .lesson-drawing")].some(
    ({ shadowRoot }) => shadowRoot?.querySelector("canvas, .bars, table")?.clientHeight);
}"""

HAS = """(selector) => {
  const roots = [document];
  for (const root of roots)
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot) roots.push(element.shadowRoot);
  return roots.some((root) => [...root.querySelectorAll(selector)].some((one) => one.checkVisibility()));
}"""
BOX_OF = """(selector) => {
  const { left, top, width, height } = document.querySelector(selector).getBoundingClientRect();
  return [left, top, width, height];
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return site.write(tmp_path_factory.mktemp("site") / "out", "/", ["bundled"], named_samples=(), lessons=LESSONS)


@pytest.fixture
def visit(tmp_path):
    with firefox.firefox(tmp_path) as page:
        yield page
        assert page.errors == []


@pytest.fixture
def page(visit):
    """A page with data saver on, so that it fetches nothing in advance."""
    visit.does("script.addPreloadScript", functionDeclaration=f"() => {{ {SPARING} }}")
    return visit


def test_samples_are_python_s_and_a_photograph_is_computed_here_and_asks_nobody(folder, page):
    with plain_server(folder) as url:
        page.opens(f"{url}/#model=bundled&sample=meadow&layer=4&head=1")
        page.reads("r => r.picture === 'meadow' && r.layer === 4")
        points(page, (7, 5))
        truth = sent()
        assert_close(page.reads("r => r.query === '7,5'")["row"], truth.row(4, 1, (7, 5)))

        gives(page, named("twins").path)
        page.reads("r => r.picture !== 'meadow' && r.layersHeld.length === 6")
        asked_count, sample_picture = len(ASKED), page.reads()["picture"]
        gives(page, named("meadow").path)
        state = page.reads(f"r => r.picture !== '{sample_picture}' && r.layersHeld.length === 6")
        row = truth.row(state["layer"], state["head"], tuple(map(int, state["query"].split(",")))).numpy()
        assert np.abs(np.asarray(state["row"]) - row).max() < EIGHT_BITS
        view = {"layer": 5, "head": 1, "query": "7,5", "locked": True}
        page.runs("view => theLens().update({ view })", view | {"scale": "off", "pass": "whole"})
        assert page.reads("r => r.pass === 'whole'")["scale"] == 1
        for map_name in ("similarity", "rollout"):
            page.runs("view => theLens().update({ view })", view | {"what": map_name})
            page.reads(f"r => r.what === '{map_name}' && r.map")
        assert asked_since(asked_count) == [], "nobody is asked for anything"


@pytest.mark.slow
def test_a_second_visit_needs_no_host_and_finds_the_photograph(folder, page):
    with plain_server(folder) as url:
        page.opens(f"{url}/#model=bundled&sample=flock")
        page.reads()
        page.until(KEPT)
        gives(page, named("twins").path)
        own_picture = page.reads("r => r.picture !== 'flock' && r.layersHeld.length === 6")["picture"]
    page.opens("about:blank")
    page.opens(f"{url}/#model=bundled&mine={own_picture}")  # the server has stopped
    assert page.reads("r => r.layersHeld.length === 6")["picture"] == own_picture


@pytest.mark.slow
def test_what_the_camera_sees_is_looked_at_while_it_moves(folder, page):
    with plain_server(folder) as url:
        page.opens(f"{url}/#model=bundled&sample=portrait")
        page.reads()
        page.clicks(".opener.photo")
        page.clicks("button", "Live")
        first_picture = page.reads("r => r.picture.startsWith('live')")["picture"]
        requests_before = len(ASKED)
        page.reads(f"r => r.picture !== '{first_picture}'")
        assert asked_since(requests_before) == []
        page.clicks("button", "Stop")
        page.reads("r => r.picture === 'portrait'")


@pytest.mark.slow
def test_lessons_draw_and_a_phone_s_page_is_no_wider_than_its_screen(folder, page):
    page.sized(390, 844)
    with plain_server(folder) as url:
        for lesson in ("", *LESSONS):
            page.opens("about:blank")
            page.opens(f"{url}/#page={lesson}" if lesson else url)
            if lesson:
                page.until("() => Boolean(document.querySelector('#lesson .lesson-steps'))")
                page.until(DRAWN)
            else:
                page.reads()
            assert page.runs("() => document.documentElement.scrollWidth") <= 390, lesson


def test_see_by_mouse_finger_and_keyboard(folder, visit):
    page = visit
    page.sized(1280, 720)
    with plain_server(folder) as url:
        page.opens(url)
        page.reads("r => r.row")
        page.until(HAS, ".see-moments button:nth-child(2)")
        box_before = page.runs(BOX_OF, PICTURE)

        page.clicks("[data-ref=switch]")
        assert page.reads("r => r.scale === 1")["scale"] == 1
        page.clicks("[data-ref=switch]")
        page.reads("r => r.scale !== 1")
        page.clicks(".see-moments button:nth-child(2)")
        moment_state = page.reads("r => r.locked || r.query !== null")
        for door in ("Why", "Heads", "Numbers"):
            page.clicks(".see-doors button", door)
            page.until(HAS, '.see-doors button[aria-expanded="true"]')
            assert page.runs(BOX_OF, PICTURE) == box_before, f"{door} moves the photograph"
            page.clicks(".see-doors button", door)

        left, top, width, height = box_before
        page.taps(left + 0.2 * width, top + 0.8 * height)
        tapped_state = page.reads("r => r.locked")
        assert tapped_state["query"] != moment_state["query"]

        page.types("l")  # the key l switches between See and Lab
        page.until(HAS, '.lens[data-face="lab"] .bar')
        assert page.reads("r => r.locked")["query"] == tapped_state["query"]
        page.types("l")
        page.until(HAS, '.lens[data-face="see"] .see-says')
        assert page.reads()["query"] == tapped_state["query"]


def asked_since(request_count: int) -> list[str]:
    """The requests after the first `before` requests, except the browser's own checks of sw.js for a new version."""
    return [line for line in ASKED[request_count:] if "sw.js" not in line]


def points(page, patch: tuple[int, int]) -> None:
    row, column = patch
    rows, columns = page.reads()["grid"]
    left, top, width, height = page.runs(f"""() => {{
      const box = document.querySelector("{PICTURE}").getBoundingClientRect();
      return [box.left, box.top, box.width, box.height]; }}""")
    page.points(left + (column + 0.5) * width / columns, top + (row + 0.5) * height / rows)


def gives(page, file) -> None:
    page.runs(HAND_OVER, ["drop", "image/jpeg", base64.b64encode(file.read_bytes()).decode(), file.name])
