"""Questions before their answers: every lesson has one, and a hostile guess is none."""

import re
from pathlib import Path

import pytest

from playground.ui import guess
from playground.ui.pages import LESSONS, PARTS

ROOT = Path(__file__).parent.parent.parent
ASKED = re.compile(r"guess\.(?:number|choice|row)\(\s*\"(\w+)\"")


def test_every_question_is_asked_once_and_every_lesson_has_one():
    sources = [file.read_text(encoding="utf-8") for file in (ROOT / "playground/ui/lessons").glob("*.py")]
    asked = [id for source in sources for id in ASKED.findall(source)]
    assert sorted(asked) == sorted(guess.IDS)
    for page in LESSONS:
        assert any(id.startswith(page.name) for id in asked), page.name


@pytest.mark.parametrize("said", [None, "3", float("nan"), float("inf"), -1, 101, [1], {}, True])
def test_a_number_out_of_its_range_is_no_guess(said):
    found = guess._number(said, 0, 100)
    assert found is None or (said is True and found == 1)


@pytest.mark.parametrize("said", [None, [], [4], [-1], ["0"], [0] * 9, {"0": 1}, [0.5]])
def test_patches_that_there_are_not_are_no_guess(said):
    assert guess._patches(said, 4) is None


def test_a_right_guess_is_read():
    assert guess._number(42, 0, 100) == 42
    assert guess._patches([0, 3], 4) == [0, 3]


def test_every_lesson_lights_a_part_of_the_model():
    for page in LESSONS:
        assert any(page.name in lit for _, lit in PARTS.values()), page.name
    assert {about for about, _ in PARTS.values()} <= {page.name for page in LESSONS}
