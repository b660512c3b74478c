"""A plan as slides is one file that loads nothing from elsewhere, and in which no text ends the data element."""

import json
import re

from playground.figures import teaching
from playground.lessons.questions import Choice, Question, plain_value
from playground.serving.slides import mounted_scripts

QUESTION = plain_value(
    Question("x", "</script><b>?", Choice((("a", "A"), ("b", "B"))), "a", "So.", tempting=(("b", "no"),))
)
PARTS = [{"kind": "ask", "question": QUESTION, "context": "", "afresh": True}]


def slides_page(story: str = "") -> str:
    slides = [teaching.Slide("One", "minute 0 to 5", "Say nothing.", lesson={"settings": {}, "parts": PARTS})]
    if story:
        slides.append(teaching.Slide("Two", "", "", story=8))
    return teaching.page("Attention & <more>", teaching.Deck(slides, mounted_scripts(), story))


def test_what_is_shown_is_in_the_file_as_data():
    (data,) = re.findall(r'id="slides">(.*?)</script>', slides_page(), re.DOTALL)
    deck = json.loads(data)
    (slide,) = deck["slides"]
    assert slide["lesson"]["parts"][0]["question"]["asks"] == QUESTION["asks"]
    assert (slide["title"], slide["notes"], slide["story"]) == ("One", "Say nothing.", 0)
    assert deck["scripts"] == {"guess": {"styles": "guess.css", "box": "guess", "look": ""}}
    assert "guess.css" in deck["files"]


def test_the_slides_load_nothing_from_elsewhere():
    page = slides_page()
    assert "default-src 'none'" in page
    assert "connect-src" not in page
    assert page.count("'sha256-") == 2  # the hashes of two scripts: the guess's and the slides'
    assert slides_page("<p>").count("'sha256-") == 4  # and those of the story's script and of what unzips it
    assert not re.search(r'(?:src|href)="https?:', page)
    assert "<title>Attention &amp; &lt;more&gt;</title>" in page


def test_the_scripts_of_all_that_a_slide_draws_are_in_the_file_and_no_other():
    step = {"kind": "each", "by": ["a"], "of": {"1": {"kind": "drawing", "name": "push"}}}
    lesson = {"settings": {}, "parts": [*PARTS, step]}
    deck = teaching.Deck([teaching.Slide("", "", "", lesson=lesson)], mounted_scripts())
    assert teaching.scripts_of(deck) == ["guess", "push"]
    page = teaching.page("", deck)
    assert "(globalThis.mounts ??= {}).push = lessonDrawing(createPush" in page
    assert "(globalThis.mounts ??= {}).guess = mountGuess" in page
    assert ").shuffle = " not in page
