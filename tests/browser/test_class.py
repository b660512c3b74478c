"""A class that guesses together: a lecturer in the story and three phones, each in its own browser."""

import csv
import http.client
import re
from pathlib import Path

import pytest

from browser.visitor import REFUSED_REQUEST, Visitor

STORY_ADDRESS = "/?sample=meadow&model=bundled&story=1"


class Lecturer(Visitor):
    def begin(self) -> str:
        self.page.goto(f"{self.url}{STORY_ADDRESS}#lecture=new")
        self.page.locator(".class-code").wait_for()
        assert "lecture" not in self.page.url, "the projector shows the secret"
        return self.page.locator(".class-code").inner_text()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def reads(self, words: str) -> None:
        self.page.locator(".story").get_by_text(words, exact=True).wait_for()

    def hides_the_answers(self) -> None:
        assert not self.page.locator(".story .class-round").count()
        assert not self.page.locator(".story-after p").count()

    def go(self, n: int) -> None:
        while f"story={n}" not in self.page.url:
            self.press("Next")
        self.page.get_by_text(f"The story · {n} of 14").wait_for()


class Phone(Visitor):
    forgiven_errors = REFUSED_REQUEST

    def come(self, code: str) -> "Phone":
        self.page.goto(f"{self.url}/c/{code}")
        return self

    def reads(self, words: str) -> None:
        self.page.locator(".phone").get_by_text(words).wait_for()

    def touch(self, x_share: float, y_share: float) -> None:
        place = self.page.locator(".phone-place > .class-map")  # the copy of the map that takes presses
        self.page.wait_for_function("() => document.querySelector('.phone-place > .class-map img')?.naturalWidth > 0")
        box = place.bounding_box()
        place.click(position={"x": x_share * box["width"], "y": y_share * box["height"]})
        self.page.locator(".phone-yours").get_by_text("marked").wait_for()

    def aim(self) -> None:
        place = self.page.locator(".phone-place > .class-map")
        place.press("ArrowRight")
        place.press("ArrowDown")
        column, row = (float(place.locator(".aim").get_attribute(name)) for name in ("x", "y"))
        self.reads(f"row {row:.0f}, column {column:.0f}")
        self.page.keyboard.press("Enter")
        self.page.locator(".phone-yours").get_by_text("marked").wait_for()
        mark = place.locator(".mine")
        assert [float(mark.get_attribute(name)) for name in ("cx", "cy")] == [column + 0.5, row + 0.5]
        assert place.evaluate("e => e === document.activeElement"), "after a guess the keys still move the place"

    def enter_number(self, value: int) -> None:
        self.page.locator(".phone-number input").fill(str(value))
        self.page.locator(".phone-number button").click()
        self.page.locator(".phone-yours").get_by_text(str(value)).wait_for()


@pytest.fixture
def lecturer(arrive, server):
    return arrive(Lecturer, server.url)


@pytest.fixture
def phones(arrive, server):
    return [arrive(Phone, server.url, viewport={"width": 390, "height": 844}, has_touch=True) for _ in range(3)]


def test_a_class_guesses_places_sees_all_guesses_guesses_again_and_reads_the_answer(lecturer, phones):
    code = lecturer.begin()
    assert re.fullmatch("[A-Z]{5}", code)
    assert lecturer.page.locator("header + .story-class").count(), "while a class runs, its bar stands above the scene"
    for phone in phones:
        phone.come(code).reads("A question comes here")
    lecturer.reads("3 here")
    lecturer.press("Open this question")
    for number, phone in enumerate(phones[:2]):
        phone.touch(0.3 + 0.2 * number, 0.4)
    phones[2].aim()
    lecturer.reads("3 of 3 have answered")
    lecturer.hides_the_answers()
    assert lecturer.page.locator(".lens.untouched").count(), "the row is shown before the answer"
    lecturer.press("Reveal the guesses")
    lecturer.page.locator(".stage .story-over .guessed").nth(2).wait_for()
    phones[0].page.locator(".class-map .mine").wait_for()
    assert not lecturer.page.locator(".story-over .hears").count()
    assert not phones[0].page.locator(".class-map .truth").count()
    lecturer.press("Discuss, then guess again")
    phones[0].touch(0.2, 0.6)
    lecturer.reads("1 of 3 have answered")
    lecturer.hides_the_answers()
    lecturer.press("Reveal the guesses")
    lecturer.reads("First guess · 3 guesses")
    lecturer.reads("Second guess · 1 guess")
    lecturer.press("Show the answer")
    lecturer.page.locator(".story-over .hears").first.wait_for()
    lecturer.page.locator(".story-after a").wait_for()
    for phone in phones:
        phone.reads("The answer is framed")
        phone.page.locator(".class-map .heat").first.wait_for()
    phones[0].page.locator(".class-map .mine").first.wait_for()
    phones[0].page.locator(".phone-yours").get_by_text(re.compile("largest|surroundings|hardly")).wait_for()


