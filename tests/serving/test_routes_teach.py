"""What the page Teach asks the server for: its material, sheets to print, slides of a plan, and who is there."""

import base64
import gzip
import json
import re
from html import escape

import pytest

from playground.figures import teaching as printed
from playground.lessons import teaching
from playground.lessons.registry import LESSONS
from playground.samples import named
from playground.serving import people, slides
from playground.serving.here import Here
from serving.visits import ANNA, BERT, assert_refused, bring, client

OF_MEADOW = {"sample": "meadow", "model": "bundled"}


def deck_of(page: str) -> dict:
    (data,) = re.findall(r'id="slides">(.*?)</script>', page, re.DOTALL)
    return json.loads(data)


def test_the_material_names_every_plan_scene_note_question_and_sheet():
    with client() as http:
        answer = http.get("/api/teach")
        again = http.get("/api/teach", headers={"If-None-Match": answer.headers["ETag"]})
    material = answer.json()
    assert {int(minutes): tuple(keys) for minutes, keys in material["plans"].items()} == teaching.PLANS
    assert [*material["scenes"]] == [*teaching.SCENES]
    for key, scene in material["scenes"].items():
        assert (scene["title"], scene["minutes"]) == (teaching.SCENES[key].title, teaching.SCENES[key].minutes)
        assert scene["for_class"]["class"] == "yes"
    assert [note["heard"] for note in material["notes"]] == [note.heard for note in teaching.MISCONCEPTIONS]
    assert [question["asks"] for question in material["quiz"]] == [question.asks for question in teaching.quiz()]
    assert material["sheets"].keys() == printed.SHEETS.keys()
    assert (again.status_code, again.content) == (304, b""), "what a browser has kept does not come again"


def test_every_sheet_is_there_and_never_opens_as_a_page_of_this_server():
    with client() as http:
        for name in printed.SHEETS:
            answer = http.get(f"/api/teach/sheets/{name}.html")
            assert answer.text == printed.sheet(name)
            assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}.html"'
        german = http.get("/api/teach/sheets/quiz.html?language=de")
        assert german.text == printed.sheet("quiz", "de")
        assert 'filename="quiz-de.html"' in german.headers["Content-Disposition"]
        assert "zh" in assert_refused(http.get("/api/teach/sheets/quiz.html?language=xx"), 400)
        assert "there are handout, " in assert_refused(http.get("/api/teach/sheets/exam.html"), 404)


@pytest.mark.parametrize("scenes", ["", "nothing", "<b>", "1,2", "9" * 5000])
def test_slides_of_no_scene_are_refused_in_a_sentence(scenes):
    with client() as http:
        words = OF_MEADOW | {"scenes": scenes}
        assert "1-hands-8" in assert_refused(http.post("/api/teach/slides.html", params=words, headers=ANNA), 400)


def test_slides_are_made_for_pages_of_this_server_alone_and_never_open_as_one():
    words = OF_MEADOW | {"scenes": "quiz"}
    with client() as http:
        assert_refused(http.post("/api/teach/slides.html", params=words), 403)
        foreign = ANNA | {"Sec-Fetch-Site": "cross-site"}
        assert_refused(http.post("/api/teach/slides.html", params=words, headers=foreign), 403)
        answer = http.post("/api/teach/slides.html", params=words, headers=ANNA)
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["Cache-Control"] == "no-store"
    assert len(deck_of(answer.text)["slides"]) == slides.QUIZ_SLIDES
    assert escape(named("meadow").credit) in answer.text


def test_slides_about_a_person_s_photograph_are_made_only_for_who_has_its_key():
    with client() as http:
        picture_id = bring(http, ANNA)["id"]
        words = {"mine": picture_id, "model": "bundled", "scenes": "1-shuffle"}
        own = http.post("/api/teach/slides.html", params=words, headers=ANNA)
        assert [slide["title"] for slide in deck_of(own.text)["slides"]] == ["Where does it look?", "Without positions"]
        stranger = http.post("/api/teach/slides.html", params=words, headers=BERT)
        assert_refused(stranger, 404)
        assert stranger.json()["forgotten"] == picture_id
        people.everybody().forget(ANNA["X-Playground-Key"])


@pytest.mark.usefixtures("nothing_fetched")
def test_each_slide_holds_its_living_scene():
    page = slides.slides(Here(OF_MEADOW), teaching.scenes_of("-".join(teaching.PLANS[90])), "Attention in 90 minutes")
    deck, scenes = deck_of(page), teaching.scenes_of("-".join(teaching.PLANS[90]))
    assert [slide["story"] for slide in deck["slides"] if slide["story"]] == [*range(1, 15)]
    script = re.search(r'<script type="text/plain" id="script">([^<]*)<', deck["story"])[1]
    assert "createStory" in gzip.decompress(base64.b64decode(script)).decode()
    assert all(slide["notes"] for slide in deck["slides"])
    for scene in scenes:
        assert any(scene.title in slide["title"] for slide in deck["slides"])
        if scene.page in LESSONS:
            (slide,) = (entry for entry in deck["slides"] if entry["title"] == scene.title)
            kinds = [slides.kind_of(part) for part in slide["lesson"]["parts"]]
            assert "ask" in kinds, scene.title
            assert "drawing" in kinds or any(
                part["question"]["picture"] for part in slide["lesson"]["parts"] if part["kind"] == "ask"
            ), f"{scene.title} is a card with a question"
            step = LESSONS[scene.page].steps[scene.words["step"]]
            question_ids = {part["question"]["id"] for part in slide["lesson"]["parts"] if part["kind"] == "ask"}
            assert question_ids == {step.question}, (
                f"{scene.title}: the slide asks about another step than the link opens"
            )
    for name in re.findall(r'"file": "([^"]+)"', json.dumps(deck["slides"])):
        assert name in deck["files"]
    assert len(page) < 12 * 2**20
