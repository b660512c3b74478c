"""The playground without a server in the system's Firefox: a plain file server serves the folder that `site` writes."""

import base64

import numpy as np
import pytest

from browser import firefox
from browser.on_the_site import DATA_SAVER
from browser.own_picture import HAND_OVER
from browser.truth import assert_close, rounded_trace
from browser.without_server import REQUEST_LOG, plain_server
from playground.samples import named
from playground.ui import site

LESSONS = ("by_hand", "patches")  # the tests in Chromium open all lessons
pytestmark = pytest.mark.skipif(firefox.find() is None, reason="no Firefox is installed: apt-get install firefox-esr")
EIGHT_BITS = 0.05  # most error of an attention weight if the model's weights have 8 bits
PICTURE = ".lens canvas[data-ref=picture]"

IS_VISIBLE = """(selector) => {
  const roots = [document];
  for (const root of roots)
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot) roots.push(element.shadowRoot);
  return roots.some((root) => [...root.querySelectorAll(selector)].some((one) => one.checkVisibility()));
}"""
READ_BOX = """(selector) => {
  const { left, top, width, height } = document.querySelector(selector).getBoundingClientRect();
  return [left, top, width, height];
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return site.write(tmp_path_factory.mktemp("site") / "out", "/", ["bundled"], named_samples=(), lessons=LESSONS)


@pytest.fixture
def firefox_page(tmp_path):
    with firefox.firefox(tmp_path) as page:
        yield page
        assert page.errors == []


@pytest.fixture
def page(firefox_page):
    """A page with data saver on, so that it fetches nothing in advance."""
    firefox_page.command("script.addPreloadScript", functionDeclaration=f"() => {{ {DATA_SAVER} }}")
    return firefox_page


def test_samples_are_python_s_and_a_photograph_is_computed_here_and_asks_nobody(folder, page):
    with plain_server(folder) as url:
        page.open(f"{url}/#model=bundled&sample=meadow&layer=4&head=1")
        page.read("r => r.picture === 'meadow' && r.layer === 4")
        point_at(page, (7, 5))
        truth = rounded_trace()
        assert_close(page.read("r => r.query === '7,5'")["row"], truth.row(4, 1, (7, 5)))

        drop(page, named("twins").path)
        page.read("r => r.picture !== 'meadow' && r.layersHeld.length === 6")
        request_count, sample_picture = len(REQUEST_LOG), page.read()["picture"]
        drop(page, named("meadow").path)
        state = page.read(f"r => r.picture !== '{sample_picture}' && r.layersHeld.length === 6")
        row = truth.row(state["layer"], state["head"], tuple(map(int, state["query"].split(",")))).numpy()
        assert np.abs(np.asarray(state["row"]) - row).max() < EIGHT_BITS
        view = {"layer": 5, "head": 1, "query": "7,5", "locked": True}
        page.run("view => theLens().update({ view })", view | {"scale": "off", "pass": "whole"})
        assert page.read("r => r.pass === 'whole'")["scale"] == 1
        for map_name in ("similarity", "rollout"):
            page.run("view => theLens().update({ view })", view | {"what": map_name})
            page.read(f"r => r.what === '{map_name}' && r.map")
        assert requests_since(request_count) == [], "nobody is asked for anything"


def test_see_works_by_mouse_finger_and_keyboard(folder, firefox_page):
    page = firefox_page
    page.set_size(1280, 720)
    with plain_server(folder) as url:
        page.open(url)
        page.read("r => r.row")
        page.until(IS_VISIBLE, ".see-moments button:nth-child(2)")
        box_before = page.run(READ_BOX, PICTURE)

        page.click("[data-ref=switch]")
        assert page.read("r => r.scale === 1")["scale"] == 1
        page.click("[data-ref=switch]")
        page.read("r => r.scale !== 1")
        page.click(".see-moments button:nth-child(2)")
        moment_state = page.read("r => r.locked || r.query !== null")
        for door in ("Why", "Heads", "Numbers"):
            page.click(".see-doors button", door)
            page.until(IS_VISIBLE, '.see-doors button[aria-expanded="true"]')
            assert page.run(READ_BOX, PICTURE) == box_before, f"{door} moves the photograph"
            page.press("Escape")

        left, top, width, height = box_before
        page.tap(left + 0.2 * width, top + 0.8 * height)
        tapped_state = page.read("r => r.locked")
        assert tapped_state["query"] != moment_state["query"]

        page.press("l")  # the key l switches between See and Lab
        page.until(IS_VISIBLE, '.lens[data-face="lab"] .bar')
        assert page.read("r => r.locked")["query"] == tapped_state["query"]
        page.press("l")
        page.until(IS_VISIBLE, '.lens[data-face="see"] .see-says')
        assert page.read()["query"] == tapped_state["query"]


def requests_since(request_count: int) -> list[str]:
    """The requests after the first `request_count`, except the browser's own checks of sw.js for a new version."""
    return [line for line in REQUEST_LOG[request_count:] if "sw.js" not in line]


def point_at(page, patch: tuple[int, int]) -> None:
    row, column = patch
    rows, columns = page.read()["grid"]
    left, top, width, height = page.run(f"""() => {{
      const box = document.querySelector("{PICTURE}").getBoundingClientRect();
      return [box.left, box.top, box.width, box.height]; }}""")
    page.point(left + (column + 0.5) * width / columns, top + (row + 0.5) * height / rows)


def drop(page, file) -> None:
    page.run(HAND_OVER, ["drop", "image/jpeg", base64.b64encode(file.read_bytes()).decode(), file.name])
