"""What the one who teaches sees of the class."""

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
    assert teach.sentence(people, waiting) == sentence


def test_two_tabs_of_one_browser_are_one_person():
    seats = ledger.Seats(ledger.Ledger())
    for key in ("one", "one", "two", ""):
        seats.enter("hall", lambda: None).key = key
    assert seats.people() == 3


@pytest.mark.parametrize("minutes", teaching.PLANS)
@pytest.mark.usefixtures("nothing_fetched")
def test_the_slides_hold_a_question_or_the_microscope_for_every_scene(minutes):
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params |= {"minutes": str(minutes), "model": "bundled", "sample": "meadow"}
    app.switch_page("pages/teach.py").run()
    app.button(key="make_slides").click().run()
    assert not app.exception
    about, page = app.session_state["slides"]
    assert about[0] == minutes
    (data,) = re.findall(r'id="slides">(.*?)</script>', page.decode(), re.DOTALL)
    slides = json.loads(data)
    titles = " ".join(slide["title"] for slide in slides)
    for scene in teaching.PLANS[minutes]:
        assert scene.title in titles
    assert all(slide["questions"] or slide["living"] for slide in slides)
    assert sum(scene.page == "microscope" for scene in teaching.PLANS[minutes]) == sum(
        bool(slide["living"]) for slide in slides
    )
    asked = {question["id"] for slide in slides for question in slide["questions"]}
    for scene in teaching.PLANS[minutes]:
        if scene.page in LESSONS:
            steps = LESSONS[scene.page].steps
            step = steps[scene.words["step"]] if "step" in scene.words else next(iter(steps.values()))
            assert step.question in asked, f"{scene.title}: the slide asks about another step than the link opens"
    assert len(page) < 6 * 2**20
    app.run()
    assert "gathered" not in app.session_state
