"""Every question of a lesson has a reason for every wrong guess, even a silly one."""

import numpy as np
import pytest

from lessons.playing import flat_parts, parts_of
from playground.lessons import patches
from playground.lessons.parts import Ask
from playground.lessons.questions import Made, Number, Question
from playground.lessons.registry import LESSONS

pytestmark = pytest.mark.usefixtures("nothing_fetched")
NEAR_FACTOR = 3  # an end of a log axis within this factor of the truth needs no reason
STEPS = [(name, step) for name, lesson in LESSONS.items() for step in lesson.steps]


def number_questions(name: str, step: str) -> list[Question]:
    questions = [part.question for part in flat_parts(parts_of(name, step)) if isinstance(part, Ask)]
    return [question for question in questions if isinstance(question.guess, Number)]


def is_near(end: float, question: Question) -> bool:
    if question.guess.log:
        return 1 / NEAR_FACTOR <= end / question.truth <= NEAR_FACTOR
    return abs(end - question.truth) <= 0.05 * (question.guess.high - question.guess.low)


@pytest.mark.parametrize(("name", "step"), STEPS)
def test_both_ends_of_an_axis_have_a_reason_where_the_truth_is_elsewhere(name, step):
    for question in number_questions(name, step):
        if isinstance(question.truth, Made):
            continue  # the browser computes it, from the picture on view
        explained_ranges = [bounds for bounds, _ in question.tempting if not bounds[0] <= question.truth <= bounds[1]]
        for end in (question.guess.low, question.guess.high):
            is_explained = is_near(end, question) or any(low <= end <= high for low, high in explained_ranges)
            assert is_explained, f"{question.id}: nothing says why {end:g} is wrong"


def test_the_lesson_shapes_asks_about_the_example_on_show():
    def question(**state: object) -> Question:
        (only_question,) = (
            part.question for part in flat_parts(parts_of("shapes", "walk", **state)) if isinstance(part, Ask)
        )
        return only_question

    assert question().asks.startswith("This picture: 201 tokens, 6 heads of 32 numbers")
    assert dict(question().guess.options)[question().truth] == "1 × 6 × 201 × 201"
    four_question = question(example="four-heads")
    assert "100 tokens, 4 heads of 16 numbers, a batch of 13" in four_question.asks
    assert dict(four_question.guess.options)[four_question.truth] == "13 × 4 × 100 × 100"
    assert dict(question(example="own").guess.options)["square"] == "B × h × N × N"


@pytest.mark.parametrize(("table", "begins", "truth"), [
    ("learned", "The learned positions of this model", None),
    ("sinusoidal", "The sinusoidal positions", "beside"),
    ("rotary", "The angles of RoPE", "both"),
])  # fmt: skip
def test_the_lesson_patches_asks_about_the_positions_on_show(table, begins, truth):
    (question,) = (part.question for part in parts_of("patches", "positions", table=table) if isinstance(part, Ask))
    assert question.asks.startswith(begins)
    assert truth in (None, question.truth)


def test_neighbours_are_compared_place_by_place():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(3, 4, 5))
    unit_places = places / np.linalg.norm(places, axis=-1, keepdims=True)
    beside_mean = np.mean([unit_places[r, c] @ unit_places[r, c + 1] for r in range(3) for c in range(3)])
    below_mean = np.mean([unit_places[r, c] @ unit_places[r + 1, c] for r in range(2) for c in range(4)])
    cosines = patches.neighbour_cosines({"grid": (3, 4)}, places.reshape(12, 5))
    assert cosines == pytest.approx((beside_mean, below_mean), abs=1e-6)
