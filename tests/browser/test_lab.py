"""Lab is See with its drawers open: the same places, and rows of controls that say their values."""

from playwright.sync_api import expect

from browser.seeing import SeeVisitor

# The controls of each row
ROWS = {
    "what": [
        '[data-choice="what"] [data-value]', '[data-choice="direction"] [data-value]',
        '[data-ref="hold"]', '[data-ref="keys"]',
    ],
    "head": ['[data-ref="layer"]', "[data-head]", "[data-token]", '[data-value="wall"]'],
    "scale": ['[data-ref="switch"]', '[data-ref="dial"]', '[data-choice="pass"] [data-value]'],
    "beside": ['[data-choice="beside"] [data-value]'],
    "change": ['.cuts [data-way="head"]', '.cuts [data-way="mean"]'],
}  # fmt: skip
REACHED_BY_TAB = """(row) => [...row.querySelectorAll("button, input, select")]
  .filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex < 0).map((e) => e.outerHTML)"""


def test_every_control_is_reached_by_mouse_and_by_keyboard(arrive, server):
    page = arrive(SeeVisitor, server.url).open("model=bundled&sample=meadow&face=lab").page
    page.locator(".see-moments button").first.wait_for(state="attached")
    for name, selectors in ROWS.items():
        row = page.locator(f'[data-row="{name}"]')
        opens = row.locator(".opens")
        opens.press("Enter")
        expect(opens).to_have_attribute("aria-expanded", "true")
        for selector in selectors:
            controls = row.locator(selector).locator("visible=true").all()
            assert controls, selector
            for control in controls:
                control.click(trial=True)
        assert row.evaluate(REACHED_BY_TAB) == [], name
        opens.click()
        expect(opens).to_have_attribute("aria-expanded", "false")
