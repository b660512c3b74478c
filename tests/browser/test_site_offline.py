"""The site without a server and without a network: kept parts work, and a sentence says which part is missing."""

import io
import re

import pytest
import waiting
from PIL import Image

import playground
from browser.on_the_site import DATA_SAVER, SiteVisitor
from browser.own_picture import hand_over
from browser.without_server import REQUEST_LOG, plain_server
from playground.samples import named, samples
from playground.ui import site

READ_KEPT_PART = "document.getElementById('foot').dataset.kept"
MOST_FIRST_BYTES = 600_000
OFFLINE_ERRORS = re.compile("ERR_")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    site_folder = tmp_path_factory.mktemp("host") / "playground"
    return site.write(site_folder, "/playground/", ["bundled"], named_samples=(), lessons=("code",))


@pytest.fixture
def somebody(arrive, folder):
    with plain_server(folder.parent) as url:

        def come(address: str = "#model=bundled&sample=meadow", script: str = "") -> SiteVisitor:
            visitor = arrive(SiteVisitor, f"{url}/playground")
            visitor.context.add_init_script(script)
            return visitor.arrive(address)

        yield come


def go_offline(visitor) -> None:
    visitor.forgiven_errors = OFFLINE_ERRORS
    visitor.context.set_offline(True)


def wait_until_kept(visitor, kept_part: str) -> None:
    waiting.until(lambda: visitor.page.evaluate(READ_KEPT_PART) == kept_part, f"not {kept_part} is kept")


def picture(*size: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, "teal").save(buffer, "PNG")
    return buffer.getvalue()


def test_the_first_picture_is_small_on_a_host_that_compresses_nothing(somebody, folder):
    visitor = somebody("", script=DATA_SAVER)
    sizes = visitor.first_bytes(folder)
    assert "index.html" in sizes
    assert any(name.startswith("app-") for name in sizes)
    assert any(name.endswith(".pack") for name in sizes)
    assert sum(sizes.values()) <= MOST_FIRST_BYTES, sizes


def test_after_the_first_picture_a_photograph_and_all_samples_need_no_network(somebody):
    visitor = somebody()
    wait_until_kept(visitor, "soon")
    go_offline(visitor)
    visitor.bring_photograph(named("twins").path)
    visitor.until("r => r.layersHeld.length === 6")
    for sample in samples():
        if sample.kind == "drawing":
            visitor.page.evaluate("name => { location.hash = `model=bundled&sample=${name}`; }", sample.name)
            visitor.until(f"r => r.picture === {sample.name!r}")
            visitor.choose_layer(3)
            visitor.until("r => r.layer === 3 && r.layersHeld.includes(3)")
    assert visitor.page.evaluate("sentences()") == []


def test_without_a_network_a_sentence_says_what_was_not_kept(somebody):
    """The visitor has data saver on, because otherwise the page would fetch parts in advance."""
    visitor = somebody(script=DATA_SAVER)
    wait_until_kept(visitor, "page")
    go_offline(visitor)
    hand_over(visitor, "drop", named("twins").path.read_bytes(), "image/jpeg", "twins.jpg")
    visitor.hears("not kept in this browser, and the network does not answer")
    assert "Error" not in visitor.page.locator("body").inner_text()
    visitor.page.evaluate("location.hash = 'model=bundled&sample=flock'")
    visitor.hears("not kept in this browser")
    visitor.page.goto(f"{visitor.url}/#page=code")
    visitor.page.locator("#lesson", has_text="not kept in this browser").wait_for()


def test_the_whole_site_is_kept_when_somebody_asks_and_no_host_is_asked_any_more(somebody, folder):
    visitor = somebody()
    button = visitor.page.get_by_role("button", name="Keep all of it offline")
    offered_megabytes = int(re.search(r"\((\d+) MB\)", button.inner_text())[1])
    other_files = ("embed/", "preview-")  # read only by other hosts' pages and previews of links
    files = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    needed_sizes = [file.stat().st_size for name, file in files.items() if not name.startswith(other_files)]
    assert abs(offered_megabytes - sum(needed_sizes) / 1e6) < 1
    button.click()
    wait_until_kept(visitor, "all")
    assert "needs no network" in visitor.page.locator("#foot button").inner_text()
    visitor.page.goto("about:blank")
    go_offline(visitor)
    request_count = len(REQUEST_LOG)
    visitor.arrive("#model=bundled&sample=meadow&detail=2")
    for layer in (0, 3):
        visitor.choose_layer(layer)
        visitor.until(f"r => r.layersHeld.includes({layer})")
    visitor.page.goto(f"{visitor.url}/#page=code")
    visitor.page.locator("#lesson .guess").first.wait_for()
    visitor.page.goto(f"{visitor.url}/#page=moments")
    waiting.until(
        lambda: visitor.page.evaluate("Boolean(document.querySelector('.wall img')?.naturalWidth)"), "no moment"
    )
    assert [line for line in REQUEST_LOG[request_count:] if "sw.js" not in line] == []
    assert visitor.page.evaluate(READ_KEPT_PART) == "all"


@pytest.mark.parametrize("size", [(1, 1), (40, 7)])
def test_a_picture_that_is_too_small_is_refused_in_python_s_words(somebody, size):
    visitor = somebody()
    with pytest.raises(playground.PlaygroundError) as refusal:
        playground.open_image(picture(*size))
    hand_over(visitor, "drop", picture(*size), "image/png", "small.png")
    assert str(refusal.value).split(":")[0] in visitor.hears("sides may be")
