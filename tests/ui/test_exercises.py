"""Exercises that know when they are done: by the state of the page, whoever made it."""

from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground.lessons import by_hand, teaching

pytestmark = pytest.mark.usefixtures("nothing_fetched")
ROOT = Path(__file__).parent.parent.parent


def opened(**words: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for key, value in words.items():
        app.query_params[key] = value
    app.switch_page("pages/by_hand.py").run()
    assert not app.exception
    return app


def done(app) -> list[str]:
    return [box.label for box in app.expander if "**Done.**" in box.label]


def arrows(queries: torch.Tensor, keys: torch.Tensor) -> str:
    return by_hand.written(torch.cat([queries, keys]))


START = by_hand.read(by_hand.start(), tokens=18)


def test_at_first_nothing_is_done_and_a_hint_comes_before_the_answer():
    app = opened()
    assert done(app) == []
    assert any("Hint" in element.value for element in app.markdown)
    assert not any("Infinitely many" in element.value for element in app.markdown)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"arrows": arrows(torch.cat([torch.zeros(1, 2), START[1:9]]), START[9:])}, "Make A listen to everybody"),
        ({"arrows": arrows(START[:9], torch.ones(9, 2))}, "Make A listen to everybody"),
        ({"arrows": arrows(START[9:], START[9:])}, "Queries = keys"),
        ({"mask": "causal"}, "A text model"),
    ],
    ids=["query 0", "equal keys", "one role", "mask"],
)
def test_an_exercise_is_done_when_the_page_is_in_its_state(words, says):
    assert [label for label in done(opened(**words)) if says in label]


def test_what_is_received_is_the_weighted_mean_of_the_values():
    app = opened()
    expected = by_hand.weights(START) @ torch.tensor(teaching.VALUES).float()
    table = next(element.value for element in app.markdown if "received" in element.value and "|" in element.value)
    for number in expected.tolist():
        assert f"**{number:.1f}**" in table
