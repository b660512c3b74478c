"""Lessons over HTTP. tests/lessons/test_lessons.py compares each step with that of the folder without a server."""

import pytest

from playground.lessons.registry import LESSONS
from playground.serving import models, people, traces
from playground.serving.here import Here
from serving.visits import ANNA, BERT, assert_refused, bring, client, played

OF_MEADOW = {"sample": "meadow", "model": "bundled"}


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_s_record_names_its_settings_its_steps_and_where_their_parts_are(name):
    with client() as http:
        record = http.get(f"/api/lessons/{name}").json()
    assert record["settings"].keys() == LESSONS[name].choices.keys()
    assert [step["name"] for step in record["steps"]] == [*LESSONS[name].steps]
    assert [step["file"] for step in record["steps"]] == [f"api/lessons/{name}/{step}" for step in LESSONS[name].steps]
    for step in record["steps"]:
        assert {*step["asks"]} <= {*LESSONS[name].choices}


def test_a_setting_in_the_address_changes_the_parts_that_follow_it_and_no_nonsense_does():
    other_scale = str([*LESSONS["scale"].choices["instead"].options][1])
    usual, other, nonsense = (
        played("scale", "answer", **OF_MEADOW, **settings)
        for settings in ({}, {"instead": other_scale}, {"instead": "nonsense"})
    )
    assert usual == nonsense
    assert [part["kind"] for part in usual] == [part["kind"] for part in other]
    assert usual != other


def test_a_lesson_is_about_a_person_s_photograph_only_for_who_has_its_key():
    with client() as http:
        picture_id = bring(http, ANNA)["id"]
        words = {"mine": picture_id, "model": "bundled", "whole": "yes"}
        own = http.get("/api/lessons/block/stream", params=words, headers=ANNA)
        assert own.status_code == 200, own.text
        kept = {"If-None-Match": own.headers["ETag"]}
        again = http.get("/api/lessons/block/stream", params=words, headers=ANNA | kept)
        assert (again.status_code, again.content) == (304, b""), "what a browser has kept does not come again"
        assert own.json() != played("block", "stream", **OF_MEADOW)
        for stranger in (BERT, {}):
            answer = http.get("/api/lessons/block/stream", params=words, headers=stranger | kept)
            assert_refused(answer, 404)
            assert answer.json()["forgotten"] == picture_id
        people.everybody().forget(ANNA["X-Playground-Key"])


@pytest.mark.parametrize("path", ["nothing", "nothing/row", "scale/nothing"])
def test_a_lesson_or_a_step_that_there_is_not_is_refused_in_a_sentence(path):
    with client() as http:
        assert_refused(http.get(f"/api/lessons/{path}"), 404)


STEPS_WITH_PICTURES = [
    (name, step) for name, lesson in LESSONS.items() for step, record in lesson.steps.items() if record.picture
]


@pytest.mark.usefixtures("nothing_fetched")
@pytest.mark.parametrize(("name", "step"), STEPS_WITH_PICTURES)
def test_the_picture_comes_before_the_model_is_asked_anything(monkeypatch, name, step):
    def ask_model(*_, **__):
        raise AssertionError("the model is asked")

    monkeypatch.setattr(models, "load", ask_model)
    monkeypatch.setattr(traces, "trace", ask_model)
    monkeypatch.setattr(Here, "has_trace", False)
    monkeypatch.setattr(Here, "has_cached", lambda *_: False)
    with client() as http:
        picture, wait = http.get(f"/api/lessons/{name}/{step}", params=OF_MEADOW).json()
    assert (picture["kind"], wait["kind"]) == ("picture", "wait")


# What a lesson works out lies in the server's caches


@pytest.mark.usefixtures("nothing_fetched")
def test_a_lesson_about_a_sample_reuses_what_was_worked_out_for_another_person(monkeypatch):
    from playground.analysis import block

    parts = played("block", "stream", who=ANNA, sample="flock")
    monkeypatch.setattr(block, "stream", lambda seen: pytest.fail("it is kept"))
    assert played("block", "stream", who=BERT, sample="flock") == parts
