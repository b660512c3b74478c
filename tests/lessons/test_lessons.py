"""What holds for every lesson that is one function a step: its record says what its parts have, app and folder get the
same, and every exercise is judged with right, tempting and silly states."""

import dataclasses
import json
import re

import pytest
from test_javascript import ROOT

from lessons.playing import RIGHT, SILLY, exercises_of, flat, flat_plain, judged, kept, meadow, parts_of, text_of
from playground.lessons import parts, scale
from playground.lessons.parts import After, Ask, Choice, Drawing, Exercise, Row, Wait, plain_parts
from playground.lessons.scripts import SCRIPTS
from playground.lessons.settings import Setting
from playground.lessons.words import LESSONS
from playground.serving.lesson_files import played_ahead

pytestmark = pytest.mark.usefixtures("nothing_fetched")
STEPS = [(name, step) for name, lesson in LESSONS.items() for step in lesson.steps]
each_step = pytest.mark.parametrize(("name", "step"), STEPS, ids=" ".join)
HOST = (ROOT / "playground/microscope/lessons/host.js").read_text(encoding="utf-8")


@each_step
def test_a_step_asks_and_lets_do_what_its_record_says(name, step):
    record, there = LESSONS[name].steps[step], flat(parts_of(name, step))
    assert [one.question.id for one in there if isinstance(one, Ask)] == [record.question]
    assert [one.id for one in there if isinstance(one, Exercise) and one.id] == [*record.exercises]
    assert {one.question for one in parts_of(name, step) if isinstance(one, After)} <= {record.question}
    assert {one.name for one in there if isinstance(one, Drawing)} <= SCRIPTS.keys()
    used = {setting for one in there if isinstance(one, Drawing) for setting in one.settings}
    used |= {one.setting for one in there if isinstance(one, Choice)}
    assert used == {*record.settings} <= LESSONS[name].choices.keys()


@each_step
def test_app_and_folder_get_the_same_parts(name, step):
    lesson = LESSONS[name]
    in_app = plain_parts(parts_of(name, step), kept)
    ahead = played_ahead(lesson, lesson.steps[step], meadow(), kept)
    for app, folder in zip(in_app, ahead, strict=True):
        if folder["kind"] == "each":
            key = " | ".join(str(lesson.choices[setting].default) for setting in folder["by"])
            assert folder["of"][key] == app
            assert folder.get("after") == app.get("after")
        else:
            for one, other in zip(flat_plain([app]), flat_plain([folder]), strict=True):
                if one["kind"] in ("choice", "slider"):  # the folder offers what was played
                    assert other["options"]
                    assert [option for option in one["options"] if option in other["options"]] == other["options"]
                    one = one | {"options": other["options"]}
                assert one == other


@each_step
def test_what_is_not_played_ahead_changes_no_part(name, step):
    """The browser has no Python: a setting that is not played ahead is the drawings' own."""
    lesson = LESSONS[name]
    record = lesson.steps[step]
    live = {*record.settings} - {setting for group in record.ahead for setting in group}
    others = {setting: other_value(lesson.choices[setting]) for setting in live}
    assert plain_parts(parts_of(name, step, **others), kept) == plain_parts(parts_of(name, step), kept)


def other_value(setting: Setting) -> object:
    return next(option for option in setting.options if option != setting.default)


@each_step
def test_a_step_goes_through_json_whole(name, step):
    sent = plain_parts(parts_of(name, step), kept)
    assert json.loads(json.dumps(sent)) == json.loads(json.dumps(sent, allow_nan=False))
    kinds = {cls.__name__.lower(): cls for cls in parts.Part.__args__ if cls not in (After, Row, Wait)}
    for part in flat_plain(sent):
        fields = {field.name for field in dataclasses.fields(kinds[part["kind"]])}
        assert part.keys() - {"kind", "after", "file"} <= fields, part["kind"]


def test_the_browser_s_host_plays_every_kind_of_part():
    played = set(re.findall(r"^  (?:async )?(\w+)(?:\(place|: \(place)", HOST, re.MULTILINE))
    assert played >= {cls.__name__.lower() for cls in parts.Part.__args__} - {"after", "wait"}


LESS = int(scale.measured()["less"])
KEY = {"softmaxbars": {"peak": 0.995}}
NO_KEY = {"softmaxbars": {"peak": 0.9}}
TRIALS = [  # (lesson, step, settings, what drawings report, {exercise: right, silly or the number of what is tempting})
    ("scale", "row", {"power": 0.0, "dk": 1024}, KEY, {"scale_one_key": RIGHT}),
    ("scale", "row", {"power": 0.5, "dk": 1024}, NO_KEY, {"scale_one_key": 0}),
    ("scale", "row", {"power": 0.0, "dk": 4}, NO_KEY, {"scale_one_key": 1}),
    ("scale", "row", {"power": 0.5, "dk": 64}, NO_KEY, {"scale_one_key": SILLY}),
    ("scale", "rows", {"power": 0.0, "dk": LESS}, {}, {"scale_lower": RIGHT}),
    ("scale", "rows", {"power": 0.0, "dk": 1024}, {}, {"scale_lower": 0}),
    ("scale", "rows", {"power": 0.0, "dk": 64}, {}, {"scale_lower": 1}),
    ("scale", "rows", {"power": 0.5, "dk": LESS}, {}, {"scale_lower": SILLY}),
    ("scale", "model", {"width": 768, "start": 0.1}, {}, {"scale_start": RIGHT}),
    ("scale", "model", {"width": 1024, "start": 0.1}, {}, {"scale_start": RIGHT}),
    ("scale", "model", {"width": 768, "start": 0.01}, {}, {"scale_start": 0}),
    ("scale", "model", {}, {}, {"scale_start": SILLY}),
]


def test_every_exercise_is_judged_with_all_kinds_of_states():
    tried = {(id, kind) for *_, expected in TRIALS for id, kind in expected.items()}
    wanted = {
        (id, kind)
        for name, step in STEPS
        for id, one in exercises_of(name, step).items()
        for kind in (RIGHT, SILLY, *range(len(one["tempting"])))
    }
    assert sorted(wanted ^ tried, key=str) == []


def test_an_exercise_is_what_its_state_says():
    cases, expected = [], []
    for name, step, state, reports, kinds in TRIALS:
        exercises = exercises_of(name, step, **state)
        for id, kind in kinds.items():
            cases.append({"exercise": exercises[id], "settings": text_of(LESSONS[name], state), "reports": reports})
            why = exercises[id]["tempting"][kind][1] if isinstance(kind, int) else ""
            expected.append({"done": kind == RIGHT, "why": why})
    for case, answer, right in zip(cases, judged(cases), expected, strict=True):
        assert answer == right, (case["exercise"]["id"], case["settings"])
