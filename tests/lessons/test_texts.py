"""What a lesson says, as data: whole, plain, and the same that the page shows."""

import importlib
import json

import pytest

from playground.analysis.scale import WIDTHS
from playground.lessons.questions import plain
from playground.lessons.words import by_hand, code, patches, scale, two_ways
from playground.ui import guess, lesson
from playground.ui.lessons import scale_row

TEXTS = {
    text.page: text
    for text in (by_hand.text(), patches.TEXT, scale.text(scale_row.measured()), two_ways.TEXT, code.TEXT)
}


@pytest.mark.parametrize("page", TEXTS)
def test_a_lesson_s_text_goes_through_json_whole(page):
    sent = json.loads(json.dumps(plain(TEXTS[page])))
    assert sent["page"] == page
    assert [step["title"] for step in sent["steps"].values()] == [*TEXTS[page].titles.values()]
    assert all(one["asks"] and one["answer"] for step in sent["steps"].values() for one in step["exercises"])


@pytest.mark.parametrize("page", TEXTS)
def test_what_a_text_names_is_what_its_page_has(page):
    text, settings = TEXTS[page], importlib.import_module(f"playground.ui.lessons.{page}").SETTINGS
    assert {word for words in text.settings.values() for word in words} == settings.keys() - {"step"}
    assert settings["step"].options == (*text.steps,)
    assert [step.question for step in text.steps.values()] == [id for id in guess.IDS if id.startswith(f"{page}_")]
    exercises = [one.id for step in text.steps.values() for one in step.exercises if one.id]
    assert sorted(exercises) == sorted(id for id in lesson.EXERCISES if id.startswith(f"{page}_"))


def test_the_numbers_in_the_text_of_scale_are_measured():
    numbers = scale_row.measured()
    assert numbers.less in WIDTHS
    assert f"d_k = {numbers.less}." in TEXTS["scale"].steps["rows"].exercises[0].answer
    assert 0 < numbers.off_last < numbers.on_last < 1
    assert numbers.peak_on < 0.5 < numbers.peak_off
