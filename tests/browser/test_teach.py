"""The page Teach in the app. tests/browser/test_site_lessons.py opens it in the folder without a server."""

import io
import itertools
import re
import zipfile
from urllib.parse import parse_qsl, urlsplit

import pytest
import waiting
from pypdf import PdfReader

from browser.on_the_site import SiteVisitor
from browser.policy import WATCH_VIOLATIONS
from playground.figures import teaching as printed
from playground.lessons import teaching

OF_MEADOW = "sample=meadow&model=bundled"
WATCH_SHIFTS = """window.shift = 0;
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shift += value;
}).observe({ type: "layout-shift", buffered: true });"""
MOST_SHIFT = 0.02
PARTS = {
    "outcomes": ".teach-outcomes a",
    "plan": ".teach-plan a",
    "notes": ".teach-notes summary",
    "print": ".teach-sheets li",
    "quiz": "fieldset",
}


@pytest.fixture
def read(arrive, server):
    """read("part=quiz") gives a visitor of Teach, whose browser must meet nothing that the page's policy forbids."""
    readers = []

    def open_teach(words: str = "", **options) -> SiteVisitor:
        reader = arrive(SiteVisitor, server.url, **options)
        reader.context.add_init_script(WATCH_VIOLATIONS + WATCH_SHIFTS)
        reader.page.goto(f"{server.url}/teach?{OF_MEADOW}&{words}")
        reader.page.locator(".teach-body > *").first.wait_for()
        readers.append(reader)
        return reader

    yield open_teach
    for reader in readers:
        assert reader.page.evaluate("violations") == []


def titles(reader: SiteVisitor) -> list[str]:
    return [anchor.inner_text() for anchor in reader.page.locator(".teach-plan a").all()]


def address_words(reader: SiteVisitor) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(reader.page.url).query))


@pytest.mark.parametrize("options", [{}, {"viewport": {"width": 390, "height": 844}}], ids=["wide", "phone"])
@pytest.mark.parametrize("part", PARTS)
def test_every_part_has_an_address_stands_still_and_fits_the_window(read, part, options):
    reader = read(f"part={part}", **options)
    reader.page.locator(PARTS[part]).first.wait_for()
    assert reader.page.locator(f'.lesson-steps [data-step="{part}"]').get_attribute("aria-current") == "step"
    reader.page.locator(".toolbar .pages").wait_for()
    assert reader.page.evaluate("shift") <= MOST_SHIFT
    assert reader.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_a_plan_has_its_scenes_with_links_for_oneself_or_for_a_class(read):
    reader = read()
    assert len(titles(reader)) == len(teaching.PLANS[45])
    reader.page.get_by_role("button", name="90", exact=True).click()
    assert len(titles(reader)) == len(teaching.PLANS[90])
    reader.page.get_by_role("button", name="the scene alone, for a class").click()
    assert address_words(reader).items() >= {"minutes": "90", "links": "class"}.items()
    for anchor, scene in zip(
        reader.page.locator(".teach-plan a").all(), teaching.scenes_of("-".join(teaching.PLANS[90])), strict=True
    ):
        href = urlsplit(anchor.get_attribute("href"))
        assert dict(parse_qsl(href.query)).items() >= (scene.words_for_class | dict(parse_qsl(OF_MEADOW))).items()
        assert href.path == f"/{'' if scene.page == 'microscope' else scene.page}"
    assert reader.page.locator(".teach-minutes").last.inner_text().endswith("–90")


def test_a_plan_of_one_s_own_is_picked_ordered_and_kept_in_the_address(read):
    reader = read("minutes=0&scenes=8-1")
    assert titles(reader) == ["The volume knob", "Where does it look?"]
    reader.page.get_by_role("button", name="+ By hand").click()
    assert address_words(reader)["scenes"] == "8-1-hands"
    assert reader.page.evaluate("document.activeElement.closest('.teach-more') !== null")
    reader.page.get_by_role("button", name="By hand: earlier").press("Enter")
    assert address_words(reader)["scenes"] == "8-hands-1"
    reader.page.get_by_role("button", name="The volume knob: leave out").click()
    assert titles(reader) == ["By hand", "Where does it look?"]
    reader.page.reload()
    reader.page.locator(".teach-plan").wait_for()
    assert titles(reader) == ["By hand", "Where does it look?"]
    reader.page.get_by_role("button", name="By hand: leave out").click()
    assert reader.page.get_by_role("button", name="Where does it look?: leave out").is_disabled(), "a plan has a scene"


def test_notes_open_and_lead_to_what_shows_them(read):
    reader = read("part=notes")
    notes = reader.page.locator(".teach-notes details")
    assert notes.count() == len(teaching.MISCONCEPTIONS)
    notes.first.locator("summary").click()
    notes.first.get_by_role("link", name="Show it").click()
    reader.page.locator('.lesson-steps [data-step="carries"][aria-current="step"]').wait_for()


def test_each_sheet_is_downloaded_and_fills_both_sides_of_one_paper(read, tmp_path):
    reader = read("part=print")
    anchors = reader.page.locator(".teach-sheets a")
    assert anchors.count() == len(printed.SHEETS)
    for anchor, name in zip(anchors.all(), printed.SHEETS, strict=True):
        with reader.page.expect_download() as download:
            anchor.click()
        assert download.value.suggested_filename == f"{name}.html"
        download.value.save_as(tmp_path / f"{name}.html")
    for name in printed.SHEETS:
        reader.page.goto((tmp_path / f"{name}.html").as_uri())
        for paper in ("A4", "Letter"):
            pages = PdfReader(io.BytesIO(reader.page.pdf(format=paper))).pages
            assert len(pages) == 2, f"{name} on {paper}"
        for language in teaching.LANGUAGES[1:]:
            reader.page.set_content(printed.sheet(name, language))
            assert len(PdfReader(io.BytesIO(reader.page.pdf(format="A4"))).pages) <= 2, f"{name} in {language}"


