"""The learner's page on the server, under the base path of a host that several apps share: the page of the
folder without a server, with HTTP as its source. Tests of the folder that hold here too have a parameter for it."""

from urllib.parse import urlsplit

import pytest

from browser.on_the_site import SiteVisitor
from browser.policy import WATCH_VIOLATIONS
from browser.server import serving
from browser.truth import assert_close, rounded_trace

BASE_PATH = "/attention"
MOST_BYTES_OF_A_RELOAD = 20_000
READ_TRANSFERRED = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map(({ name, transferSize }) => [name, transferSize])"""


@pytest.fixture(scope="module")
def server():
    with serving(STREAMLIT_SERVER_BASE_URL_PATH=BASE_PATH.strip("/")) as running_server:
        yield running_server


@pytest.fixture
def visitor(arrive, server):
    """A visitor whose browser must meet nothing of Streamlit, no socket, and nothing that the page's policy forbids."""
    guest = arrive(SiteVisitor, server.url)
    guest.context.add_init_script(WATCH_VIOLATIONS)
    sockets: list[str] = []
    guest.page.on("websocket", lambda socket: sockets.append(socket.url))
    yield guest
    ours = tuple(f"{BASE_PATH}/{part}" for part in ("", "api/", "figure."))
    assert [path for path in guest.requested_paths if not path.startswith(ours)] == []
    assert sockets == []
    assert guest.page.evaluate("violations") == []


def opens_lesson(visitor: SiteVisitor, lesson: str, step: str) -> None:
    """Opens a step from whatever page is on view."""
    visitor.page.goto(f"{visitor.url}/{lesson}?sample=meadow&model=bundled&step={step}")
    visitor.page.locator("#lesson .guess").first.wait_for()


def test_microscope_story_moments_and_lessons_open_without_streamlit(visitor):
    visitor.arrive("?sample=meadow&model=bundled")
    truth = rounded_trace()
    state = visitor.hover((7, 5))
    assert_close(state["row"], truth.row(state["layer"], state["head"], (7, 5)))
    visitor.page.goto(f"{visitor.url}/story?sample=meadow&model=bundled")
    visitor.page.locator(".story").first.wait_for()
    assert urlsplit(visitor.page.url).path == f"{BASE_PATH}/"
    visitor.page.goto(f"{visitor.url}/moments")
    visitor.page.locator(".wall img").first.wait_for()
    for lesson, step in (("scale", "answer"), ("heads", "row")):
        opens_lesson(visitor, lesson, step)
    visitor.unfold("pages").get_by_role("link", name="Microscope").click()
    visitor.until("r => r.picture === 'meadow'")


@pytest.mark.parametrize("lesson", [None, ("weight", "carries")])
def test_a_reload_is_small(visitor, lesson):
    visitor.arrive("?sample=meadow&model=bundled")
    if lesson:
        opens_lesson(visitor, *lesson)
    for _ in range(2):  # a slow step came in pieces: it is whole, and kept, from the first reload on
        visitor.page.wait_for_load_state("networkidle")
        visitor.page.reload()
        if lesson:
            visitor.page.locator("#lesson .lesson-next").wait_for(state="attached")
    visitor.page.wait_for_load_state("networkidle")
    transferred = visitor.page.evaluate(READ_TRANSFERRED)
    assert sum(size for _, size in transferred) <= MOST_BYTES_OF_A_RELOAD, transferred
