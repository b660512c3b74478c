"""What a lesson says, as data: whole, plain, and the same that the page shows."""

import importlib
import json
import string
import subprocess
import sys
from pathlib import Path

import pytest

from playground.analysis.scale import WIDTHS
from playground.lessons.questions import plain
from playground.lessons.scale import measured
from playground.lessons.words import EXERCISES, LESSONS, QUESTIONS, block, heads
from playground.lessons.words import TEXTS as ALL
from playground.ui.pages import LESSONS as PAGES

TEXTS = {name: text for name, text in ALL.items() if name not in LESSONS}
ROOT = Path(__file__).parent.parent.parent


def test_every_lesson_has_a_text_and_reading_it_imports_no_torch():
    assert [*ALL] == [page.name for page in PAGES]
    assert len({*QUESTIONS}) == len(QUESTIONS)
    assert len({*EXERCISES}) == len(EXERCISES)
    code = "import sys, playground.lessons.words; print(*{'torch', 'streamlit'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


@pytest.mark.parametrize("page", TEXTS)
def test_a_lesson_s_text_goes_through_json_whole(page):
    sent = json.loads(json.dumps(plain(TEXTS[page])))
    assert sent["page"] == page
    assert [step["title"] for step in sent["steps"].values()] == [*TEXTS[page].titles.values()]
    assert all(one["asks"] and one["answer"] for step in sent["steps"].values() for one in step["exercises"])


@pytest.mark.parametrize("page", TEXTS)
def test_what_a_text_names_is_what_its_page_has(page):
    text, settings = TEXTS[page], importlib.import_module(f"playground.ui.lessons.{page}")
    has = settings.settings() if page == "training" else settings.SETTINGS
    assert {word for words in text.settings.values() for word in words} == has.keys() - {"step"}
    assert page == "shapes" or has["step"].options == (*text.steps,)
    assert all(step.question.startswith(f"{page}_") for step in text.steps.values())


def test_every_exercise_with_an_id_is_checked_by_its_page():
    sources = [file for folder in ("playground/ui/lessons", "pages") for file in (ROOT / folder).glob("*.py")]
    source = "".join(file.read_text(encoding="utf-8") for file in sources)
    moved = {id for lesson in LESSONS.values() for step in lesson.steps.values() for id in step.exercises}
    assert [id for id in EXERCISES if id not in moved and f'"{id}"' not in source] == []


def test_every_tempting_state_is_one_that_the_page_knows():
    files = [file.read_text(encoding="utf-8") for file in (ROOT / "playground/ui/lessons").glob("*.py")]
    for text in TEXTS.values():
        for one in (one for step in text.steps.values() for one in step.exercises):
            source = "".join(file for file in files if f'"{one.id}"' in file)
            assert [key for key in one.tempting if f'"{key}"' not in source] == [], one.id


def said(thing):
    """All that a text says, at any depth."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, dict):
        yield from (words for one in thing.values() for words in said(one))
    elif isinstance(thing, list):
        yield from (words for one in thing for words in said(one))


@pytest.mark.parametrize("page", TEXTS)
def test_numbers_in_a_text_are_named(page):
    """{names} are filled in by the page."""
    for words in said(plain(TEXTS[page])):
        names = [name for _, name, *_ in string.Formatter().parse(words) if name is not None]
        assert all(part.isidentifier() for name in names for part in name.split(".")), words


def test_the_numbers_in_the_text_of_scale_are_measured():
    numbers = measured()
    assert numbers["less"] in WIDTHS
    assert 0 < numbers["off_last"] < numbers["on_last"] < 1
    assert numbers["peak_on"] < 0.5 < numbers["peak_off"]


def test_a_guess_can_reach_what_is_true():
    """Also where the last layer's push, or all heads at once, come to more than all that is drawn before."""
    push = block.push((1.8, 2.0, 8.0), (1.7, 2.5, 36.0), (1.0, 2.0, 16.0))
    together = heads.layer_sum(3, (0.01, 0.02), 0.03, 0.3, 0.1)
    for question in (push, together):
        assert question.guess.low <= question.truth <= question.guess.high
        assert question.picture.high >= question.truth
