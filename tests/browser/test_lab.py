"""Lab is See with its drawers open: the same places, and rows of controls that say their values."""

import pytest
from playwright.sync_api import expect

from browser.seeing import SeeVisitor

# The controls of each row
ROWS = {
    "what": [
        '[data-choice="what"] [data-value]', '[data-choice="direction"] [data-value]',
        '[data-choice="draw"] [data-value]', '[data-ref="hold"]', '[data-ref="drawing"]',
    ],
    "head": ['[data-ref="layer"]', "[data-head]", "[data-token]", '[data-value="wall"]'],
    "scale": ['[data-ref="switch"]', '[data-ref="dial"]', '[data-choice="pass"] [data-value]'],
    "beside": ['[data-choice="beside"] [data-value]'],
    "change": ['.cuts [data-way="head"]', '.cuts [data-way="zero"]'],
}  # fmt: skip
REACHED_BY_TAB = """(row) => [...row.querySelectorAll("button, input, select")]
  .filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex < 0).map((e) => e.outerHTML)"""


@pytest.fixture
def come(arrive, server):
    def come(address: str, **options) -> SeeVisitor:
        person = arrive(SeeVisitor, server.url, **options)
        person.open(f"model=bundled&sample=meadow&{address}")
        person.page.locator(".see-moments button").first.wait_for(state="attached")
        return person

    return come


@pytest.mark.parametrize("row", ROWS)
def test_every_control_is_reached_by_mouse_and_by_keyboard(come, row):
    person = come("face=lab")
    opens = person.page.locator(f'[data-row="{row}"] .opens')
    opens.focus()
    person.page.keyboard.press("Enter")
    expect(opens).to_have_attribute("aria-expanded", "true")
    for selector in ROWS[row]:
        controls = person.page.locator(f'[data-row="{row}"] {selector}').locator("visible=true").all()
        assert controls, selector
        for control in controls:
            control.click(trial=True)
    assert person.page.locator(f'[data-row="{row}"]').evaluate(REACHED_BY_TAB) == []
    opens.click()
    expect(opens).to_have_attribute("aria-expanded", "false")
