"""Every lesson asks a question before it shows the answer, and a hostile guess is ignored."""

import inspect
import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from playground.lessons.questions import Bars, Choice, Number, Question, plain_value
from playground.lessons.registry import QUESTIONS
from playground.ui import lesson
from playground.ui.pages import LESSONS, MODEL_PARTS

ROOT = Path(__file__).parent.parent.parent
QUESTION_ID = re.compile(r"(?:Question|choice_question)\(\s*\"(\w+)\"")


def test_every_question_is_asked_and_every_lesson_has_one():
    files = [*(ROOT / "playground/lessons").glob("*.py")]
    sources = [file.read_text(encoding="utf-8") for file in files]
    assert {id for source in sources for id in QUESTION_ID.findall(source)} == {*QUESTIONS}


def open_page(page: str, **state: object) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for key, value in state.items():
        app.session_state[key] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


@pytest.mark.usefixtures("nothing_fetched")
def test_a_guess_is_never_sent_to_the_server():
    """The question's message holds the true value, so the browser judges the guess and sends nothing back."""
    (component,) = [
        element
        for element in open_page("by_hand").get("bidi_component")
        if element.proto.component_name.endswith("guess")
    ]
    data = json.loads(component.proto.json)
    record = data.get("data", data)
    assert record["id"] == "by_hand_query"
    assert 0 < record["truth"] < 100
    assert not re.search(r"\bon_", inspect.getsource(lesson.ask))


def test_what_comes_after_each_question_is_hidden():
    style = lesson.hiding_css()
    assert all(f'[data-guessed~="{id}"]) .st-key-after_{id}' in style for id in QUESTIONS)


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


def test_every_lesson_lights_a_part_of_the_model():
    for page in LESSONS:
        assert any(page.name in lit_pages for _, lit_pages in MODEL_PARTS.values()), page.name
    assert {page_name for page_name, _ in MODEL_PARTS.values()} <= {page.name for page in LESSONS}
