"""Faults that no visitor causes: the server is lost or full, or a tab is closed during a computation."""

import re

import pytest
from waiting import until

from browser.own_picture import assert_shows, hand_over, picture
from browser.server import serving
from browser.visitor import LOST_SERVER, PatientVisitor
from playground.ui.door import FULL_HTML

CHOICE_KEYS = ("layer", "head", "query", "locked", "row")
CONNECTED = "[data-test-connection-state=CONNECTED]"


@pytest.fixture(scope="module")
def server():
    """A slow server, which computes one picture at a time."""
    with serving(PLAYGROUND_AT_ONCE="1", OMP_NUM_THREADS="1") as running_server:
        yield running_server
        running_server.kill()  # so that it does not finish passes that nobody waits for


@pytest.fixture
def visit(arrive, server):
    return lambda address="": arrive(PatientVisitor, server.url).open(address)


def choice_in(state: dict) -> dict:
    return {key: state[key] for key in CHOICE_KEYS}


# The server is lost and comes back ------------------------------------------------------------------------------------


@pytest.fixture
def chooser(visit):
    """A visitor who has chosen a sample, a layer, a head and a patch."""
    visitor = visit("sample=flock&layer=2")
    visitor.choose_head(1)
    visitor.lock((3, 4))
    visitor.page.wait_for_url("**head=1**locked=true**")
    return visitor


def test_a_page_outlives_its_server_and_finds_the_next_one_by_itself(chooser, server):
    choice_before, link = choice_in(chooser.read()), chooser.page.url
    server.kill()
    chooser.page.locator(CONNECTED).wait_for(state="detached")
    chooser.page.keyboard.press("Escape")
    chooser.hover((8, 8))  # works without the server, because the numbers are in the browser
    chooser.lock((3, 4))
    server.start().wait()
    chooser.page.locator(CONNECTED).wait_for()
    assert choice_in(chooser.read()) == choice_before
    assert chooser.page.url.split("?")[1] == link.split("?")[1]
    chooser.pick("portrait")
    chooser.page.wait_for_url("**sample=portrait**")
    assert chooser.read()["layer"] == 2


@pytest.mark.slow
def test_a_lost_connection_is_told_in_our_words_and_the_picture_goes_on(chooser, server):
    server.kill()
    try:
        notice = chooser.page.locator(".attention-notice")
        notice.get_by_text("The connection to the server is lost").wait_for()
        chooser.page.keyboard.press("Escape")
        chooser.hover((8, 8))
        chooser.lock((3, 4))
    finally:
        server.start().wait()
    chooser.page.locator(CONNECTED).wait_for()
    notice.wait_for(state="hidden")


RECORD_DIALOGS = """
window.dialogs = 0;
window.painted = [];
new MutationObserver((changes) => {
  for (const { addedNodes } of changes)
    for (const added of addedNodes) window.dialogs += Boolean(added.textContent?.includes("Connection error"));
}).observe(document, { subtree: true, childList: true });
const frame = () => {
  if (document.body?.innerText.includes("streamlit run")) window.painted.push(document.body.innerText);
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
"""


@pytest.mark.slow
def test_streamlit_s_own_dialog_is_closed_before_anybody_sees_it(visit, server):
    """Streamlit's dialog tells how to start a server, which a visitor cannot do."""
    visitor = visit("sample=flock")
    visitor.context.add_init_script(RECORD_DIALOGS)
    visitor.page.reload()
    visitor.until()
    visitor.rest()
    server.kill()
    try:
        visitor.page.wait_for_function("() => dialogs > 0")
        visitor.page.wait_for_function("() => !document.body.innerText.includes('Connection error')")
        visitor.hover((8, 8))
    finally:
        server.start().wait()
    visitor.page.locator(CONNECTED).wait_for()
    assert visitor.page.evaluate("painted") == []


# The server is full ---------------------------------------------------------------------------------------------------


@pytest.fixture
def newcomer(arrive, server):
    return arrive(PatientVisitor, server.url)


@pytest.fixture
def make_room(newcomer, server):
    """Simulates a full server: the first page loads but gets no socket, and later pages get status 503. The fixture
    returns a function that ends this."""
    page, page_addresses = newcomer.page, []
    newcomer.forgiven_errors = re.compile(f"{LOST_SERVER.pattern}|status of 503")
    page.route_web_socket(
        "**/_stcore/stream", lambda socket: socket.close(code=1013) if page_addresses else socket.connect_to_server()
    )

    def answer(page_route) -> None:
        if len(page_addresses) < 2:
            page_addresses.append(page_route.request.url)
        if len(page_addresses) == 1:  # the first page
            return page_route.continue_()
        page_route.fulfill(status=503, content_type="text/html", body=FULL_HTML)

    pages = re.compile(f"^{server.url}/(by_hand)?(\\?.*)?$")
    page.route(pages, answer)

    def let_in() -> None:
        page.unroute(pages)
        page_addresses.clear()

    return let_in


@pytest.mark.slow
def test_who_gets_no_socket_has_the_microscope_reads_that_the_server_is_full_and_comes_in_by_itself(
    newcomer, make_room, server
):
    page = newcomer.page
    page.goto(f"{server.url}/?model=bundled&sample=flock")
    newcomer.hears("The server is full: the picture works")
    newcomer.hover((4, 5))
    make_room()
    page.locator(CONNECTED).wait_for()
    page.locator(".attention-early").wait_for(state="detached")
    page.wait_for_function("() => sentences().length === 0")
    assert newcomer.until()["query"] == "4,5"


