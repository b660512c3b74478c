"""Every lesson asks a question before it shows the answer."""

import json

import pytest

from playground.lessons.questions import Bars, Choice, Number, Question, plain_value


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
