"""The lecturer's page Teach: the line about the people on the server, the slides, and plans of one's own."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from playground.lessons import teaching
from playground.lessons.registry import LESSONS
from playground.serving import ledger
from playground.ui import teach

ROOT = Path(__file__).parent.parent.parent.parent


@pytest.mark.parametrize(
    ("people", "waiting", "sentence"),
    [
        (28, 0, "28 people on this server, nobody waits."),
        (1, 0, "1 person on this server, nobody waits."),
        (28, 1, "28 people on this server, 1 person waits."),
        (300, 12, "300 people on this server, 12 people wait."),
    ],
)
def test_the_line_says_how_many_are_there_and_how_many_wait(people, waiting, sentence):
    assert teach.people_sentence(people, waiting) == sentence


def test_two_tabs_of_one_browser_are_one_person():
    seats = ledger.Seats(ledger.Ledger())
    for key in ("one", "one", "two", ""):
        seats.enter("hall", lambda: None).key = key
    assert seats.people() == 3


def deck_of(app: AppTest) -> tuple[dict, str]:
    app.button(key="make_slides").click().run()
    assert not app.exception
    _, page = app.session_state["slides"]
    (data,) = re.findall(r'id="slides">(.*?)</script>', page.decode(), re.DOTALL)
    return json.loads(data), page.decode()


def open_teach_page(**words: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    app.query_params |= {"model": "bundled", "sample": "meadow"} | words
    app.switch_page("pages/teach.py").run()
    assert not app.exception
    return app


@pytest.mark.usefixtures("nothing_fetched")
def test_each_slide_holds_its_living_scene():
    deck, page = deck_of(open_teach_page(minutes="90"))
    scenes, slides = teaching.plan(90), deck["slides"]
    assert [slide["story"] for slide in slides if slide["story"]] == list(range(1, teaching.STORY_SCENES + 1))
    assert "createStory" in deck["story"]
    assert all(slide["notes"] for slide in slides)
    for scene in scenes:
        assert any(scene.title in slide["title"] for slide in slides)
        if scene.page in LESSONS:
            (slide,) = (entry for entry in slides if entry["title"] == scene.title)
            kinds = [teach.kind_of(part) for part in slide["lesson"]["parts"]]
            assert "ask" in kinds, scene.title
            assert "drawing" in kinds or any(
                part["question"]["picture"] for part in slide["lesson"]["parts"] if part["kind"] == "ask"
            ), f"{scene.title} is a card with a question"
            step = LESSONS[scene.page].steps[scene.words["step"]]
            question_ids = {part["question"]["id"] for part in slide["lesson"]["parts"] if part["kind"] == "ask"}
            assert question_ids == {step.question}, (
                f"{scene.title}: the slide asks about another step than the link opens"
            )
    for name in re.findall(r'"file": "([^"]+)"', json.dumps(slides)):
        assert name in deck["files"]
    assert len(page) < 12 * 2**20


@pytest.mark.usefixtures("nothing_fetched")
def test_a_plan_of_one_s_own_is_picked_ordered_and_kept_in_the_address():
    app = open_teach_page(minutes="0", scenes="8-1")
    assert [title for title in ("The volume knob", "Where does it look?") if title in app.markdown[-1].value]
    app.multiselect(key="picked").set_value(["10", "1", "hands"]).run()
    assert app.session_state.scenes == "10-1-hands"
    table = next(entry.value for entry in app.markdown if "| minutes | scene |" in entry.value)
    assert table.index("Heads") < table.index("Where does it look?") < table.index("By hand")
    reopened_app = open_teach_page(minutes="0", scenes="10-1-hands")
    assert reopened_app.multiselect(key="picked").value == ["10", "1", "hands"]
    deck, _ = deck_of(reopened_app)
    assert [slide["title"] for slide in deck["slides"]] == ["Heads", "Where does it look?", "By hand"]
