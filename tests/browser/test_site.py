"""The playground without a server: a plain file server serves the folder that `site` writes. No other host answers."""

import re
import shutil
from functools import partial
from itertools import groupby, islice
from pathlib import Path

import numpy as np
import pytest
import waiting
from hostile import KINDS

from browser.on_the_site import DATA_SAVER, READ_FIRST_DRAWING, SiteVisitor
from browser.own_picture import assert_opens_a_trace_file, hand_over, picture
from browser.truth import assert_close, rounded_trace
from browser.visitor import finish_exercise
from browser.without_server import REQUEST_LOG, StrictHandler, plain_server
from playground.samples import named
from playground.serving import models
from playground.ui import site

HOSTILE_FOLDER = Path(__file__).parents[1] / "hostile" / "kept"
MOST_FILE_BYTES = 100_000  # most bytes of a hostile file that the test opens
FILES_PER_KIND = 8
SLOW_FILES = (
    "a JPEG of 2,000 scans",  # refused only after twenty seconds
    "a HEIC of 48 megapixels that claims 64 × 48",  # making each HEIC takes ten seconds; Chromium reads none
    "a HEIC of 900 large tiles",
)
# Closes a notice and returns the notice's sentence. Without a notice, returns true once the picture has changed.
READ_OUTCOME = """(before) => {
  const said = sentences()[0];
  if (said) document.querySelector(".attention-notice button").click();
  return said ?? (theLens().read().picture !== before || null);
}"""
REFUSALS = "can't open that file|million pixels|takes too long|sides may be from 8"
# How many versions of the page the browser keeps
COUNT_VERSIONS = """async () => {
  const list = await (await caches.open("attention-playground-files")).match(new URL("versions", location.href));
  return list ? (await list.json()).length : 0;
}"""
# Whether the service worker of a new version is ready, but has not taken over
IS_NEXT_KEPT = """async () => {
  const { waiting, active } = await navigator.serviceWorker.getRegistration("/playground/");
  return Boolean(waiting) || active.state !== "activated";
}"""
EIGHT_BITS = 0.05  # most error of an attention weight if the model's weights have 8 bits


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    names = [name for name in ("bundled", models.PHOTOGRAPH_MODEL) if models.is_here(name)]
    return site.write(
        tmp_path_factory.mktemp("host") / "playground",
        "/playground/",
        names,
        named_samples=("meadow",),
        lessons=("by_hand", "heads", "training"),
    )


@pytest.fixture(scope="module")
def host(folder):
    with plain_server(folder.parent) as url:
        yield f"{url}/playground"


def test_the_first_picture_needs_no_network_and_each_head_and_layer_answers_as_python_does(somebody):
    visitor = somebody()
    assert not [file for file in visitor.files() if file.startswith(("worker", "kernels")) or file.endswith(".bin")]
    visitor.page.evaluate("location.hash = 'model=bundled&sample=meadow&layer=4&head=1'")
    visitor.until("r => r.picture === 'meadow' && r.layer === 4")
    truth = rounded_trace()
    state = visitor.hover((7, 5))
    assert state["grid"] == list(truth.grid)
    assert_close(state["row"], truth.row(4, 1, (7, 5)))
    visitor.lock((7, 5))
    visitor.choose_layer(2)
    state = visitor.choose_head(0)
    assert_close(state["row"], truth.row(2, 0, (7, 5)))
    visitor.page.locator('.lens [data-choice="beside"] [data-value="wall"]').click()
    state = visitor.until("r => r.layersHeld.length === 6")
    assert not [file for file in visitor.files() if file.endswith(".bin")], "layers of samples lie in files"
    assert "#" in visitor.page.url
    assert "?" not in visitor.page.url
    waiting.until(lambda: [name for name in visitor.files() if "names" in name], "nobody asks for the names of heads")
    assert visitor.page.evaluate("violations") == []


def test_an_address_that_is_changed_by_hand_is_followed_with_its_face_also_from_a_lesson(somebody):
    visitor = somebody("#model=bundled&sample=meadow&layer=4&head=1")
    for words in ("face=see&layer=2&head=0", "page=by_hand", "face=lab&layer=3&head=2&model=bundled&sample=flock"):
        visitor.page.evaluate("words => { location.hash = words; }", words)
        if words.startswith("page"):
            visitor.page.get_by_role("heading", name="By hand").wait_for()
            continue
        face, layer, head = re.match(r"face=(\w+)&layer=(\d)&head=(\d)", words).groups()
        visitor.until(f"r => r.layer === {layer} && r.head === {head}")
        visitor.page.locator(f'.lens[data-face="{face}"]').wait_for()


