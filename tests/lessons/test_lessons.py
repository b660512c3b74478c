"""What holds for every lesson: each step's record lists what its parts have, the app and the static site get the same
parts, and every exercise is judged with right, tempting and silly states."""

import json
import math

import pytest
import torch
from serving.visits import client

from lessons.playing import (
    RIGHT,
    SILLY,
    exercises_of,
    flat_parts,
    flat_records,
    meadow,
    parts_of,
    settings_as_text,
    stand_in_for_file,
    verdicts_of,
)
from playground.analysis import by_hand as analysis
from playground.lessons import by_hand, scale
from playground.lessons.lesson import Setting, TextSetting
from playground.lessons.parts import After, Ask, Choice, Drawing, Exercise, plain_parts
from playground.lessons.registry import LESSONS
from playground.pictures.jpegs import data_url
from playground.serving.lesson_scripts import SCRIPTS
from playground.serving.site_files import played_ahead

pytestmark = pytest.mark.usefixtures("nothing_fetched")
STEPS = [(name, step) for name, lesson in LESSONS.items() for step in lesson.steps]
each_step = pytest.mark.parametrize(("name", "step"), STEPS)


@each_step
def test_a_step_has_the_question_the_exercises_and_the_settings_of_its_record(name, step):
    record, played_parts = LESSONS[name].steps[step], flat_parts(parts_of(name, step))
    assert [part.question.id for part in played_parts if isinstance(part, Ask)] == [record.question]
    assert [part.id for part in played_parts if isinstance(part, Exercise)] == [*record.exercises]
    assert {part.name for part in parts_of(name, step) if isinstance(part, After)} <= {record.question}
    assert {part.name for part in played_parts if isinstance(part, Drawing)} <= SCRIPTS.keys()
    used_settings = {setting for part in played_parts if isinstance(part, Drawing) for setting in part.settings}
    used_settings |= {part.setting for part in played_parts if isinstance(part, Choice)}
    assert used_settings == {*record.settings}
    assert {*record.settings} <= LESSONS[name].choices.keys()


@each_step
def test_server_and_folder_get_the_same_parts(name, step):
    lesson = LESSONS[name]
    with client() as http:
        answer = http.get(f"/api/lessons/{name}/{step}", params=meadow().words() | {"whole": "yes"})
    assert answer.status_code == 200, answer.text
    folder_parts = played_ahead(lesson, lesson.steps[step], meadow(), lambda data: data_url(data, "octet-stream"))
    for app_part, folder_part in zip(answer.json(), json.loads(json.dumps(folder_parts)), strict=True):
        if folder_part["kind"] == "each":
            key = " | ".join(str(lesson.choices[setting].default) for setting in folder_part["by"])
            version = folder_part["of"][key]
            if "same" in folder_part:
                version = version | {"data": folder_part["same"] | version["data"]}
            assert_same(app_part, version)
            assert folder_part.get("after") == app_part.get("after")
        else:
            assert_same(app_part, folder_part)


def assert_same(app: dict, folder: dict) -> None:
    """Asserts equal parts. Only choices may differ: the static site offers the options that were played ahead."""
    for app_part, folder_part in zip(flat_records([app]), flat_records([folder]), strict=True):
        if app_part["kind"] in ("choice", "slider", "pick"):
            assert folder_part["options"]
            assert [option for option in app_part["options"] if option in folder_part["options"]] == folder_part[
                "options"
            ]
            app_part = app_part | {"options": folder_part["options"]}
        assert app_part == folder_part


@each_step
def test_what_is_not_played_ahead_changes_no_part(name, step):
    """The static site has no Python, so settings that are not played ahead may change drawings only."""
    lesson = LESSONS[name]
    record = lesson.steps[step]
    settings_not_ahead = {name for name in record.settings if not lesson.choices[name].played}
    changed_settings = {setting: other_value(lesson.choices[setting]) for setting in settings_not_ahead}
    assert plain_parts(parts_of(name, step, **changed_settings), stand_in_for_file) == plain_parts(
        parts_of(name, step), stand_in_for_file
    )


