"""A drawing's messages come from a browser and may hold anything: none of them leads to an error page."""

from types import SimpleNamespace

import pytest

from playground.lessons import heads
from playground.lessons.parts import Drawing
from playground.lessons.scale import LESSON
from playground.ui import host
from playground.ui.components import as_dict, spot

NONSENSE = [
    None, 0, 1.5, float("inf"), float("nan"), "", "x", [], [1], {}, {"layer": float("inf"), "head": 0},
    {"layer": "1", "head": 1}, {"layer": True, "head": 0}, {"layer": 6, "head": 0}, {"layer": 0, "head": -1},
    {"layer": {}, "head": []}, {"lock": 5},
]  # fmt: skip


@pytest.mark.parametrize("message", NONSENSE, ids=repr)
def test_a_message_that_names_no_head_gives_none(message):
    assert spot(message, 6, 6) is None
    assert isinstance(as_dict(message), dict)


def test_a_message_that_names_a_head_gives_it():
    assert spot({"layer": 5, "head": 0}, 6, 6) == (5, 0)


@pytest.mark.parametrize("message", NONSENSE, ids=repr)
def test_a_message_that_names_no_head_opens_nothing(message, monkeypatch):
    monkeypatch.setattr(host.st, "switch_page", pytest.fail)
    here = SimpleNamespace(vit=SimpleNamespace(config=SimpleNamespace(depth=6, heads=6)))
    host._Player(LESSON, here).open_head(message)


@pytest.mark.parametrize("value", ["x", 3, {}, ["1.2"], "1,2", None], ids=repr)
def test_a_value_that_is_no_list_of_heads_switches_no_head_off(value, monkeypatch):
    state = {"key": SimpleNamespace(settings={"off": value}), "off": "1.2"}
    monkeypatch.setattr(host, "state", state)
    host.take_settings("key", heads.LESSON, Drawing("board", {}, ("off",)))
    assert state["off"] == ""


@pytest.mark.parametrize("value", [*NONSENSE, {"dk": "x", "power": {}}, {"dk": [64], "row": None}], ids=repr)
def test_a_drawing_that_tells_nonsense_leaves_a_setting_as_one_of_its_options(value, monkeypatch):
    state = {"key": SimpleNamespace(settings=value), "dk": 64, "power": 0.5, "row": 3}
    monkeypatch.setattr(host, "state", state)
    host.take_settings("key", LESSON, Drawing("softmaxbars", {}, ("dk", "power", "row")))
    assert all(state[name] in LESSON.choices[name].options for name in ("dk", "power", "row"))
