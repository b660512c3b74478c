"""Every control of See by mouse, finger and keyboard, in Chromium and in the system's Firefox."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page as PlaywrightPage

from browser import firefox
from browser.visitor import BEEN_HERE, FIND

ADDRESS = "?model=bundled&sample=meadow&face=see"
DESKTOP, PHONE = (1280, 720), (390, 844)
DRAWERS = {"why": ".sums .product", "heads": '[data-ref="wall"]', "numbers": ".counts .big"}
WALL_ALONE = '.lens[data-drawer="heads"] [data-ref="wall"]'
# Which of these is seen, wherever it lies
SEEN = """(selector) => {
  const roots = [document];
  for (const root of roots)
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot) roots.push(element.shadowRoot);
  return roots.flatMap((root) => [...root.querySelectorAll(selector)])
    .filter((one) => one.checkVisibility({ visibilityProperty: true }));
}"""
FOCUSED = """() => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element.dataset.ref ?? element.dataset.door ?? element.dataset.sample ?? element.className;
}"""
SAYS = f"(words) => ({SEEN})('.see-says').some(({{ innerText }}) => innerText.includes(words))"
BOX = f"""(selector) => {{
  const box = ({SEEN})(selector)[0].getBoundingClientRect();
  return [box.left, box.top, box.width, box.height];
}}"""


class InChromium(firefox.Page):
    """The same of Playwright's Chromium."""

    def __init__(self, page: PlaywrightPage):
        self.page, self.errors = page, []
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def begins_with(self, script: str) -> None:
        self.page.add_init_script(script)

    def opens(self, address: str) -> None:
        self.page.goto(address)

    def sized(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def runs(self, script: str, *given: object) -> object:
        return self.page.evaluate(f"async (given) => ({script})(...given)", list(given))

    def points(self, x: float, y: float, presses: bool = False) -> None:
        if presses:
            self.page.mouse.click(x, y)
        else:
            self.page.mouse.move(x, y)

    def taps(self, x: float, y: float) -> None:
        self.page.touchscreen.tap(x, y)

    def types(self, key: str) -> None:
        self.page.keyboard.press(key)


@pytest.fixture(params=["chromium", "firefox"])
def page(request, tmp_path):
    if request.param == "chromium":
        context = request.getfixturevalue("chromium").new_context(has_touch=True)
        page: firefox.Page = InChromium(context.new_page())
        page.begins_with(FIND)
        page.begins_with(BEEN_HERE)
        yield page
        assert page.errors == []
        context.close()
    elif firefox.find() is None:
        pytest.skip("no Firefox is installed: apt-get install firefox-esr")
    else:
        with firefox.firefox(tmp_path) as page:
            page.begins_with(BEEN_HERE)
            yield page
            thrown = [said for said in page.errors if "Error:" in said and "_stcore" not in said]
            assert thrown == []


def opens(page, server, size) -> None:
    page.sized(*size)
    page.opens(f"{server.url}/{ADDRESS}")
    page.until("() => !document.querySelector('.attention-early')")
    sees(page, ".see-moments button:nth-child(2)")
    page.reads("r => r.picture === 'meadow'")


def sees(page, selector: str) -> None:
    page.until(f"(selector) => ({SEEN})(selector).length > 0", selector)


def sees_no(page, selector: str) -> None:
    page.until(f"(selector) => ({SEEN})(selector).length === 0", selector)


def patch_at(page, row: int, column: int) -> tuple[float, float]:
    rows, columns = page.reads()["grid"]
    left, top, width, height = page.runs(BOX, "[data-ref=picture]")
    return left + (column + 0.5) * width / columns, top + (row + 0.5) * height / rows


def test_each_control_by_mouse(page, server):
    opens(page, server, DESKTOP)
    page.points(*patch_at(page, 5, 4))
    page.points(*patch_at(page, 5, 5))
    page.reads("r => r.query === '5,5' && !r.locked")
    page.until(SAYS, "This patch")
    page.points(*patch_at(page, 5, 5), presses=True)
    page.reads("r => r.query === '5,5' && r.locked")
    page.points(*patch_at(page, 5, 5), presses=True)
    page.reads("r => !r.locked")
    page.clicks('[data-ref="switch"]')
    page.reads("r => r.scale === 1")
    page.clicks('[data-ref="switch"]')
    page.reads("r => r.scale !== 1")
    for name, part in DRAWERS.items():
        page.clicks(f'[data-door="{name}"]')
        sees(page, part)
        page.clicks(f'[data-door="{name}"]')
        sees_no(page, part)
    page.clicks(".provenance")
    sees(page, WALL_ALONE)
    left, top, width, height = page.runs(BOX, '[data-ref="wall"]')
    page.points(left + 0.95 * width, top + 0.1 * height, presses=True)
    chosen = page.reads("r => r.head === 3")
    page.clicks(".provenance")
    sees_no(page, WALL_ALONE)
    page.clicks(".see-moments button:nth-child(2)")
    sees(page, '.see-moments button:nth-child(2)[aria-pressed="true"]')
    moment = page.reads()
    assert [moment[key] for key in ("layer", "head", "query")] != [chosen[key] for key in ("layer", "head", "query")]
    page.clicks(".see-moments .surprise")
    surprised = f"r.layer !== {moment['layer']} || r.head !== {moment['head']} || r.query !== '{moment['query']}'"
    page.reads(f"r => {surprised}")
    page.clicks(".opener.pictures")
    page.clicks('.sheet [data-sample="flock"]')
    page.reads("r => r.picture === 'flock'")
    page.clicks(".opener.photo")
    sees(page, '.sheet[data-kind="photo"] input[type=file], .sheet[data-kind="photo"] label')
    page.clicks(".opener.photo")
    sees_no(page, '.sheet[data-kind="photo"]')
    page.clicks(".sending")
    sees(page, ".sheet.sharing canvas")
    page.clicks('[data-share="link"]')
    sees(page, ".sheet.sharing input")
    page.clicks(".see-says")  # beside the sheet
    sees_no(page, ".sheet.sharing")
    page.clicks(".opener.pages")
    page.clicks(".sheet button", "Deutsch")
    page.until(SAYS, "Dieses Feld")
    page.clicks(".opener.pages")
    page.clicks(".sheet button", "English")
    page.until(SAYS, "This patch")
    page.clicks(".other-face")
    sees(page, '.lens[data-face="lab"] .bar')
    page.clicks(".other-face")
    sees(page, '.lens[data-face="see"] .see-says')


def test_each_control_by_a_finger(page, server):
    opens(page, server, PHONE)

    def taps(selector: str, words: str = "") -> None:
        page.clicks(selector, words, touch=True)

    page.taps(*patch_at(page, 5, 5))
    page.reads("r => r.query === '5,5' && r.locked")
    page.taps(*patch_at(page, 9, 2))
    page.reads("r => r.query === '9,2' && r.locked")
    page.until(SAYS, "This patch")
    taps(".see-tabs button:nth-child(2)")
    sees(page, '[data-ref="nine"]')
    taps(".see-tabs button:nth-child(1)")
    sees(page, ".see-stairs canvas")
    taps(".see-tabs button:nth-child(1)")
    page.reads("r => r.scale === 1")
    taps(".see-tabs button:nth-child(1)")
    page.reads("r => r.scale !== 1")
    for name, part in DRAWERS.items():
        taps(f'[data-door="{name}"]')
        sees(page, part)
        taps(f'[data-door="{name}"]')
        sees_no(page, part)
    taps(".provenance")
    sees(page, WALL_ALONE)
    taps('[data-door="heads"]')
    sees_no(page, WALL_ALONE)
    taps(".see-moments button:nth-child(2)")
    sees(page, '.see-moments button:nth-child(2)[aria-pressed="true"]')
    moment = page.reads()
    taps(".see-moments .surprise")
    page.reads(f"r => r.query !== '{moment['query']}' || r.head !== {moment['head']} || r.layer !== {moment['layer']}")
    taps(".opener.pictures")
    taps('.sheet [data-sample="flock"]')
    page.reads("r => r.picture === 'flock'")
    taps(".opener.photo")
    sees(page, '.sheet[data-kind="photo"] label')
    taps(".opener.photo")
    sees_no(page, '.sheet[data-kind="photo"]')
    taps(".sending")
    sees(page, ".sheet.sharing canvas")
    taps(".sending")
    sees_no(page, ".sheet.sharing")
    taps(".other-face")
    sees(page, '.lens[data-face="lab"] .bar')
    taps(".other-face")
    sees(page, '.lens[data-face="see"] .see-says')


def reaches(page, name: str) -> None:
    """By the Tab key alone, within the twelve stops of See."""
    passed = []
    for _ in range(16):
        page.types("Tab")
        passed.append(page.runs(FOCUSED))
        if name in passed[-1]:
            return
    raise AssertionError(f"no {name} among {passed}")


def test_each_control_by_keyboard(page, server):
    opens(page, server, DESKTOP)
    before = page.reads()
    reaches(page, "picture")
    page.types("ArrowRight")
    page.reads(f"r => r.locked && r.query !== '{before['query']}'")
    page.types("Escape")
    page.reads("r => !r.locked")
    reaches(page, "provenance")
    page.types("ArrowRight")
    page.reads(f"r => r.head !== {before['head']}")
    page.types("ArrowUp")
    page.reads(f"r => r.layer !== {before['layer']}")
    page.types("Enter")
    sees(page, WALL_ALONE)
    page.types("Enter")
    sees_no(page, WALL_ALONE)
    reaches(page, "switch")
    page.types("Space")
    page.reads("r => r.scale === 1")
    page.types("Space")
    page.reads("r => r.scale !== 1")
    reaches(page, "why")
    for name, part in DRAWERS.items():
        assert page.runs(FOCUSED) == name
        page.types("Enter")
        sees(page, part)
        page.types("Enter")
        sees_no(page, part)
        if name != "numbers":
            page.types("ArrowRight")
    page.runs(f"() => ({SEEN})('.see-moments button')[0].focus()")
    page.types("ArrowRight")
    page.types("Enter")
    sees(page, '.see-moments button:nth-child(2)[aria-pressed="true"]')
    moment = page.reads()
    for _ in range(5):
        page.types("ArrowRight")
    assert page.runs(FOCUSED) == "surprise"
    page.types("Enter")
    page.reads(f"r => r.query !== '{moment['query']}' || r.head !== {moment['head']} || r.layer !== {moment['layer']}")
    reaches(page, "pages")
    for kind in ("pages", "pictures", "photo"):
        assert kind in page.runs(FOCUSED)
        page.types("Enter")
        sees(page, f'.sheet[data-kind="{kind}"]')
        page.types("Escape")
        sees_no(page, f'.sheet[data-kind="{kind}"]')
        assert kind in page.runs(FOCUSED), "its button has the focus again"
        page.types("ArrowRight")
    assert page.runs(FOCUSED) == "sending"
    page.types("Enter")
    sees(page, ".sheet.sharing canvas")
    page.types("Escape")
    sees_no(page, ".sheet.sharing")
    page.types("l")
    sees(page, '.lens[data-face="lab"] .bar')
    page.types("l")
    sees(page, '.lens[data-face="see"] .see-says')