WRITTEN_TEXTS = ("1,2", "B", "7", "_".join(["1"] * 36), "4.0.2.3", "1_2_3")


def other_value(setting: Setting) -> object:
    options = (
        [written_text for written_text in WRITTEN_TEXTS if setting.read(written_text) == written_text]
        if isinstance(setting, TextSetting)
        else setting.options
    )
    return next(option for option in options if option != setting.default)


def test_an_exercise_that_asks_something_offers_answers_of_which_one_is_right():
    for name, step in STEPS:
        for id, exercise in exercises_of(name, step).items():
            reasons = [reason for _, reason in exercise["answers"]]
            assert bool(reasons) == ("?" in exercise["asks"]), id
            assert not reasons or reasons.count("") == 1, id


def arrows_report(**tokens: tuple[tuple[float, float], tuple[float, float]]) -> dict[str, dict]:
    """What the drawing reports if the named tokens have these queries and keys, and all others are 0."""
    arrows = torch.zeros(18, 2)
    for name, (query, key) in tokens.items():
        arrows["ABCDEFGHI".index(name)], arrows[9 + "ABCDEFGHI".index(name)] = torch.tensor([query, key])
    return report_of_arrows(arrows)


def report_of_arrows(arrows: torch.Tensor) -> dict[str, dict]:
    received = analysis.weights(arrows) @ torch.tensor(by_hand.VALUES).float()
    numbers = {"received": received.tolist(), "nearly": by_hand.NEAR_LARGEST}
    tenths = "_".join(str(round(coordinate * 10)) for coordinate in arrows.flatten().tolist())
    return {"arrows": {"arrows": tenths}, "received": numbers}


def initial_report(queries: bool = True, keys: bool = True) -> dict[str, dict]:
    """What the drawing reports of its initial arrows. Without `queries` A's query is 0, without `keys` all keys are
    equal."""
    q, k = analysis.arrows_from_text(by_hand.first_arrows(), tokens=18).chunk(2)
    return report_of_arrows(
        torch.cat([q if queries else torch.cat([q[:1] * 0, q[1:]]), k if keys else torch.ones(9, 2)])
    )


def mask_report(mask: str) -> dict[str, dict]:
    return {"masks": {"mask": mask}}


