"""What a drawing says comes from a browser, which may say anything: no error page."""

from types import SimpleNamespace

import pytest

from playground.ui.components import spot, words
from playground.ui.lessons import heads_off, scale_row

NONSENSE = [
    None, 0, 1.5, float("inf"), float("nan"), "", "x", [], [1], {}, {"layer": float("inf"), "head": 0},
    {"layer": "1", "head": 1}, {"layer": True, "head": 0}, {"layer": 6, "head": 0}, {"layer": 0, "head": -1},
    {"layer": {}, "head": []}, {"lock": 5},
]  # fmt: skip


@pytest.mark.parametrize("said", NONSENSE, ids=repr)
def test_what_names_no_head_names_none(said):
    assert spot(said, 6, 6) is None
    assert isinstance(words(said), dict)


def test_a_head_is_named():
    assert spot({"layer": 5, "head": 0}, 6, 6) == (5, 0)


@pytest.mark.parametrize("said", NONSENSE, ids=repr)
def test_a_switch_that_is_none_switches_nothing(said, monkeypatch):
    monkeypatch.setattr(heads_off.st, "session_state", SimpleNamespace(board=SimpleNamespace(toggle=said)))
    monkeypatch.setattr(heads_off, "switch_off", pytest.fail)
    heads_off._toggle(SimpleNamespace(layers=6, heads=6))


@pytest.mark.parametrize(
    "said", [*NONSENSE, "64 x 1", "64 inf x", "64 nan " + "9" * 5000, "64 1 Infinity", "a b c d"], ids=repr
)
def test_dials_that_are_none_turn_nothing(said, monkeypatch):
    state = SimpleNamespace(softmax=SimpleNamespace(dials=said), row=3)
    monkeypatch.setattr(scale_row, "state", state)
    scale_row._on_dials()
    assert vars(state).keys() == {"softmax", "row"}
    assert state.row == 3