@pytest.mark.slow
def test_on_a_lesson_who_gets_no_socket_reads_that_the_server_is_full_and_comes_in_by_itself(
    newcomer, make_room, server
):
    """Streamlit alone would show grey bars and no message."""
    page = newcomer.page
    page.goto(f"{server.url}/by_hand?model=bundled&sample=flock")
    page.get_by_role("heading", name="Full, trying again").wait_for()
    make_room()
    page.get_by_role("heading", name="By hand").first.wait_for()  # the page has reloaded by itself


@pytest.mark.slow
def test_a_newcomer_whose_server_is_lost_reads_so_and_comes_in_when_it_is_back(newcomer, server):
    page, restarts = newcomer.page, []

    def connect(socket) -> None:
        if restarts:
            return socket.connect_to_server()
        if server.process.poll() is None:
            server.kill()
        socket.close(code=1013)

    page.route_web_socket("**/_stcore/stream", connect)
    page.goto(f"{server.url}/?model=bundled&sample=flock")
    try:
        newcomer.hears("The server does not answer. This page tries again by itself.")
        assert "streamlit run" not in page.inner_text("body")
    finally:
        restarts.append(True)
        server.start().wait()
    page.locator(CONNECTED).wait_for()
    assert newcomer.until()["picture"] == "flock"


@pytest.mark.slow
@pytest.mark.parametrize("when", ["away", "starting"])
def test_what_is_chosen_before_the_server_is_back_is_answered_when_it_is(chooser, server, when):
    """Streamlit alone would lose the choice: without a connection, or before the new session has drawn the toolbar."""
    with chooser.page.expect_websocket():
        server.kill()
        chooser.page.locator(CONNECTED).wait_for(state="detached")
        if when == "away":
            chooser.press_sample("still-life")
        server.start().wait()
    if when == "starting":
        chooser.press_sample("still-life")
    chooser.page.locator('.strip [data-sample="still-life"][aria-pressed="true"]').wait_for(state="attached")
    chooser.page.wait_for_url("**sample=still-life**")
    chooser.until("r => r.head === 1 && !r.locked")  # the head stays; the lock belonged to the former picture


@pytest.mark.slow
def test_the_next_server_draws_a_lesson_and_hears_what_is_chosen_there(visit, server):
    """Streamlit alone would not ask a new server for a run, and would lose a fragment's later requests."""
    visitor = visit("model=bundled&sample=flock")
    visitor.page.goto(f"{server.url}/patches?model=bundled&sample=flock")
    visitor.page.locator(".drawing .apart").wait_for()
    visitor.page.locator('[data-testid="stCode"] code span').first.wait_for()  # Streamlit fetches its highlighter late
    visitor.rest()
    frames = []
    visitor.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    with visitor.page.expect_websocket():
        server.kill()
        visitor.page.locator(CONNECTED).wait_for(state="detached")
        server.start().wait()
    # Playwright reports sent frames only while a call of it runs, hence evaluate("true")
    until(lambda: visitor.page.evaluate("true") and frames, "the page has not asked the new server to draw it")
    visitor.press_sample("portrait")  # during the server's first run of the page
    visitor.page.wait_for_url("**sample=portrait**")
    visitor.page.locator(".drawing .apart").wait_for()


@pytest.mark.slow
def test_the_next_server_is_sent_the_visitor_s_own_picture(visit, server):
    visitor, data = visit("sample=flock"), picture(320, 240)
    visitor.forgiven_errors = re.compile(f"{LOST_SERVER.pattern}|status of 404 .*/api/")
    hand_over(visitor, "drop", data)
    assert_shows(visitor, data, "dropped.jpg")
    link = visitor.page.url
    for page, selector in (("", ".lens"), ("patches", ".drawing .apart")):
        server.kill()
        server.start().wait()
        visitor.page.goto(link.replace("/?", f"/{page}?"))
        visitor.page.locator(selector).first.wait_for()
        visitor.rest()
        assert "mine=" in visitor.page.url
        if not page:
            assert_shows(visitor, data, "dropped.jpg")
            assert visitor.uploaded == ["dropped.jpg"] * 2, "once to each server"


# Several tabs, reloads and closed tabs --------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_tabs_of_one_browser_do_not_disturb_each_other(visit):
    first_tab = visit("sample=flock&layer=1")
    second_tab = first_tab.new_tab().open("model=bundled&sample=meadow&layer=4")
    first_tab.pick("portrait")
    first_tab.page.wait_for_url("**sample=portrait**")
    second_tab.choose_head(3)
    second_tab.page.wait_for_url("**head=3**")
    first_tab.page.reload()
    second_tab.page.reload()
    assert first_tab.until()["layer"] == 1
    assert "portrait" in first_tab.page.url
    assert "head" not in first_tab.page.url
    assert (second_tab.until()["layer"], second_tab.until()["head"]) == (4, 3)
    assert "sample=meadow" in second_tab.page.url


@pytest.mark.slow
def test_a_reload_in_the_middle_of_an_answer_harms_nothing(visit):
    visitor = visit("model=ViT-S/16")
    visitor.press_sample("flock")
    visitor.page.reload()
    visitor.until()
    visitor.pick("portrait")
    visitor.page.wait_for_url("**model=ViT-S**sample=portrait**")
    visitor.hover((2, 3))