RIGHT_WAY, LEFT_WAY, NO_WAY = (4.0, 0.0), (-1.0, 0.0), (0.0, 0.0)
LOWER_DK = int(scale.row_numbers()["less"])
ONE_KEY_REPORT = {"softmaxbars": {"peak": 0.995}}
SEVERAL_KEYS_REPORT = {"softmaxbars": {"peak": 0.9}}
HAND_TRIALS = [
    ("arrows", {}, initial_report(queries=False), {"by_hand_even": RIGHT, "by_hand_one_role": SILLY}),
    ("arrows", {}, initial_report(keys=False), {"by_hand_even": RIGHT}),
    ("arrows", {}, initial_report(), {"by_hand_even": SILLY, "by_hand_one_way": SILLY}),
    ("arrows", {}, arrows_report(C=((2.0, 1.0), (2.0, 1.0))), {"by_hand_one_role": RIGHT}),
    ("arrows", {}, arrows_report(A=(RIGHT_WAY, LEFT_WAY), B=(RIGHT_WAY, (1.0, 0.0))), {"by_hand_one_way": RIGHT}),
    ("arrows", {}, arrows_report(A=(RIGHT_WAY, (1.0, 0.0)), B=(RIGHT_WAY, (1.0, 0.0))), {"by_hand_one_way": SILLY}),
    ("arrows", {}, arrows_report(A=(RIGHT_WAY, (0.0, 1.0)), B=((0.0, 4.0), (1.0, 0.0))), {"by_hand_one_way": 0}),
    ("values", {}, arrows_report(A=(RIGHT_WAY, NO_WAY), I=(NO_WAY, RIGHT_WAY)), {"by_hand_receive": RIGHT}),
    ("values", {}, arrows_report(B=(RIGHT_WAY, NO_WAY), I=(NO_WAY, RIGHT_WAY)), {"by_hand_receive": 0}),
    ("values", {}, initial_report(), {"by_hand_receive": SILLY}),
    ("colours", {"temperature": 1}, {}, {"by_hand_hot": RIGHT}),
    ("colours", {"temperature": 0.5}, {}, {"by_hand_hot": RIGHT}),
    ("colours", {"temperature": 0.001}, {}, {"by_hand_hot": 0}),
    ("colours", {"temperature": 0.05}, {}, {"by_hand_hot": SILLY}),
    ("masks", {"mask": "causal"}, mask_report("causal"), {"by_hand_causal": RIGHT}),
    ("masks", {"mask": "FGHI"}, mask_report("FGHI"), {"by_hand_causal": 0}),
    ("masks", {}, mask_report(""), {"by_hand_causal": SILLY}),
]
CUT_TRIALS = [
    ("cut", {"patch": 8}, {}, {"patches_halve": RIGHT}),
    ("cut", {"patch": 32}, {}, {"patches_halve": 0}),
    ("cut", {"patch": 14}, {}, {"patches_halve": SILLY}),
    ("positions", {"table": "sinusoidal"}, {}, {"patches_sines": RIGHT}),
    ("positions", {"table": "rotary"}, {}, {"patches_sines": 0}),
    ("positions", {}, {}, {"patches_sines": SILLY}),
    ("shuffle", {"positions": "on"}, {}, {"patches_told": RIGHT}),
    ("shuffle", {"order": 7}, {}, {"patches_told": 0}),
    ("shuffle", {"after": 3}, {}, {"patches_told": SILLY}),
]
WAYS_TRIALS = [
    ("shift", {"moved": 3}, {}, {"two_ways_moved": RIGHT}),
    ("shift", {"moved": 2}, {}, {"two_ways_moved": SILLY}),
    ("built", {"reads": "other"}, {}, {"two_ways_content": RIGHT}),
    ("built", {"reads": "may"}, {}, {"two_ways_content": SILLY}),
    ("cheaper", {"cheap_tokens": 64}, {}, {"two_ways_linear": RIGHT}),
    ("cheaper", {"cheap_tokens": 16384}, {}, {"two_ways_linear": 0}),
    ("cheaper", {"cheap_tokens": 196}, {}, {"two_ways_linear": SILLY}),
]
FILE_TRIALS = [
    ("file", {"part": "heads"}, {}, {"code_output": RIGHT}),
    ("file", {"part": "layer"}, {}, {"code_output": 0}),
    ("file", {"part": "mlp"}, {}, {"code_output": SILLY}),
]
STRONGEST_HEAD = (3, 2)  # head of the sample `meadow`; see tests/lessons/test_heads.py


def board_report(*switched_off: tuple[int, int]) -> dict[str, dict]:
    return {"board": {"off": switched_off, "heads": 6, "strongest": STRONGEST_HEAD}}


BOARD_TRIALS = [
    ("off", {}, board_report(STRONGEST_HEAD), {"heads_strongest": RIGHT, "heads_layer_off": SILLY}),
    ("off", {}, board_report(STRONGEST_HEAD, (3, 3)), {"heads_strongest": 0}),
    ("off", {}, board_report((3, 3)), {"heads_strongest": 1}),
    ("off", {}, board_report((3, 3), (4, 2)), {"heads_layer_off": 0}),
    ("off", {}, board_report(*((3, head) for head in range(6))), {"heads_layer_off": RIGHT}),
    ("off", {}, board_report(), {"heads_strongest": SILLY, "heads_layer_off": SILLY}),
]
RELATIVE_PUSH_LAYER = 0  # the layer of the bundled model whose push is longest relative to its token
LONGEST_PUSH_LAYER = 5  # the layer whose push itself is longest
BLOCK_TRIALS = [
    ("whole", {"box": "MLP"}, {}, {"block_largest": RIGHT}),
    ("whole", {}, {}, {"block_largest": SILLY}),
    ("stream", {"layer": RELATIVE_PUSH_LAYER}, {}, {"block_push": RIGHT}),
    ("stream", {"layer": LONGEST_PUSH_LAYER}, {}, {"block_push": 0}),
    ("stream", {}, {}, {"block_push": SILLY}),
    ("answer", {"supposed": "12"}, {}, {"block_dear": RIGHT}),
    ("answer", {}, {}, {"block_dear": SILLY}),
]