def enter_from_another_network(server, code: str, number: int) -> int:
    """The status of the answer to a made-up phone that comes from another address of this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, source_address=("127.0.0.2", 0))
    headers = {"Host": server.address, "X-Playground-Key": f"{number:024}"}
    connection.request("GET", f"/api/classes/{code}", headers=headers)
    return connection.getresponse().status


def test_the_lecturer_sends_made_up_phones_away_takes_a_new_code_and_saves_the_counts(lecturer, phones, server):
    code = lecturer.begin()
    phones[0].come(code).reads("A question comes here")
    assert [enter_from_another_network(server, code, number) for number in range(3)] == [200] * 3
    lecturer.reads("4 here, from 2 networks")
    lecturer.press("Send away the largest network (3)")
    lecturer.reads("1 here")
    assert enter_from_another_network(server, code, 4) == 403
    lecturer.press("Open this question")
    phones[0].touch(0.5, 0.5)
    lecturer.press("Reveal the guesses")
    lecturer.press("Code")
    lecturer.press("New code: everybody enters again")
    phones[0].reads("This class has a new code")
    lecturer.reads("0 here")
    new_code = lecturer.page.locator(".class-code").inner_text()
    assert new_code != code
    lecturer.page.reload()
    lecturer.reads("0 here")
    lecturer.press("Code") if not lecturer.page.locator(".class-large").count() else None
    phones[0].page.locator(".phone form input").fill(new_code)
    phones[0].page.locator(".phone form button").click()
    lecturer.reads("1 here")
    phones[0].page.locator(".class-map .guessed").wait_for()
    with lecturer.page.expect_download() as download:
        lecturer.press("Save the counts (.csv)")
    assert download.value.suggested_filename == f"class-{new_code}.csv"
    header, *rows = csv.reader(Path(download.value.path()).read_text("utf-8-sig").splitlines())
    assert [row[header.index("people")] for row in rows] == ["1"]


def test_a_class_of_a_plan_in_three_languages_reads_its_histograms_from_the_back(lecturer, arrive, server):
    lecturer.page.goto(f"{server.url}/teach?sample=meadow&model=bundled")
    lecturer.page.get_by_text("8 questions for phones").wait_for()
    lecturer.page.get_by_role("link", name="Start a class that guesses together").click()
    lecturer.page.locator(".class-code").wait_for()
    assert "sample=meadow" in lecturer.page.url, "the plan's photograph is another one"
    code = lecturer.page.locator(".class-code").inner_text()
    screen = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    phones = [arrive(Phone, server.url, locale=locale, **screen).come(code) for locale in ("en", "de-DE", "zh-CN")]
    lecturer.go(3)
    for phone, title in zip(phones, ("Nine, or everybody", "Neun, oder alle", "九个，还是全部"), strict=True):
        phone.reads(title)
    lecturer.press("Open this question")
    lecturer.reads("Question 1 of 8")
    for guesses in ((3, 5, 7), (4, 4, 5)):
        for phone, guess in zip(phones, guesses, strict=True):
            phone.page.locator(".phone-number input").fill(str(guess))
            phone.page.locator(".phone-number button").click()
            phone.page.locator(".phone-yours").get_by_text(str(guess)).wait_for()
        lecturer.press("Reveal the guesses")
        lecturer.page.locator(".class-bars").first.wait_for()
        if guesses[0] == 3:
            lecturer.press("Discuss, then guess again")
    lecturer.press("Show the answer")
    for phone, words in zip(phones, ("The answer: ", "Die Antwort: ", "答案"), strict=True):
        phone.reads(words)
    for chart in lecturer.page.locator(".class-bars").all():
        box = chart.bounding_box()
        assert box["y"] + box["height"] <= 720, "a histogram lies below the fold"
    for part in (".class-count", ".class-bars b", ".class-axis span", ".class-code", ".story-after b"):
        size = lecturer.page.locator(part).first.evaluate("part => parseFloat(getComputedStyle(part).fontSize)")
        assert size >= 24, f"{part}: {size}"
    lecturer.press("Code")
    with lecturer.page.expect_download() as download:
        lecturer.press("Save the counts (.csv)")
    header, *rows = csv.reader(Path(download.value.path()).read_text("utf-8-sig").splitlines())
    votes = [[row[header.index(name)] for name in ("scene", "round", "guess", "people")] for row in rows]
    assert votes == [[*"3131"], [*"3151"], [*"3171"], [*"3242"], [*"3251"]]


def test_a_german_phone_reads_german_and_an_unknown_code_keeps_the_field(arrive, server):
    phone = arrive(Phone, server.url, locale="de-DE").come("")
    phone.page.goto(f"{server.url}/c")
    phone.page.locator(".phone form").wait_for()
    phone.reads("Zur Klasse")
    phone.page.locator(".phone form input").fill("aaaaa")
    phone.page.locator(".phone form button").click()
    phone.reads("Es gibt keine Klasse AAAAA")
    phone.page.get_by_role("button", name="EN").click()
    phone.reads("There is no class AAAAA")


def test_a_lesson_s_question_goes_to_the_phones_of_a_class(lecturer, phones):
    code = lecturer.begin()
    phones[0].come(code).reads("A question comes here")
    phones[1].come(code).reads("A question comes here")
    lecturer.page.goto(f"{lecturer.url}/scale?sample=meadow&model=bundled&step=row")
    lecturer.page.locator(".class-lesson").get_by_text("2 here").wait_for()
    phones[0].reads("Scale: why")
    lecturer.press("Open this question")
    for phone, value in zip(phones, (40, 70), strict=False):
        phone.enter_number(value)
    lecturer.page.locator(".class-lesson").get_by_text("2 of 2 have answered").wait_for()
    assert not lecturer.page.locator(".class-lesson .class-round").count()
    lecturer.press("Reveal the guesses")
    for person in (lecturer, phones[0]):
        person.page.get_by_text("2 guesses").wait_for()
        counts = person.page.locator(".class-bars b").all_inner_texts()
        assert sorted(filter(None, counts)) == ["1", "1"], counts
    assert not lecturer.page.locator(".guess div.told").is_visible()
    lecturer.press("Show the answer")
    lecturer.page.locator(".guess div.told").wait_for()
    phones[1].reads("The answer: ")
    phones[1].page.locator(".class-bars .truth").wait_for()

    lecturer.page.goto(f"{lecturer.url}/heads?sample=meadow&model=bundled&step=row")
    lecturer.page.locator("#lesson .guess").first.wait_for()
    lecturer.press("Open this question")
    phones[0].reads("Press where the outlined patch will look")
    phones[0].touch(0.3, 0.4)
    lecturer.page.locator(".class-lesson").get_by_text("1 of 2 have answered").wait_for()
    lecturer.press("Reveal the guesses")
    lecturer.page.locator(".class-lesson .class-map img").wait_for()
    lecturer.press("Show the answer")
    phones[0].page.locator(".phone-yours").get_by_text(re.compile("largest|surroundings|hardly")).wait_for()

    lecturer.page.goto(f"{lecturer.url}/code?sample=meadow&model=bundled&step=file")
    lecturer.page.locator("#lesson .guess").first.wait_for()
    lecturer.press("Open this question")
    phones[0].page.locator(".phone-choice button").first.click()
    phones[0].page.locator(".phone-yours").get_by_text("Your guess").wait_for()
    lecturer.page.locator(".class-lesson").get_by_text("1 of 2 have answered").wait_for()
    lecturer.press("Reveal the guesses")
    lecturer.page.locator(".class-lesson").get_by_text("1 guess").wait_for()
