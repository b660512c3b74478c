"""The living page that a person sends on, in the reader's browser."""

import pytest
from playwright.sync_api import expect
from waiting import PATIENCE

ADDRESS = "https://attention.example/"
SIZES = [(1280, 720), (390, 844), (844, 390)]
# Points at every ninth place, with √d_k and without: where the parts below the sentence stand, and what was said
POINT_EVERYWHERE = """async () => {
  const root = document.querySelector("attention-lens").shadowRoot ?? document;
  const picture = root.querySelector('[data-ref="picture"]');
  const { left, top, width, height } = picture.getBoundingClientRect();
  const found = new Map();
  const frame = () => new Promise((goOn) => requestAnimationFrame(() => requestAnimationFrame(goOn)));
  for (const key of ["", "s"]) {
    if (key) root.querySelector(".lens").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    for (let i = 0; i < 12; i++)
      for (let j = 0; j < 8; j++) {
        const place = { clientX: left + ((i + 0.5) / 12) * width, clientY: top + ((j + 0.5) / 8) * height };
        picture.dispatchEvent(new PointerEvent("pointermove", { ...place, pointerType: "mouse", bubbles: true }));
        await frame();
        const parts = [".provenance", ".panel", '[data-ref="picture"]'].map((name) => root.querySelector(name));
        const tops = parts.map((part) => Math.round(part.getBoundingClientRect().top)).join();
        found.set(tops, root.querySelector(".see-says").textContent);
      }
  }
  return [...found];
}"""


@pytest.fixture
def shared_page(visit, tmp_path):
    """The file that *Share* makes of a moment, as if made at ADDRESS."""
    visitor = visit("sample=chelsea&face=see")
    visitor.page.locator("button.sending").click()
    visitor.page.locator('[data-share="page"]').click()
    expect(visitor.part("shareSave")).to_be_enabled(timeout=1000 * PATIENCE)
    with visitor.page.expect_download() as download:
        visitor.part("shareSave").click()
    html = download.value.path().read_text()
    file = tmp_path / "page.html"
    start, rest = html.split('"tryAt":"', 1)
    file.write_text(f'{start}"tryAt":"{ADDRESS}"{rest[rest.index(chr(34)) + 1 :]}')
    return visitor.context.browser, file


def test_a_shared_page_stands_still_and_says_whose_it_is(shared_page):
    browser, file = shared_page
    for width, height in SIZES:
        context = browser.new_context(viewport={"width": width, "height": height})
        page = context.new_page()
        page.goto(file.as_uri())
        page.locator(".lens .see-says", has_text="%").wait_for()
        places = page.evaluate(POINT_EVERYWHERE)
        assert len(places) == 1, (width, height, places)
        assert page.title().endswith(" · Attention Playground")
        assert page.locator("footer strong").inner_text() == "Attention Playground"
        link = page.get_by_role("link", name="Try your own photo")
        assert link.get_attribute("href") == ADDRESS
        fonts = {
            page.locator(name).evaluate("(e) => getComputedStyle(e).fontFamily") for name in (".see-says", "footer")
        }
        assert len(fonts) == 1, fonts
        assert "Source Sans" in fonts.pop().split(",")[0]
        footer, doors = page.locator("footer").bounding_box(), page.locator(".see-doors").bounding_box()
        is_beside = footer["x"] + footer["width"] <= doors["x"]
        assert is_beside or footer["y"] >= doors["y"] + doors["height"] - 1, (footer, doors)
        context.close()
