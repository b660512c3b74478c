"""Exercises that know when they are done: by the state of the page, whoever made it."""

import json
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground.lessons import by_hand, teaching
from playground.lessons.words import QUESTIONS

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent


def opened(page: str = "by_hand", **words: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.session_state["guessed"] = set(QUESTIONS)
    for key, value in words.items():
        app.query_params[key] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def exercises(app) -> list[dict]:
    found = (json.loads(component.proto.json or "null") for component in app.get("bidi_component"))
    return [data for data in found if isinstance(data, dict) and "answer" in data]


def done(app) -> set[str]:
    return {data["id"] for data in exercises(app) if data["done"]}


def arrows(queries: torch.Tensor, keys: torch.Tensor) -> str:
    return by_hand.arrows_as_text(torch.cat([queries, keys]))


START = by_hand.read(by_hand.start(), tokens=18)


def test_at_first_nothing_is_done_and_what_is_checked_has_a_hint():
    app = opened()
    assert done(app) == set()
    assert len(exercises(app)) == 3
    assert all(data["hint"] for data in exercises(app) if data["id"])


@pytest.mark.parametrize(
    ("words", "which"),
    [
        ({"arrows": arrows(torch.cat([torch.zeros(1, 2), START[1:9]]), START[9:])}, "by_hand_even"),
        ({"arrows": arrows(START[:9], torch.ones(9, 2))}, "by_hand_even"),
        ({"arrows": arrows(START[9:], START[9:])}, "by_hand_one_role"),
        ({"mask": "causal"}, "by_hand_causal"),
    ],
    ids=["query 0", "equal keys", "one role", "mask"],
)
def test_an_exercise_is_done_when_the_page_is_in_its_state(words, which):
    assert which in done(opened(**words))


def test_what_is_received_is_the_weighted_mean_of_the_values():
    app = opened(step="values")
    expected = by_hand.weights(START) @ torch.tensor(teaching.VALUES).float()
    table = next(element.value for element in app.markdown if "received" in element.value and "|" in element.value)
    for number in expected.tolist():
        assert f"**{number:.1f}**" in table
