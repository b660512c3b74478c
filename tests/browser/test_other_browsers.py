"""See, a photograph of one's own, the story, a lesson, a class's phone, a shared page, a visit without a network: in
WebKit and in Firefox, where Debian's are on this machine."""

import base64
import re
import urllib.error
import urllib.request

import numpy as np
import pytest
from colourful import COLOURFUL_FILES
from PIL import Image

import playground
from browser.others import BROWSERS, lens, missing, other_browser, press, until
from browser.own_picture import HAND_OVER, picture
from browser.test_colours import DISPLAYED_PIXELS, MOST_LEVELS, SIZE, write_decoding
from browser.truth import assert_close, largest_difference, model, rounded_trace
from browser.visitor import LAST_STEP
from browser.without_server import plain_server
from playground import samples
from playground.ui import site

NOT_IN_WEBKIT = (
    "gamma|transparent, (turned|Display|Adobe)"  # profiles and turns that its decoders of PNG and WebP ignore
)
EIGHT_BITS = 0.05  # most error of a weight whose model has 8 bits
ELEMENT = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script type="module" src="embed/attention-lens.js"></script>
<attention-lens model="weights/{weights}" picture="mine.jpg"></attention-lens>"""
HAND_OVER_WORDS = f"(...given) => ({HAND_OVER})(given)"
IS_STORED = """() => new Promise((resolve, reject) => {
  const opening = indexedDB.open("attention-playground", 1);
  opening.onerror = reject;
  opening.onsuccess = () => {
    const counting = opening.result.transaction("photographs").objectStore("photographs").count();
    counting.onsuccess = () => [opening.result.close(), resolve(counting.result > 0)];
  };
})"""
LESSON_DRAWN = """() => {
  const all = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
  const lesson = document.querySelector("#lesson");
  const isDrawing = (e) => ["svg", "canvas"].includes(e.localName) && e.clientWidth > 100;
  return lesson && !lesson.hidden && all(lesson).some(isDrawing);
}"""


@pytest.fixture(scope="module", params=BROWSERS)
def browser(request):
    if why := missing(request.param):
        pytest.skip(f"{why}: apt-get install webkit2gtk-driver xvfb firefox-esr")
    with other_browser(request.param) as running:
        yield running


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "out"
    site.write(folder, "/", ["bundled"], named_samples=("meadow",), lessons=("by_hand",))
    (weights,) = folder.glob("weights/*.bin")
    (folder / "mine.jpg").write_bytes(picture(320, 240))
    (folder / "element.html").write_text(ELEMENT.format(weights=weights.name))
    with plain_server(folder) as url:
        yield url


def point_at_patch(browser, row: int, column: int) -> dict:
    """Points at the middle of a patch; what the lens then reads."""
    place = browser.ask(
        """(row, column) => {
          const [rows, columns] = theLens().read().grid;
          const { left, top, width, height } = lensRoot.querySelector('[data-ref="picture"]').getBoundingClientRect();
          return [left + ((column + 0.5) / columns) * width, top + ((row + 0.5) / rows) * height];
        }""",
        row,
        column,
    )
    browser.point(place[0] - LAST_STEP, place[1] - LAST_STEP)
    browser.point(*place)
    return lens(browser, f"r => r.query === '{row},{column}'")


def test_the_first_page_points_and_flips_the_scale_and_every_row_is_python_s(browser, server):
    browser.open(f"{server.url}/?model=bundled&sample=meadow&layer=4&head=1&face=see")
    lens(browser, "r => r.layer === 4 && r.head === 1")
    truth = rounded_trace()
    for query in ((7, 5), (2, 9)):
        assert_close(point_at_patch(browser, *query)["row"], truth.row(4, 1, query))
    press(browser, '[role="switch"]')
    state = lens(browser, "r => r.scale === 1")
    query = tuple(map(int, state["query"].split(",")))
    assert_close(state["row"], truth.row(4, 1, query, scale="off"))


def test_a_photograph_is_seen_in_the_browser_itself_twice(browser, host):
    data = picture(320, 240)
    trace = playground.trace(model(), playground.open_image(data))
    for _ in range(2):  # the second visit is the service worker's
        browser.open("about:blank")  # else another fragment is no visit
        browser.open(f"{host}/#model=bundled&sample=meadow")
        before = lens(browser, "r => r.picture === 'meadow'")["picture"]
        browser.ask(HAND_OVER, ["drop", "image/jpeg", base64.b64encode(data).decode(), "mine.jpg"])
        lens(
            browser, f"r => r.picture !== {before!r} && r.grid[0] === {trace.grid[0]} && r.grid[1] === {trace.grid[1]}"
        )
        state = point_at_patch(browser, 2, 3)
        assert largest_difference(state["row"], trace.row(state["layer"], state["head"], (2, 3))) < EIGHT_BITS
    browser.open(f"{host}/element.html")
    lens(browser)
    view = f"layer={state['layer']}&head={state['head']}&query=2,3&locked=true"
    browser.ask("(view) => document.querySelector('attention-lens').setAttribute('view', view)", view)
    there = lens(browser, f"r => r.locked && r.query === '2,3' && r.layer === {state['layer']}")
    assert largest_difference(there["row"], state["row"]) < 1e-6, "the element's numbers are the page's"


def test_the_network_sees_python_s_pixels_of_every_kind_of_file(browser, tmp_path):
    photo = playground.open_image(samples.named("meadow").path).resize((431, 338))
    write_decoding(tmp_path)
    worst = {}
    with plain_server(tmp_path) as url:
        browser.open(f"{url}/index.html")
        for kind, write in COLOURFUL_FILES.items():
            if browser.name == "webkit" and re.search(NOT_IN_WEBKIT, kind):
                continue
            data = write(photo)
            pixels = browser.ask(f"(...given) => ({DISPLAYED_PIXELS})(given)", base64.b64encode(data).decode(), *SIZE)
            seen = np.frombuffer(pixels.encode("latin-1"), np.uint8).reshape(*SIZE, 4)[..., :3].astype(int)
            truth = playground.open_image(data).resize(SIZE[::-1], Image.Resampling.BICUBIC)
            worst[kind] = int(np.abs(seen - np.asarray(truth)).max())
    assert max(worst.values()) <= MOST_LEVELS, worst


def test_a_trace_file_is_found_again_after_a_reload(browser, host, tmp_path):
    data = playground.trace(model(), "meadow").save(tmp_path / "mine.trace").read_bytes()
    browser.open(f"{host}/#model=bundled&sample=meadow")
    lens(browser)
    browser.ask(HAND_OVER_WORDS, "drop", "", base64.b64encode(data).decode(), "mine.trace")
    until(browser, "() => location.hash.includes('mine=')")
    until(browser, IS_STORED)
    browser.open(browser.ask("() => location.href").replace("#", "?again#"))
    lens(browser, "r => r.picture.startsWith('t')")


def test_the_story_goes_on_and_a_lesson_is_drawn(browser, host):
    browser.open(f"{host}/#page=story&story=1")
    until(browser, "() => document.querySelector('.story')?.innerText.length > 50")
    browser.open(f"{host}/#page=story&story=7")
    until(browser, "() => document.querySelector('.story')?.innerText.includes('· 7 of 14')")
    browser.open(f"{host}/#page=by_hand&model=bundled&sample=meadow")
    until(browser, LESSON_DRAWN)


def test_a_class_s_phone_finds_the_field(browser, server):
    browser.open(f"{server.url}/c/NOCODE")
    until(browser, "() => document.querySelector('.phone input')?.checkVisibility()")


def test_a_file_that_somebody_shared_opens_without_any_server(browser, tmp_path):
    seen = playground.trace(model(), "meadow")
    playground.save(seen, tmp_path / "meadow.html", layer=4, head=0, query=(7, 5))
    browser.open((tmp_path / "meadow.html").as_uri())
    state = lens(browser, "r => r.layer === 4 && r.query === '7,5'")
    assert_close(state["row"], seen.row(4, 0, (7, 5)))
    until(browser, "() => Boolean(document.querySelector('.lens[data-face=see] .see-moments canvas'))")


def test_a_second_visit_needs_no_network(browser, tmp_path):
    site.write(tmp_path / "out", "/", [], named_samples=(), lessons=())
    with plain_server(tmp_path / "out") as url:
        browser.open(url)
        lens(browser)
        until(browser, "() => navigator.serviceWorker.ready.then(() => Boolean(navigator.serviceWorker.controller))")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url)
    browser.open(url)
    lens(browser)
