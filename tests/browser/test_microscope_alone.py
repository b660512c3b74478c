"""The microscope in a page without Streamlit and without a server: it gets all numbers from the source given to it."""

import base64

import pytest

from browser.truth import python_trace
from browser.visitor import PATIENCE
from playground.figures.bundle import bundle, stylesheet

# A source with the traces "landscape" and "meadow". A request stays open until window.answer(name) is called.
BUILD_LENS = """(packs) => {
  const bytes = Object.fromEntries(Object.entries(packs).map(([name, text]) =>
    [name, Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]));
  const open = {};
  window.asked = [];
  window.answer = (name) => open[name](bytes[name]);
  window.trace = (name) => ({ id: name, title: "our small ViT", model: "bundled", picture: { id: name, title: name } });
  window.lens = createLens(document.getElementById("place"), {
    source: {
      offers: [],
      layers: (trace, layers) => {
        window.asked.push(trace.id);
        return new Promise((done) => (open[trace.id] = done));
      },
      picture: async () => null,
    },
  });
}"""


@pytest.fixture
def page(chromium):
    page = chromium.new_page(viewport={"width": 1280, "height": 720})
    page.set_content(f'<style>{stylesheet()}</style><div id="place"></div>')
    page.add_script_tag(type="module", content=f"{bundle('lens/lens.js')}\nwindow.createLens = createLens;")
    page.wait_for_function("() => window.createLens", timeout=PATIENCE)
    packs = {name: base64.b64encode(python_trace(name).to_bytes()).decode() for name in ("landscape", "meadow")}
    page.evaluate(BUILD_LENS, packs)
    yield page
    page.close()


def show(page, name: str) -> None:
    """Calls lens.show() without waiting for it."""
    page.evaluate("(name) => { window.coming = lens.show({ main: trace(name) }); }", name)


def test_a_new_microscope_shows_nothing_until_its_source_has_answered(page):
    show(page, "landscape")
    assert page.evaluate("asked") == ["landscape"]
    assert page.evaluate("lens.read()") is None
    page.evaluate("answer('landscape')")
    page.wait_for_function("() => lens.read()?.painted", timeout=PATIENCE)
    rows, columns = page.evaluate("lens.read().grid")
    assert rows < columns  # the landscape is wider than high


def test_an_answer_that_comes_after_something_else_was_chosen_is_not_shown(page):
    show(page, "landscape")
    page.evaluate("() => { window.first = coming; }")
    show(page, "meadow")
    page.evaluate("answer('meadow')")
    page.wait_for_function("() => lens.read()?.painted", timeout=PATIENCE)
    page.evaluate("answer('landscape')")
    assert page.evaluate("first") is False
    assert page.evaluate("lens.read().picture") == "meadow"
    rows, columns = page.evaluate("lens.read().grid")
    assert rows == columns


def test_without_a_host_there_is_no_button_that_would_need_one(page):
    show(page, "meadow")
    page.evaluate("answer('meadow')")
    page.wait_for_function("() => lens.read()?.painted", timeout=PATIENCE)
    for line in page.locator(".opens:visible").all():
        line.click()
        for words in ("similarity", "rollout", "whole forward pass", "compare"):
            assert not page.get_by_role("button", name=words, exact=True).is_visible()
    page.locator('[data-row="what"] .opens').click()
    assert page.get_by_role("button", name="weight", exact=True).is_visible()