def test_a_photograph_stays_in_the_browser(somebody):
    visitor = somebody("#model=bundled&sample=flock")
    sheet = visitor.unfold("photo")
    assert "Your photograph stays here" in sheet.inner_text()
    visitor.page.keyboard.press("Escape")
    visitor.bring_photograph(named("twins").path)
    visitor.until("r => r.layersHeld.length > 2")
    request_count = len(REQUEST_LOG)
    visitor.bring_photograph(named("meadow").path, gesture="paste")
    state = visitor.until("r => r.layersHeld.length === 6")
    assert REQUEST_LOG[request_count:] == [], "once the network is here nobody is asked for anything"
    assert visitor.uploaded == []
    truth = rounded_trace()
    row = truth.row(state["layer"], state["head"], _query_of(state)).numpy()
    assert np.abs(np.asarray(state["row"]) - row).max() < EIGHT_BITS
    view = dict(layer=5, head=1, query="7,5", locked=True, scale="off", **{"pass": "whole"})
    visitor.page.evaluate("view => theLens().update({ view })", view)
    assert visitor.until("r => r.pass === 'whole'")["scale"] == 1
    for map_name in ("similarity", "rollout"):
        visitor.page.evaluate(
            "view => theLens().update({ view })", {"layer": 5, "locked": True, "query": "7,5", "what": map_name}
        )
        visitor.until(f"r => r.what === '{map_name}' && r.map")
    assert REQUEST_LOG[request_count:] == []
    assert visitor.page.evaluate("violations") == []


@pytest.mark.slow
def test_a_saved_trace_is_opened_and_a_sample_after_it(somebody, tmp_path):
    visitor = somebody("#model=bundled&sample=meadow")
    assert_opens_a_trace_file(visitor, tmp_path)
    visitor.unfold("pictures").locator("[data-sample=meadow]").click()
    assert visitor.until("r => r.picture === 'meadow'")["model"] == "bundled"


def test_the_second_visit_needs_no_host_and_a_new_version_takes_nothing_of_the_old_one(
    arrive, folder, monkeypatch, tmp_path
):
    site_folder = tmp_path / "host" / "playground"
    shutil.copytree(folder, site_folder)
    with plain_server(site_folder.parent) as url:
        visitor = arrive(SiteVisitor, f"{url}/playground").arrive("#model=bundled&sample=flock")
        visitor.wait_until_kept()
        visitor.bring_photograph(named("twins").path)
        visitor.until("r => r.layersHeld.length === 6")
        own_picture = visitor.read()["picture"]
        visitor.page.goto("about:blank")
        request_count = len(REQUEST_LOG)
        visitor.forgiven_errors = re.compile("ERR_")
        visitor.context.set_offline(True)
        visitor.arrive(f"#model=bundled&mine={own_picture}")
        assert visitor.until("r => r.layersHeld.length === 6")["picture"] == own_picture, (
            "the network is kept, and the picture"
        )
        later_requests = [
            line for line in REQUEST_LOG[request_count:] if "sw.js" not in line
        ]  # the browser itself checks sw.js for a new version
        assert later_requests == []
        visitor.context.set_offline(False)

        monkeypatch.setattr(site, "__version__", "99")
        monkeypatch.setattr(site, "DESCRIPTION", "Another version.")
        site.write(site_folder, "/playground/", [], named_samples=(), lessons=())
        visitor.page.reload()
        visitor.until()
        assert "Another version." in visitor.page.content()
        waiting.until(lambda: visitor.page.evaluate(IS_NEXT_KEPT), "the new version is not kept")
        assert "new version" not in " ".join(visitor.page.evaluate("sentences()")), "this page is the new version"
        visitor.page.goto(f"{url}/")  # no page of the folder is open now, so the new service worker takes over
        waiting.until(lambda: not visitor.page.evaluate(IS_NEXT_KEPT), "the new version has not taken over")
        visitor.context.set_offline(True)
        visitor.arrive()
        assert "Another version." in visitor.page.content()
        assert visitor.page.evaluate(COUNT_VERSIONS) == 2, "the old version is kept beside the new one"


def test_what_a_server_alone_can_do_is_said_in_a_sentence(somebody):
    visitor = somebody("#model=bundled&sample=meadow")
    visitor.unfold("pages").get_by_role("link", name="Training: from").click()
    visitor.page.get_by_role("heading", name="Training: from").wait_for()
    assert "page=training" in visitor.page.url
    assert "The app has this lesson whole" in visitor.page.locator("#lesson").inner_text()
    visitor.page.get_by_role("button", name="3 · Train two now").click()
    visitor.page.get_by_text("Only the app trains").wait_for()
    for _ in range(2):  # the step, then the lesson
        visitor.page.go_back()
    visitor.part("picture").wait_for()
    visitor.unfold("pages").get_by_role("link", name="By hand").click()
    visitor.page.get_by_role("button", name="Queries = 0").click()
    finish_exercise(visitor.page, "by_hand_even")
    visitor.page.get_by_role("button", name="4 · Masks").click()
    read_weight, ninth = f"{READ_FIRST_DRAWING}?.weights?.[1]", pytest.approx(1 / 9)
    waiting.until(lambda: visitor.page.evaluate(read_weight) == ninth, "the masks do not follow the arrows")