def tags_report(*tops: int) -> dict[str, dict]:
    return {"carried": {"tops": tops}}


def three_scores_report(*scores: float) -> dict[str, dict]:
    """What the drawing reports for three scores: the naive and the stable softmax, both in 32-bit numbers."""
    row = torch.tensor(scores).float()
    powers = row.exp()
    weights = row.softmax(0)
    naive = [None if math.isnan(share) else share for share in (powers / powers.sum()).tolist()]
    return {"scores": {"scores": scores, "naive": naive, "weights": weights.tolist()}}


WEIGHT_TRIALS = [
    ("carries", {}, tags_report(4, 5), {"weight_differs": RIGHT}),
    ("carries", {}, tags_report(4, 4), {"weight_differs": 0}),
    ("carries", {}, {}, {"weight_differs": SILLY}),
    ("scores", {}, three_scores_report(-50, -50, -99), {"weight_share": RIGHT}),
    ("scores", {}, three_scores_report(5, 5, 4), {"weight_share": 0, "weight_overflow": SILLY}),
    ("scores", {}, three_scores_report(8, 0, -8), {"weight_share": SILLY}),
    ("scores", {}, three_scores_report(89, 0, 0), {"weight_overflow": RIGHT}),
    ("scores", {}, three_scores_report(88, 88, 88), {"weight_overflow": RIGHT}),
    ("scores", {}, three_scores_report(-100, 0, 0), {"weight_overflow": 0}),
]
OWN_EXAMPLE = {"example": "own", "batch": "2", "heads": "8", "tokens": "10"}
NUMBERS_TRIALS = [
    ("walk", OWN_EXAMPLE, {}, {"shapes_numbers": RIGHT}),
    ("walk", OWN_EXAMPLE | {"batch": "1"}, {}, {"shapes_numbers": SILLY}),
    ("walk", OWN_EXAMPLE | {"example": "sentence"}, {}, {"shapes_numbers": SILLY}),
    ("walk", OWN_EXAMPLE | {"heads": "10", "tokens": "8"}, {}, {"shapes_numbers": 0}),
    ("walk", OWN_EXAMPLE | {"batch": "8", "heads": "2"}, {}, {"shapes_numbers": 1}),
    ("walk", OWN_EXAMPLE | {"batch": "8", "heads": "10", "tokens": "2"}, {}, {"shapes_numbers": 2}),
    ("walk", OWN_EXAMPLE | {"batch": "10", "heads": "2", "tokens": "8"}, {}, {"shapes_numbers": 3}),
    ("walk", OWN_EXAMPLE | {"batch": "10", "heads": "8", "tokens": "2"}, {}, {"shapes_numbers": 4}),
]
CASES_TRIALS = [
    ("pairs", {"image": 384, "patch": 48}, {}, {"cost_back": RIGHT}),
    ("pairs", {"image": 384, "patch": 32}, {}, {"cost_back": RIGHT}),
    ("pairs", {"image": 384, "patch": 8}, {}, {"cost_back": 0}),
    ("pairs", {"image": 224, "patch": 48}, {}, {"cost_back": 1}),
    ("pairs", {"image": 1024}, {}, {"cost_back": SILLY}),
    ("formulas", {"count": "scores", "other": "depthwise"}, {}, {"cost_textbook": RIGHT}),
    ("formulas", {"count": "scores"}, {}, {"cost_textbook": 0}),
    ("formulas", {"other": "depthwise", "mlp": "yes"}, {}, {"cost_textbook": 1}),
    ("formulas", {}, {}, {"cost_textbook": SILLY}),
]
REEL_TRIALS = [
    ("timelapse", {"moment": "318"}, {}, {"training_sharp": RIGHT}),
    ("timelapse", {"moment": "567"}, {}, {"training_sharp": 0, "training_first": SILLY}),
    ("timelapse", {"moment": "0"}, {}, {"training_sharp": SILLY}),
    ("timelapse", {"moment": "318", "layer": 1, "head": 0}, {}, {"training_first": RIGHT}),
    ("timelapse", {"moment": "318", "layer": 0, "head": 0}, {}, {"training_first": 0}),
]
TRIALS = [  # (lesson, step, settings, drawings' reports, {exercise: RIGHT, SILLY or a tempting state's number})
    *(("by_hand", *trial) for trial in HAND_TRIALS),
    *(("patches", *trial) for trial in CUT_TRIALS),
    *(("two_ways", *trial) for trial in WAYS_TRIALS),
    *(("block", *trial) for trial in BLOCK_TRIALS),
    *(("code", *trial) for trial in FILE_TRIALS),
    *(("cost", *trial) for trial in CASES_TRIALS),
    *(("heads", *trial) for trial in BOARD_TRIALS),
    *(("weight", *trial) for trial in WEIGHT_TRIALS),
    *(("shapes", *trial) for trial in NUMBERS_TRIALS),
    *(("training", *trial) for trial in REEL_TRIALS),
    ("scale", "row", {"power": 0.0, "dk": 1024}, ONE_KEY_REPORT, {"scale_one_key": RIGHT}),
    ("scale", "row", {"power": 0.5, "dk": 1024}, SEVERAL_KEYS_REPORT, {"scale_one_key": 0}),
    ("scale", "row", {"power": 0.0, "dk": 4}, SEVERAL_KEYS_REPORT, {"scale_one_key": 1}),
    ("scale", "row", {"power": 0.5, "dk": 64}, SEVERAL_KEYS_REPORT, {"scale_one_key": SILLY}),
    ("scale", "rows", {"power": 0.0, "dk": LOWER_DK}, {}, {"scale_lower": RIGHT}),
    ("scale", "rows", {"power": 0.0, "dk": 1024}, {}, {"scale_lower": 0}),
    ("scale", "rows", {"power": 0.0, "dk": 64}, {}, {"scale_lower": 1}),
    ("scale", "rows", {"power": 0.5, "dk": LOWER_DK}, {}, {"scale_lower": SILLY}),
    ("scale", "model", {"width": 768, "start": 0.1}, {}, {"scale_start": RIGHT}),
    ("scale", "model", {"width": 1024, "start": 0.1}, {}, {"scale_start": RIGHT}),
    ("scale", "model", {"width": 768, "start": 0.01}, {}, {"scale_start": 0}),
    ("scale", "model", {}, {}, {"scale_start": SILLY}),
]


def test_every_exercise_is_judged_with_all_kinds_of_states():
    tried_states = {(id, kind) for *_, expected in TRIALS for id, kind in expected.items()}
    needed_states = {
        (id, kind)
        for name, step in STEPS
        for id, exercise in exercises_of(name, step).items()
        for kind in (RIGHT, SILLY, *range(len(exercise["tempting"])))
    }
    assert sorted(needed_states ^ tried_states, key=str) == []


def test_every_exercise_state_gets_its_verdict():
    cases, expected_verdicts = [], []
    for name, step, state, reports, kinds in TRIALS:
        exercises = exercises_of(name, step, **state)
        for id, kind in kinds.items():
            cases.append(
                {"exercise": exercises[id], "settings": settings_as_text(LESSONS[name], state), "reports": reports}
            )
            reason = exercises[id]["tempting"][kind][1] if isinstance(kind, int) else ""
            expected_verdicts.append({"done": kind == RIGHT, "why": reason})
    for case, verdict, expected_verdict in zip(cases, verdicts_of(cases), expected_verdicts, strict=True):
        assert verdict == expected_verdict, (case["exercise"]["id"], case["settings"])
