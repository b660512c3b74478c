"""Every lesson asks a question before it shows the answer."""

import json

import pytest

from playground.lessons.questions import Bars, Number, Question, choice_question, plain_value


def test_a_choice_has_one_right_answer_and_says_why_each_other_is_tempting():
    question = choice_question("x", "?", {"a": ("A", ""), "b": ("B", "because")}, "")
    assert (question.truth, question.tempting) == ("a", (("b", "because"),))
    for reason in ("right", ""):
        with pytest.raises(ValueError, match="unpack"):
            choice_question("x", "?", {"a": ("A", reason), "b": ("B", reason)}, "")


def test_a_question_is_plain_data_that_says_its_kinds():
    question = Question("x", "▢?", Number(0, 9), 3, "So.", Bars(("A", "B"), (1.0, 3.0), 9, at=1))
    record = json.loads(json.dumps(plain_value(question)))
    assert (record["guess"]["kind"], record["picture"]["kind"], record["truth"]) == ("Number", "Bars", 3)
