"""Lab is See with its drawers open: the same places, and rows of controls that say their values."""

import pytest
from playwright.sync_api import expect

from browser.seeing import STANDS_STILL, SeeVisitor

SIZES = [(1280, 720), (1920, 1080), (390, 844), (844, 390)]
COMMON_PARTS = ("[data-ref=pictureBox]", ".see-says", ".provenance", ".see-moments")
# Where these parts are, and whether they are seen, once the column rests
READ_PLACES = """(parts) => parts.map((part) => {
  const element = window.lensRoot.querySelector(part);
  const { x, y, width, height } = element.getBoundingClientRect();
  return element.checkVisibility() ? [part, x, y, width, height] : [part];
})"""
# What a person meets on the page: the stops of the Tab key, their least height, the words and the sizes of type
READ_SIGHT = """() => {
  const isSeen = (e) => {
    const { width, height, left, right, top, bottom } = e.getBoundingClientRect();
    const style = { visibilityProperty: true, opacityProperty: true };
    return width && height && right > 0 && left < innerWidth && bottom > 0 && top < innerHeight
      && e.checkVisibility(style) && !getComputedStyle(e).clipPath.startsWith("inset(50");
  };
  const within = (e) => (e.shadowRoot ? inside(e.shadowRoot) : []);
  const inside = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...within(e)]);
  const seen = inside(document.body).filter(isSeen);
  const stops = seen.filter((e) => e.matches("a[href], button, input, select, summary, [tabindex]") && e.tabIndex >= 0);
  const texts = seen.filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
  const words = texts.flatMap((e) => [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data));
  return {
    stops: stops.map((e) => [e.ariaLabel || e.innerText || e.tagName, e.getBoundingClientRect().height]),
    words: words.join(" ").match(/[\\p{L}\\d]+/gu),
    sizes: [...new Set(texts.map((e) => getComputedStyle(e).fontSize))],
  };
}"""
# The controls of each row
ROWS = {
    "what": [
        '[data-choice="what"] [data-value]', '[data-choice="direction"] [data-value]',
        '[data-choice="draw"] [data-value]', '[data-ref="hold"]', '[data-ref="drawing"]',
    ],
    "head": ['[data-ref="layer"]', "[data-head]", "[data-token]", "[data-film]", '[data-value="wall"]'],
    "scale": ['[data-ref="switch"]', '[data-ref="dial"]', '[data-choice="pass"] [data-value]'],
    "beside": ['[data-choice="beside"] [data-value]', "[data-step]", '[data-choice="k"] [data-value]'],
    "change": ['.cuts [data-way="paint"]', '.cuts [data-way="head"]', '.cuts [data-way="zero"]'],
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


def value_of(person, name: str) -> str:
    return person.page.locator(f'[data-row="{name}"] .opens b').inner_text()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_from_see_to_lab_and_back_nothing_moves(come, width, height):
    person = come("face=see", viewport={"width": width, "height": height})

    def places() -> list:
        person.page.locator(".below").evaluate(STANDS_STILL)
        return person.page.evaluate(READ_PLACES, COMMON_PARTS)

    places_in_see = places()
    for face in ("lab", "see"):
        person.page.locator(".toolbar .other-face").click()
        person.page.locator(f'.lens[data-face="{face}"]').wait_for()
        assert places() == places_in_see, face


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_a_fresh_lab_is_calm(come, width, height):
    person = come("face=lab", viewport={"width": width, "height": height})
    person.page.locator(".below").evaluate(STANDS_STILL)
    sight = person.page.evaluate(READ_SIGHT)
    assert len(sight["stops"]) <= 12, sight
    assert all(height >= 24 for _, height in sight["stops"]), sight
    assert len(sight["words"]) <= 80, sight
    assert len(sight["sizes"]) <= 4, sight


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


def test_one_row_is_open_at_a_time(come):
    person = come("face=lab")
    for opens in person.page.locator(".opens").all():
        opens.click()
        assert person.page.locator(".row.open").count() == 1


@pytest.mark.parametrize(
    ("address", "values"),
    [
        ("layer=2&head=3", {"head": "layer 2, head 3", "what": "weight", "change": "nothing cut"}),
        ("what=similarity&smooth=true", {"what": "similarity, smoothed", "head": "layer 4"}),
        ("direction=column&log=true", {"what": "weight, who looks, logarithmic"}),
        ("scale=off", {"scale": "without ÷ √32, this layer"}),
        ("scale=0.5&curtain=0.4", {"scale": "scores × 0.5, this layer, curtain"}),
        ("k=5&depth=2", {"beside": "5×5 convolution, 2 layers"}),
        ("cut=*>3x3", {"change": "✂ everybody ⇢ 3×3 alone"}),
        ("cut=7,5>3,2;7,5>3,3", {"change": "2 changes"}),
    ],
)
def test_a_closed_row_says_what_an_address_asks_for(come, address, values):
    person = come(f"{address}&query=7,5&locked=true")
    for row, value in values.items():
        expect(person.page.locator(f'[data-row="{row}"] .opens b')).to_have_text(value)


@pytest.mark.parametrize("beside", ["compare", "filter"])
def test_an_address_with_a_second_picture_shows_it(come, beside):
    person = come(f"beside={beside}&with=sample:flock&query=7,5&locked=true")
    person.page.locator('[data-row="beside"].open [data-ref="twin"]').wait_for()


def test_an_address_with_the_wall_shows_it_and_a_press_takes_the_head(come):
    person = come("beside=wall&query=7,5&locked=true")
    box = person.page.locator('.lens [data-ref="wall"]').bounding_box()
    person.page.mouse.click(box["x"] + 0.69 * box["width"], box["y"] + 0.9 * box["height"])
    person.until("r => r.head === 5 && r.layer === 5")
    assert value_of(person, "beside") == "3×3 convolution"
