"""The microscope in a page of its own, without Streamlit, as in an exported file."""

import base64

import pytest

from browser.visitor import PATIENCE
from playground.figures.bundle import bundle, stylesheet
from playground.serving.prepared import prepared_pack

BUILD = """(base64) => {
  window.bytes = base64.map((text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
  window.asked = [];
  window.lens = createLens(document.getElementById("place"), {
    ask: (request) => window.asked.push(request),
    packs: [{ id: "first", image: 0 }, { id: "second", image: 1, bytes: window.bytes[1] }],
    images: [{ id: "picture" }, { bitmap: null }],
  });
}"""


@pytest.fixture
def page(chromium):
    page = chromium.new_page(viewport={"width": 1280, "height": 720})
    page.set_content(f'<style>{stylesheet()}</style><div id="place"></div>')
    page.add_script_tag(type="module", content=f"{bundle('lens/lens.js')}\nwindow.createLens = createLens;")
    page.wait_for_function("Boolean(window.createLens)", timeout=PATIENCE)
    yield page
    page.close()


def test_a_new_microscope_asks_for_what_the_former_one_was_sent_and_shows_no_other_for_it(page):
    packs = [base64.b64encode(prepared_pack(name)).decode() for name in ("landscape", "meadow")]
    page.evaluate(BUILD, packs)
    assert page.evaluate("asked") == [{"what": "packs", "ids": ["picture", "first"]}]
    assert page.evaluate("lens.read()") is None
    page.evaluate("lens.update({ packs: [{ id: 'first', bytes: bytes[0] }, { id: 'second', image: 1 }] })")
    page.wait_for_function("lens.read()?.painted", timeout=PATIENCE)
    rows, columns = page.evaluate("lens.read().grid")
    assert rows < columns  # the landscape


def test_without_a_host_there_is_no_button_that_would_need_one(page):
    packs = [base64.b64encode(prepared_pack("meadow")).decode()] * 2
    page.evaluate(BUILD, packs)
    page.evaluate("lens.destroy()")
    page.evaluate("window.lens = createLens(document.getElementById('place'), { packs: [{ bytes: bytes[0] }] })")
    page.wait_for_function("lens.read()?.painted", timeout=PATIENCE)
    for words in ("similarity", "rollout", "whole forward pass", "compare"):
        assert not page.get_by_role("button", name=words, exact=True).is_visible()
    assert page.get_by_role("button", name="weight", exact=True).is_visible()
