"""Every lesson asks a question before it shows the answer."""

import json
import re
from pathlib import Path

import pytest

from playground.lessons.questions import Bars, Choice, Number, Question, plain_value
from playground.lessons.registry import QUESTIONS

ROOT = Path(__file__).parent.parent.parent
QUESTION_ID = re.compile(r"(?:Question|choice_question)\(\s*\"(\w+)\"")


def test_every_question_is_asked_and_every_lesson_has_one():
    files = [*(ROOT / "playground/lessons").glob("*.py")]
    sources = [file.read_text(encoding="utf-8") for file in files]
    assert {id for source in sources for id in QUESTION_ID.findall(source)} == {*QUESTIONS}


def test_a_choice_says_why_each_wrong_answer_is_tempting():
    options = {"a": "A", "b": "B"}
    Question("x", "?", Choice.of(options), "a", "", tempting=(("b", "because"),))
    for tempting in ((), (("a", "right"), ("b", "wrong"))):
        with pytest.raises(AssertionError, match="x"):
            Question("x", "?", Choice.of(options), "a", "", tempting=tempting)


def test_a_question_is_plain_data_that_says_its_kinds():
    question = Question("x", "▢?", Number(0, 9), 3, "So.", Bars(("A", "B"), (1.0, 3.0), 9, at=1))
    record = json.loads(json.dumps(plain_value(question)))
    assert (record["guess"]["kind"], record["picture"]["kind"], record["truth"]) == ("Number", "Bars", 3)
