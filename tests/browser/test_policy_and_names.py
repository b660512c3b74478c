"""Words from strangers stay text, and the pages need nothing from other hosts, as the app's policy demands."""

import pytest

from browser.own_picture import hand_over, picture
from browser.policy import WATCH_VIOLATIONS
from browser.visitor import Visitor
from playground.ui.pages import MICROSCOPE, PAGES

PLANTED_NAME = "<img src=x onerror=alert(1)> ![x](x) **b** $mm$"
FIND_PLANTED = """() => {
  const all = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
  const formula = (e) => e.matches(".katex") && e.querySelector("annotation")?.textContent.includes("mm");
  const planted = (e) => e.matches("img[src='x'], [onerror]") || formula(e);
  return all(document).filter(planted).map((e) => e.outerHTML);
}"""


class WaryVisitor(Visitor):
    """A visitor whose check() reports violations of the app's policy and dialogs that opened."""

    def __init__(self, chromium, url):
        super().__init__(chromium, url, permissions=["camera"])
        self.context.add_init_script(WATCH_VIOLATIONS)
        self.dialogs: list[str] = []
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def check(self) -> None:
        assert self.dialogs == []
        assert self.page.evaluate("window.violations") == []
        super().check()


@pytest.fixture
def wary(arrive, server):
    return arrive(WaryVisitor, server.url)


# The policy -----------------------------------------------------------------------------------------------------------


def test_a_drop_the_camera_and_a_download_work_under_the_policy(wary):
    wary.open()
    hand_over(wary, "drop", picture(320, 240))
    wary.page.get_by_title("Yours: dropped.jpg").first.wait_for(state="attached")
    sheet = wary.unfold("photo")
    assert sheet.locator("video").count() == 0, "the camera is on before it is asked for"
    sheet.get_by_role("button", name="Use the camera").click()
    sheet.get_by_role("button", name="Take a photo").click()
    wary.page.locator('.toolbar .pictures:not([title*="dropped.jpg"])').wait_for(state="attached")
    sheet = wary.unfold("export")
    sheet.locator("img").wait_for()
    with wary.page.expect_download() as download:
        sheet.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename.endswith(".png")


def test_violations_of_the_policy_are_recorded(wary):
    """Shows that violations are recorded; otherwise the tests above would prove nothing."""
    wary.open()
    wary.page.evaluate("() => fetch('https://other.example/').catch(() => 0)")
    wary.page.evaluate("() => document.body.append(Object.assign(new Image(), { src: 'http://localhost:1/x.png' }))")
    wary.page.wait_for_function("() => window.violations.length === 2")
    wary.page.evaluate("() => (window.violations = [])")
    wary.errors.clear()
    wary.hosts.clear()


# Other people's words -------------------------------------------------------------------------------------------------


@pytest.fixture
def uploader(wary):
    """A WaryVisitor who has brought a picture whose file name holds a script."""
    wary.open()
    hand_over(wary, "drop", picture(320, 240), title=f"{PLANTED_NAME}.jpg")
    wary.page.get_by_title(f"Yours: {PLANTED_NAME}.jpg").first.wait_for(state="attached")
    return wary


@pytest.mark.slow
def test_every_page_works_under_the_policy_and_a_file_s_name_is_text_there(uploader):
    for lesson in PAGES.values():
        if lesson != MICROSCOPE:
            uploader.unfold("pages").get_by_role("link", name=lesson.title.split("√")[0]).click()
            uploader.page.wait_for_url(f"**/{lesson.name}**")
        uploader.page.get_by_title(f"Yours: {PLANTED_NAME}.jpg").first.wait_for(state="attached")
        uploader.rest()
        assert uploader.page.evaluate(FIND_PLANTED) == [], lesson
        assert uploader.page.evaluate("window.violations") == [], lesson
