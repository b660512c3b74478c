"""The microscope works before Streamlit has built its page, and does not change when Streamlit's page comes."""

import re
import tomllib
from pathlib import Path

import pytest

from browser.own_picture import hand_over, picture
from browser.visitor import Visitor

ROOT = Path(__file__).parents[2]
STREAMLIT_SCRIPTS = "**/static/js/**"
EARLY_PAGE = ".attention-early"
BOXES = """() => {
  const boxOf = (root, selector) => {
    const found = root.querySelector(selector);
    if (found) return JSON.stringify(found.getBoundingClientRect());
    for (const element of root.querySelectorAll("*")) {
      const inner = element.shadowRoot && boxOf(element.shadowRoot, selector);
      if (inner) return inner;
    }
    return null;
  };
  const parts = [".toolbar", ".strip", '.see-says', '[data-ref="picture"]'];
  return parts.map((one) => [one, boxOf(document, one)]);
}"""


class HeldScripts:
    """Holds Streamlit's scripts back until let_go()."""

    def __init__(self, visitor: Visitor):
        self._page, self._routes, self._is_released = visitor.page, [], False
        self._page.route(STREAMLIT_SCRIPTS, self._hold)

    def _hold(self, route) -> None:
        if self._is_released:
            route.continue_()
        else:
            self._routes.append(route)

    def let_go(self) -> None:
        self._is_released = True
        for route in self._routes:
            route.continue_()


@pytest.fixture
def early(arrive, server):
    def come(query: str = "", **options) -> tuple[Visitor, HeldScripts]:
        visitor = arrive(Visitor, server.url, **options)
        held_scripts = HeldScripts(visitor)
        return visitor.open(query, early=True), held_scripts

    return come


def wait_for_streamlit(visitor: Visitor) -> None:
    """Waits until Streamlit's page has replaced the early one."""
    visitor.page.locator(EARLY_PAGE).wait_for(state="detached")
    visitor.rest()


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 820, 1280])
def test_nothing_moves_when_streamlit_s_page_comes(early, width):
    visitor, held_scripts = early(viewport={"width": width, "height": 720})
    visitor.hover((6, 6))
    visitor.until("r => r.waits === ''")
    boxes_before = visitor.page.evaluate(BOXES)
    assert all(box for _, box in boxes_before), boxes_before
    held_scripts.let_go()
    wait_for_streamlit(visitor)
    assert visitor.until("r => r.query === '6,6'")["waits"] == ""
    assert visitor.page.evaluate(BOXES) == boxes_before
    visitor.check()


def test_what_is_chosen_before_streamlit_comes_stays(early):
    visitor, held_scripts = early()
    visitor.lock((3, 3))
    visitor.choose_layer(2)
    visitor.press_sample("flock")
    visitor.shows("flock")
    visitor.unfold("compare").locator('[data-beside="portrait"]').click()
    visitor.page.wait_for_url("**with=**")
    visitor.part("twin").wait_for()  # waits until the second picture has made the first one smaller
    visitor.lock((5, 4))
    held_scripts.let_go()
    wait_for_streamlit(visitor)
    state = visitor.until("r => r.locked && r.query === '5,4'")
    assert state["picture"] == "flock"
    assert "with=sample%3Aportrait" in visitor.page.url
    visitor.page.go_back()
    visitor.page.wait_for_url(re.compile("^(?!.*with=)"))
    visitor.shows("flock")
    visitor.check()


def test_a_page_that_was_chosen_before_streamlit_came_is_shown(early):
    visitor, held_scripts = early()
    visitor.unfold("pages").get_by_role("link", name="By hand").click()
    held_scripts.let_go()
    visitor.page.wait_for_url("**/by_hand?**")
    visitor.page.get_by_role("heading", name="By hand").first.wait_for()
    visitor.check()


def session_count(visitor: Visitor) -> int:
    return visitor.page.evaluate("document.querySelectorAll('[data-test-connection-state]').length")


class Newcomer(Visitor):
    remembers_lab = False


@pytest.mark.parametrize("needs", ["lab", pytest.param("a page", marks=pytest.mark.slow)])
def test_in_see_streamlit_begins_when_something_needs_it(arrive, server, needs):
    """Streamlit's page opens a session on the server, which a visitor does not need for looking at pictures, also at
    photographs of their own."""
    visitor = arrive(Newcomer, server.url).open("sample=flock&model=bundled")
    visitor.until("r => r.waits === ''")
    visitor.unfold("pictures").locator('[data-sample="portrait"]').click()
    visitor.until("r => r.picture === 'portrait' && r.waits === ''")
    visitor.page.locator(".see-moments button").nth(1).click()
    hand_over(visitor, "drop", picture(320, 240))
    visitor.until("r => r.picture.length === 16 && r.waits === ''")
    visitor.page.wait_for_load_state("networkidle")
    assert session_count(visitor) == 0
    if needs == "lab":
        visitor.page.keyboard.press("l")
    else:
        visitor.unfold("pages").get_by_role("link", name="By hand").click()
        visitor.page.wait_for_url("**/by_hand?**")
    visitor.page.locator("[data-test-connection-state=CONNECTED]").wait_for()
    visitor.check()


def test_streamlit_begins_where_no_picture_comes(arrive, server):
    visitor = arrive(Visitor, server.url)
    visitor.page.route("**/api/trace?**", lambda route: None)  # this request gets no answer
    visitor.page.goto(server.url)
    visitor.page.locator(".st-key-toolbar").wait_for(state="attached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_early_page_has_the_colours_of_the_theme(arrive, server, scheme):
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"][scheme]
    visitor = arrive(Visitor, server.url, color_scheme=scheme)
    HeldScripts(visitor)
    visitor.open(early=True)
    script = (
        f"() => {{ const style = getComputedStyle(document.querySelector('{EARLY_PAGE}')); return NAMES.map((name) => \
style.getPropertyValue('--st-' + name).trim().toLowerCase().replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3')); }}"
    )
    names = {
        "primary-color": "primaryColor", "background-color": "backgroundColor",
        "secondary-background-color": "secondaryBackgroundColor", "text-color": "textColor",
    }  # fmt: skip
    colours = visitor.page.evaluate(script.replace("NAMES", str(list(names))))
    assert colours == [theme[name].lower() for name in names.values()]
