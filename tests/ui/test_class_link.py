"""A class link, which opens one scene in the same state for everybody; and the lecturer's page."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from playground.lessons import teaching

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def open_page():
    def open_in_app(page: str, **words: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        for key, value in words.items():
            app.query_params[key] = value
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception
        return app

    return open_in_app


def component_names(app) -> set[str]:
    return {component.proto.component_name for component in app.get("bidi_component")}


def test_a_class_link_shows_the_scene_alone_and_stays_in_the_address(open_page):
    app = open_page("cost", image="1024", **{"class": "yes"})
    assert app.session_state.image == 1024
    assert "attention_overview" not in component_names(app)
    assert app.session_state.address["class"] == "yes"
    assert "attention_overview" in component_names(open_page("cost"))


@pytest.mark.parametrize("text", ["", "no", "1", "YES", "<b>"])
def test_any_other_value_makes_no_class_link(open_page, text):
    assert "attention_overview" in component_names(open_page("cost", **{"class": text}))


def test_the_quiz_explains_and_counts_each_answer(open_page):
    app = open_page("teach", part="quiz")
    question = teaching.quiz()[0]
    app.radio(key="quiz_1").set_value(0).run()
    page_text = " ".join(element.value for element in app.markdown)
    assert question.why in page_text
    assert "0 of 1 right" in page_text
    app.radio(key="quiz_1").set_value(question.right).run()
    assert "1 of 1 right" in " ".join(element.value for element in app.markdown)


@pytest.mark.parametrize("part", ["plan", "notes", "print"])
def test_every_part_of_the_teacher_s_page_is_there(open_page, part):
    app = open_page("teach", part=part)
    assert app.session_state.part == part