def test_the_quiz_explains_and_counts_each_answer(read):
    reader = read("part=quiz")
    question, field = teaching.quiz()[0], reader.page.locator(".teach-quiz fieldset").first
    field.get_by_label(question.options[0], exact=True).check()
    said = f"The answer: {question.options[question.right]}. {question.why}"
    assert field.locator(".teach-verdict").inner_text() == said
    assert "0 of 1 right" in reader.page.locator(".teach-total").inner_text()
    field.get_by_label(question.options[question.right], exact=True).check()
    assert field.locator(".teach-verdict").inner_text() == f"Right. {question.why}"
    assert "1 of 1 right" in reader.page.locator(".teach-total").inner_text()
    reader.page.get_by_role("button", name="中文").click()
    reader.page.get_by_text(teaching.quiz("zh")[12].asks).wait_for()
    assert reader.page.locator(".teach-quiz").get_attribute("lang") == "zh"


def test_the_questions_are_saved_for_a_learning_platform(read, tmp_path):
    reader = read("part=print")
    for set_name, kind in itertools.product(("The quiz", "The ten questions after the story"), ("GIFT", "QTI 2.1")):
        with reader.page.expect_download() as download:
            reader.page.get_by_role("button", name=f"{set_name}: {kind}").click()
        download.value.save_as(tmp_path / download.value.suggested_filename)
    text = (tmp_path / "attention-quiz.gift.txt").read_text(encoding="utf-8")
    assert text.count("::[plain]") == len(teaching.quiz())
    names = zipfile.ZipFile(tmp_path / "attention-after-qti.zip").namelist()
    assert names == ["imsmanifest.xml", "test.xml", *(f"question-{n:02}.xml" for n in range(1, 11))]


def test_slides_of_a_plan_are_one_file_that_plays_without_the_server(read, tmp_path):
    reader = read("minutes=0&scenes=8-scale-quiz")
    reader.page.get_by_role("button", name="Make slides of this plan").click()
    file = reader.page.get_by_role("link", name=re.compile(r"One file, \d+\.\d MB"))
    file.wait_for()
    with reader.page.expect_download() as download:
        file.click()
    assert download.value.suggested_filename == "attention-18.html"
    download.value.save_as(tmp_path / "slides.html")
    slides = reader.context.new_page()
    requests: list[str] = []
    slides.on("request", lambda request: requests.append(request.url))
    slides.goto((tmp_path / "slides.html").as_uri())
    story = slides.frame_locator("iframe")
    story.get_by_text("The story · 8 of 14").wait_for()
    with slides.expect_popup() as notes_window:
        slides.keyboard.press("n")
    notes, advice = notes_window.value, [teaching.SCENES[key].do.split(".")[0] for key in ("8", "scale")]
    notes.get_by_text(advice[0]).wait_for()
    story.get_by_role("heading").first.press("PageDown")  # a clicker's key, inside the frame
    slides.get_by_text("2 of 7").wait_for()
    notes.get_by_text(advice[1]).wait_for()
    assert advice[1] not in slides.locator("body").inner_text(), "the room reads the notes"
    notes.keyboard.press("ArrowLeft")
    slides.get_by_text("1 of 7").wait_for()
    notes.keyboard.press("ArrowRight")
    assert slides.locator("iframe").is_hidden()
    slides.locator(".guess:visible").wait_for()
    slides.get_by_role("button", name="the next slide").click()
    slides.locator(".guess:visible .choices button").first.click()
    slides.locator(".guess:visible").get_by_role("button", name="Lock my guess").click()
    slides.locator(".guess:visible div.told").wait_for()
    for _ in range(2):
        slides.get_by_role("button", name="the slide before").click()
    story.get_by_text("The story · 8 of 14").wait_for()  # the story is where the presenter left it
    slides.locator(".slide:nth-child(2) .printed p").first.wait_for(state="attached")
    paper = "".join(page.extract_text() for page in PdfReader(io.BytesIO(slides.pdf())).pages)
    paper = re.sub(r"\s+", " ", paper)
    for words in ("Why divide by", "The largest share goes from", "64 random keys", teaching.quiz()[0].asks):
        assert words in paper, f"paper lacks {words!r}"
    assert not any(words in paper for words in advice), "paper for the room has the notes"
    assert [url for url in requests if not url.startswith(("file:", "data:", "about:"))] == []


def test_slides_that_can_t_be_made_say_why_and_can_be_asked_for_again(read):
    reader = read()
    reader.forgiven_errors = re.compile("status of 400")
    sentence = "Too many of your questions wait already: wait for an answer, then ask again."
    reader.page.route("**/api/teach/slides.html*", lambda route: route.fulfill(status=400, json={"says": sentence}))
    button = reader.page.get_by_role("button", name="Make slides of this plan")
    button.click()
    reader.page.get_by_role("status").get_by_text(sentence).wait_for()
    waiting.until(button.is_enabled, "it can't be asked for again")