def test_a_lost_worker_is_started_again(somebody):
    visitor = somebody("#model=bundled&sample=portrait", service_workers="block")
    visitor.context.route("**/worker-*.js", lambda route: route.fulfill(body="throw 1", content_type="text/javascript"))
    visitor.forgiven_errors = re.compile("Uncaught 1")
    hand_over(visitor, "drop", named("twins").path.read_bytes(), "image/jpeg", "twins.jpg")
    visitor.hears("has stopped: try it again")
    visitor.context.unroute("**/worker-*.js")
    visitor.bring_photograph(named("meadow").path)
    visitor.until("r => r.layersHeld.length === 6")


def test_an_address_that_is_not_there_leads_to_the_page_that_it_names(arrive, host):
    """GitHub Pages answers a missing address with 404.html. A plain file server does not, so a route does so here."""
    visitor = arrive(SiteVisitor, host)
    visitor.context.route("**/playground/heads*", lambda route: route.fulfill(
        status=404, content_type="text/html",
        body=visitor.context.request.get(f"{visitor.url}/404.html").text(),
    ))  # fmt: skip
    visitor.forgiven_errors = re.compile("404")
    visitor.page.goto(f"{visitor.url}/heads?sample=flock")
    visitor.page.get_by_role("heading", name="Heads").wait_for()
    assert "page=heads" in visitor.page.url
    assert "sample=flock" in visitor.page.url


@pytest.mark.slow
def test_a_large_network_is_fetched_when_a_person_wants_it_and_on_a_phone_too(somebody, folder):
    if not list(folder.glob("weights/dinov2*")):
        pytest.skip("DINOv2 is not on this machine")
    phone_options = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    visitor = somebody("#model=dinov2-small&sample=chelsea", **phone_options)
    visitor.page.evaluate("theLens().update({ view: { layer: 6, what: 'similarity' } })")
    assert "24 MB, once" in visitor.hears("not in this browser yet")
    assert not [name for name in visitor.files() if name.endswith(".bin")]
    visitor.page.locator(".attention-notice button", has_text="fetch it").tap()
    visitor.until("r => r.what === 'similarity' && r.map")
    visitor.bring_photograph(named("meadow").path)
    state = visitor.until("r => r.model === 'dinov2-small' && r.layersHeld.length === 12 && r.grid[0] > 16")
    assert state["grid"][0] * state["grid"][1] <= 784


@pytest.mark.slow
def test_hostile_files_are_shown_or_refused_in_a_sentence_and_the_next_photograph_is_looked_at(somebody):
    visitor = somebody("#model=bundled&sample=flock")
    kinds = groupby(sorted(HOSTILE_FOLDER.iterdir()), lambda file: file.name.partition("-")[0])
    kept_file_makers = {file.name: file.read_bytes for _, files in kinds for file in islice(files, FILES_PER_KIND)}
    file_bytes = {name: make() for name, make in (kept_file_makers | KINDS).items() if name not in SLOW_FILES}
    for name, data in file_bytes.items():
        if len(data) > MOST_FILE_BYTES:
            continue
        picture_before = visitor.read()["picture"]
        hand_over(visitor, "drop", data, "image/png", f"{len(data)}.png")
        outcomes = []
        read_outcome = partial(visitor.page.evaluate, READ_OUTCOME, picture_before)
        waiting.until(lambda read_outcome=read_outcome, found=outcomes: found.append(read_outcome()) or found[-1], name)
        if outcomes[-1] is not True:
            assert re.search(REFUSALS, outcomes[-1]), name
    visitor.bring_photograph(named("meadow").path)
    visitor.until("r => r.layersHeld.length === 6")
    assert visitor.page.evaluate("violations") == []


NO_WEBASSEMBLY = "WebAssembly.validate = () => false"


def test_a_browser_that_cannot_compute_shows_samples_and_says_what_it_lacks(arrive, host):
    visitor = arrive(SiteVisitor, host)
    visitor.context.add_init_script(NO_WEBASSEMBLY)
    visitor.arrive("#model=bundled&sample=flock")
    assert visitor.page.locator(".comes").count() == 0
    hand_over(visitor, "drop", named("twins").path.read_bytes(), "image/jpeg", "twins.jpg")
    visitor.hears("no WebAssembly with SIMD")
    assert visitor.hover((3, 3))["picture"] == "flock"


def _query_of(state: dict) -> tuple[int, int] | str:
    return tuple(map(int, state["query"].split(","))) if "," in state["query"] else state["query"]


def test_under_a_host_s_strict_policy_samples_work_and_a_photograph_hears_what_is_forbidden(arrive, folder):
    with plain_server(folder.parent, StrictHandler) as url:
        visitor = arrive(SiteVisitor, f"{url}/playground")
        visitor.forgiven_errors = re.compile("Content Security Policy")
        visitor.context.add_init_script(DATA_SAVER)
        state = visitor.arrive("#model=bundled&sample=meadow&layer=4&head=1").hover((7, 5))
        assert_close(state["row"], rounded_trace().row(4, 1, (7, 5)))
        hand_over(visitor, "drop", picture(320, 240))
        assert "wasm-unsafe-eval" in visitor.hears("policy")
